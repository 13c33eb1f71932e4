//! The filter for Seeds with enough zones for a control plane that tolerates the failure of one.

use std::borrow::Cow;

use api::garden::Shoot;

use super::{Excluded, Filter, Seeds, Unschedulable};

/// The tolerated failure that needs zones.
const ZONE: &str = "zone";
/// How many it needs.
const NEEDED: usize = 3;

/// The Seeds with enough zones, if the Shoot needs them. Entries are counted, not different zones. SCH-ZON-001,
/// SCH-ZON-002.
pub(super) fn filter<'a>(
    seeds: Seeds<'a>,
    shoot: &Shoot,
    excluded: &mut Excluded<'a>,
) -> Result<Seeds<'a>, Unschedulable> {
    let control_plane = shoot.spec.control_plane.as_ref();
    let availability = control_plane.and_then(|control_plane| control_plane.high_availability.as_ref());
    if availability.is_none_or(|availability| availability.failure_tolerance.type_ != ZONE) {
        return Ok(seeds);
    }
    let number = seeds.len();
    let seeds = excluded.retain(seeds, Filter::Zones, |seed| {
        let zones = seed.spec.provider.zones.len();
        (zones < NEEDED).then(|| Cow::Owned(format!("it has {zones} of {NEEDED} zones")))
    });
    if seeds.is_empty() { Err(Unschedulable::Zones(number)) } else { Ok(seeds) }
}
