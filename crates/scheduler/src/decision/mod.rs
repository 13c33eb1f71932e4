//! Which Seed a Shoot gets: a pure function, whose filters are applied in the original's order.
//!
//! Each filter passes the Seeds on that it does not exclude, in their order; one that excludes all ends the decision
//! with its own error. Every Seed that is not chosen is in [`Decision::excluded`], with the filter that excluded it.

mod candidates;
mod capacity;
mod filter;
mod least_used;
mod networks;
mod provider;
mod region_config;
mod selector;
mod strategy;
mod taints;
mod unschedulable;
mod usable;
mod usage;
mod zones;

use std::borrow::Cow;
use std::sync::Arc;

use api::garden::{CloudProfile, Seed, Shoot};
use k8s_openapi::api::core::v1::ConfigMap;

pub use self::filter::Filter;
pub use self::region_config::{PURPOSE, PURPOSE_REGION_CONFIG, SCHEDULED_CLOUD_PROFILES};
pub use self::strategy::Strategy;
pub use self::unschedulable::Unschedulable;
pub use self::usable::count_as_ready;
pub use self::usage::Usage;

/// What a decision depends on.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// The Shoot that has no Seed yet.
    pub shoot: &'a Shoot,
    /// All Seeds. Of equally good ones the first is chosen.
    pub seeds: &'a [Arc<Seed>],
    /// How many Shoots each Seed has.
    pub usage: &'a Usage,
    /// The Shoot's CloudProfile; `None` if it does not exist.
    pub cloud_profile: Option<&'a CloudProfile>,
    /// ConfigMaps with distances between regions. Of several for one CloudProfile the first counts.
    pub region_configs: &'a [Arc<ConfigMap>],
    /// The configured strategy.
    pub strategy: Strategy,
}

/// The Seed that a Shoot gets, and why the others do not get it.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision<'a> {
    /// The chosen Seed, or why no Seed fits.
    pub seed: Result<&'a Seed, Unschedulable>,
    /// The Seeds that filters excluded, filter by filter.
    pub excluded: Vec<Exclusion<'a>>,
}

/// A Seed that a filter excluded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exclusion<'a> {
    /// Name of the Seed.
    pub seed: &'a str,
    /// The filter.
    pub filter: Filter,
    /// Why, in words about the Seed.
    pub reason: Cow<'static, str>,
}

/// The scheduler that Shoots have by default.
const DEFAULT_SCHEDULER: &str = "default-scheduler";

/// Whether this scheduler chooses the Shoot's Seed. SCH-SEL-003.
#[must_use]
pub fn is_responsible(shoot: &Shoot) -> bool {
    shoot.spec.scheduler_name.as_deref().unwrap_or(DEFAULT_SCHEDULER) == DEFAULT_SCHEDULER
}

/// Decides which Seed a Shoot gets. SCH-SEL-010, SCH-ORD-001.
#[must_use]
pub fn decide<'a>(inputs: &Inputs<'a>) -> Decision<'a> {
    let mut excluded = Excluded::default();
    let seed = choose(inputs, &mut excluded);
    Decision { seed, excluded: excluded.0 }
}

fn choose<'a>(inputs: &Inputs<'a>, excluded: &mut Excluded<'a>) -> Result<&'a Seed, Unschedulable> {
    let Inputs { shoot, seeds, usage, region_configs, strategy, .. } = *inputs;
    let profile = inputs
        .cloud_profile
        .ok_or_else(|| Unschedulable::CloudProfile(shoot.spec.cloud_profile_name.clone()))?;
    let region_config = region_config::of_profile(region_configs, profile);
    let seeds = usable::filter(seeds, excluded)?;
    let seeds = selector::filter(seeds, selector::Owner::CloudProfile(profile), excluded)?;
    let seeds = selector::filter(seeds, selector::Owner::Shoot(shoot), excluded)?;
    let seeds = provider::filter(seeds, profile, shoot, excluded)?;
    let seeds = zones::filter(seeds, shoot, excluded)?;
    let seeds = candidates::filter(seeds, shoot, usage, excluded)?;
    let seeds = strategy::filter(seeds, shoot, strategy, region_config, excluded)?;
    Ok(least_used::choose(&seeds, usage, excluded))
}

/// The Seeds that are left.
type Seeds<'a> = Vec<&'a Seed>;

/// Collects the Seeds that filters exclude.
#[derive(Debug, Default)]
struct Excluded<'a>(Vec<Exclusion<'a>>);

impl<'a> Excluded<'a> {
    fn add(&mut self, seed: &'a Seed, filter: Filter, reason: impl Into<Cow<'static, str>>) {
        self.0.push(Exclusion { seed: name(seed), filter, reason: reason.into() });
    }

    /// The Seeds for which `reason` returns none; the others are excluded for it.
    fn retain(
        &mut self,
        seeds: Seeds<'a>,
        filter: Filter,
        reason: impl Fn(&Seed) -> Option<Cow<'static, str>>,
    ) -> Seeds<'a> {
        self.retain_by(seeds, |seed| Some((filter, reason(seed)?)))
    }

    /// The same, where one pass has several filters.
    fn retain_by<R: Into<Cow<'static, str>>>(
        &mut self,
        seeds: Seeds<'a>,
        reason: impl Fn(&Seed) -> Option<(Filter, R)>,
    ) -> Seeds<'a> {
        let mut left = Vec::with_capacity(seeds.len());
        for seed in seeds {
            match reason(seed) {
                None => left.push(seed),
                Some((filter, reason)) => self.add(seed, filter, reason),
            }
        }
        left
    }
}

/// The name of a Seed.
fn name(seed: &Seed) -> &str {
    seed.metadata.name.as_deref().unwrap_or_default()
}

#[cfg(test)]
mod tests;
