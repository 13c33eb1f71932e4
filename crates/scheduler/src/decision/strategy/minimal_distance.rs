//! The strategy `MinimalDistance`: the nearest Seeds by configured distances or, if none of them is configured, by the
//! names of their regions.

use api::garden::{Seed, Shoot};
use k8s_openapi::api::core::v1::ConfigMap;

use super::name_distance;
use super::{Excluded, Filter, Seeds, Unschedulable};
use crate::decision::region_config;

/// The largest configured distance that is accepted: 2³¹−1.
const FARTHEST: i64 = 2_147_483_647;
/// The largest distance between names that is accepted.
const FARTHEST_NAME: i64 = 1000;
/// What a Seed of another provider is farther away, by names.
const OTHER_PROVIDER: i64 = 2;

/// The nearest Seeds, in their order. SCH-RGN-001 to -009, SCH-NAM-002 to -004.
pub(super) fn filter<'a>(
    seeds: Seeds<'a>,
    shoot: &Shoot,
    region_config: Option<&ConfigMap>,
    excluded: &mut Excluded<'a>,
) -> Result<Seeds<'a>, Unschedulable> {
    let region = shoot.spec.region.as_str();
    if let Some(distances) = region_config::distances(region_config, region)? {
        let configured = |seed: &Seed| distances.get(&seed.spec.provider.region).copied();
        if nearest(&seeds, configured, FARTHEST).is_some() {
            return Ok(retain(seeds, (Filter::ConfiguredDistance, FARTHEST), configured, excluded));
        }
    }
    let by_name = |seed: &Seed| {
        let distance = name_distance::between(&seed.spec.provider.region, region);
        let is_other = seed.spec.provider.type_ != shoot.spec.provider.type_;
        Some(distance + if is_other { OTHER_PROVIDER } else { 0 })
    };
    Ok(retain(seeds, (Filter::NameDistance, FARTHEST_NAME), by_name, excluded))
}

/// The least distance that is not too far.
fn nearest(seeds: &[&Seed], distance: impl Fn(&Seed) -> Option<i64>, farthest: i64) -> Option<i64> {
    seeds.iter().filter_map(|seed| distance(seed)).min().filter(|nearest| *nearest <= farthest)
}

/// The Seeds of the least distance; the others are excluded.
fn retain<'a>(
    seeds: Seeds<'a>,
    (filter, farthest): (Filter, i64),
    distance: impl Fn(&Seed) -> Option<i64>,
    excluded: &mut Excluded<'a>,
) -> Seeds<'a> {
    let measured: Vec<(&'a Seed, Option<i64>)> =
        seeds.into_iter().map(|seed| (seed, distance(seed))).collect();
    let least = measured.iter().filter_map(|(_, distance)| *distance).min();
    let mut left = Vec::new();
    for (seed, distance) in measured {
        match distance {
            Some(distance) if Some(distance) == least && distance <= farthest => left.push(seed),
            Some(distance) => excluded.add(
                seed,
                filter,
                format!("its distance is {distance}, the least is {}", least.unwrap_or_default()),
            ),
            None => excluded.add(seed, filter, "no distance to its region is configured"),
        }
    }
    left
}
