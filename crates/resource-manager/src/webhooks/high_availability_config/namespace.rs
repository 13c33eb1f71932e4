//! Annotations of a namespace that concern its workload.

use api::resources::{HA_FAILURE_TOLERANCE_TYPE, HA_FAILURE_TOLERANCE_ZONE, HA_ZONE_PINNING, HA_ZONES};

use crate::strconv;

/// Which failure the workload of a namespace tolerates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailureTolerance {
    /// The annotation is missing: system components.
    #[default]
    Unset,
    /// The annotation is empty.
    None,
    /// The loss of a zone.
    Zone,
    /// Any other value, such as the loss of a node.
    Other,
}

/// Annotations of a namespace that concern its workload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Namespace {
    /// Which failure its workload tolerates.
    pub failure_tolerance: FailureTolerance,
    /// Zones of its workload, sorted, each once.
    pub zones: Box<[Box<str>]>,
    /// Whether its workload is pinned to these zones without a failure tolerance.
    pub zone_pinning: bool,
}

impl Namespace {
    /// Reads the annotations of a Namespace.
    ///
    /// GRM-HAC-041, GRM-HAC-042.
    pub fn read<'a>(annotation: impl Fn(&str) -> Option<&'a str>) -> Self {
        let failure_tolerance = match annotation(HA_FAILURE_TOLERANCE_TYPE) {
            None => FailureTolerance::Unset,
            Some("") => FailureTolerance::None,
            Some(HA_FAILURE_TOLERANCE_ZONE) => FailureTolerance::Zone,
            Some(_) => FailureTolerance::Other,
        };
        let zones = annotation(HA_ZONES).unwrap_or_default();
        let mut zones: Vec<Box<str>> =
            zones.split(',').filter(|zone| !zone.is_empty()).map(Box::from).collect();
        zones.sort_unstable();
        zones.dedup();
        Self {
            failure_tolerance,
            zones: zones.into(),
            zone_pinning: annotation(HA_ZONE_PINNING).is_some_and(strconv::is_true),
        }
    }
}
