//! The filter by the configured strategy: which Seeds are near enough.

mod minimal_distance;
mod name_distance;
mod same_provider;
mod same_region;

use std::fmt;

use api::garden::Shoot;
use k8s_openapi::api::core::v1::ConfigMap;

use super::{Excluded, Filter, Seeds, Unschedulable};

/// How near a Seed must be to the Shoot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// The same provider and region.
    #[default]
    SameRegion,
    /// The least distance, as configured or by names of regions.
    MinimalDistance,
}

impl Strategy {
    /// All strategies, in the original's order.
    pub const ALL: [Self; 2] = [Self::SameRegion, Self::MinimalDistance];

    /// Its name in the configuration.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SameRegion => "SameRegion",
            Self::MinimalDistance => "MinimalDistance",
        }
    }

    /// The strategy of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|strategy| strategy.as_str() == name)
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The purpose of Shoots that may go to any region of their provider.
const TESTING: &str = "testing";

/// The Seeds that the strategy accepts. A Shoot for testing has its own strategy. SCH-STR-001 to -004, SCH-RGN-012.
pub(super) fn filter<'a>(
    seeds: Seeds<'a>,
    shoot: &Shoot,
    strategy: Strategy,
    region_config: Option<&ConfigMap>,
    excluded: &mut Excluded<'a>,
) -> Result<Seeds<'a>, Unschedulable> {
    let near = if shoot.spec.purpose.as_deref() == Some(TESTING) {
        excluded.retain(seeds, Filter::TestingProvider, |seed| same_provider::reason(seed, shoot))
    } else {
        match strategy {
            Strategy::SameRegion => {
                excluded.retain(seeds, Filter::SameRegion, |seed| same_region::reason(seed, shoot))
            }
            Strategy::MinimalDistance => minimal_distance::filter(seeds, shoot, region_config, excluded)?,
        }
    };
    if near.is_empty() {
        return Err(Unschedulable::Strategy {
            cloud_profile: shoot.spec.cloud_profile_name.clone(),
            region: shoot.spec.region.clone(),
            strategy,
        });
    }
    Ok(near)
}
