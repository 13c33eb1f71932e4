//! What a namespace says about the workload in it.

use api::resources::{HA_FAILURE_TOLERANCE_TYPE, HA_FAILURE_TOLERANCE_ZONE, HA_ZONE_PINNING, HA_ZONES};

use crate::strconv;

/// Which failure the workload of a namespace survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailureTolerance {
    /// The namespace does not say: system components.
    #[default]
    Unset,
    /// The namespace says: none.
    None,
    /// The loss of a zone.
    Zone,
    /// Any other, such as the loss of a node.
    Other,
}

/// What a namespace says about the workload in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Namespace {
    /// Which failure its workload survives.
    pub failure_tolerance: FailureTolerance,
    /// Zones its workload runs in, sorted, each once.
    pub zones: Box<[Box<str>]>,
    /// Whether its workload is pinned to these zones although it says nothing about failures.
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
