//! The filter for Seeds that can take the Shoot: networks, taints, capacity. It names the first reason of each Seed.

use api::garden::Shoot;

use super::networks::ShootNetworks;
use super::{Excluded, Filter, Seeds, Unschedulable, Usage, capacity, name, taints};

/// The Seeds that can take the Shoot. SCH-CAN-001, SCH-CAN-002.
pub(super) fn filter<'a>(
    seeds: Seeds<'a>,
    shoot: &Shoot,
    usage: &Usage,
    excluded: &mut Excluded<'a>,
) -> Result<Seeds<'a>, Unschedulable> {
    let networks = ShootNetworks::of(shoot);
    let (mut left, mut reasons) = (Vec::with_capacity(seeds.len()), Vec::new());
    for seed in seeds {
        let overlap = networks.as_ref().and_then(|networks| networks.overlap(&seed.spec.networks));
        let reason = if let Some(overlap) = overlap {
            (Filter::Networks, overlap)
        } else if !taints::are_tolerated(&seed.spec.taints, &shoot.spec.tolerations) {
            (Filter::Taints, "shoot does not tolerate the seed's taints".to_owned())
        } else if !capacity::is_free(seed, usage) {
            (Filter::Capacity, "seed does not have available capacity for shoots".to_owned())
        } else {
            left.push(seed);
            continue;
        };
        reasons.push((seed, reason));
    }
    let refused = left.is_empty().then(|| {
        let reasons = reasons.iter().map(|(seed, (_, reason))| (name(seed).to_owned(), reason.clone()));
        Unschedulable::Candidates(reasons.collect())
    });
    for (seed, (filter, reason)) in reasons {
        excluded.add(seed, filter, reason);
    }
    refused.map_or(Ok(left), Err)
}
