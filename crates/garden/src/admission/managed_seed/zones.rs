//! The zones of a ManagedSeed's Seed are those of its Shoot.

use std::collections::BTreeSet;

use api::garden::Shoot;
use serde_json::Value;
use webhook::field::{Error, Path};
use webhook::object;
use webhook::rejection::Rejection;
use webhook::strategy::ObjectReader;

use super::{at_seed_spec, spec_of};
use crate::admission::lookup::zones;
use crate::admission::seed_validator::removed_zones;

/// GPL-MSEED-006.
pub(super) fn of_new(managed_seed: &Value, shoot: &Shoot) -> Result<Vec<Error>, Rejection> {
    let spec = spec_of(managed_seed)?;
    if zones(&spec)?.is_subset(&of_workers(shoot)) {
        return Ok(Vec::new());
    }
    let listed = object::list(&spec, &["provider", "zones"])?;
    let listed: Vec<String> = listed.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    let why = "cannot use zone in seed provider that is not available in referenced shoot";
    Ok(vec![Error::invalid(&at(), &listed, why)])
}

/// Zones that were there before may differ from the Shoot's: GPL-MSEED-007. The original's order of added zones is random.
pub(super) fn of_update(
    objects: &dyn ObjectReader,
    (old, new): (&Value, &Value),
    shoot: &Shoot,
) -> Result<Vec<Error>, Rejection> {
    let (old, spec) = (spec_of(old)?, spec_of(new)?);
    let name = object::text(new, &["metadata", "name"])?;
    let mut errors = Vec::new();
    if !removed_zones(objects, (&old, &spec), name)?.is_empty() {
        let why = "zones must not be removed while shoots are still scheduled onto seed";
        errors.push(Error::forbidden(&at(), why));
    }
    let added = &zones(&spec)? - &zones(&old)?;
    if !added.is_subset(&of_workers(shoot)) {
        let why = "added zones must match zone names configured for workers in the referenced shoot cluster";
        errors.push(Error::invalid(&at(), &added.into_iter().collect::<Vec<String>>(), why));
    }
    Ok(errors)
}

/// The zones of all pools.
pub(super) fn of_workers(shoot: &Shoot) -> BTreeSet<String> {
    shoot.spec.provider.workers.iter().flat_map(|worker| worker.zones.iter().cloned()).collect()
}

fn at() -> Path {
    at_seed_spec().child("provider").child("zones")
}
