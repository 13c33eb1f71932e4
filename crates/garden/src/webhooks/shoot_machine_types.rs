//! Machine types: the profile must have them as usable, for the pool's architecture, and in each of its zones.

use std::collections::BTreeSet;

use api::garden::CloudProfile;
use api::garden::cloud_profile::{AvailabilityZone, MachineType, Region};
use api::garden::shoot::ShootSpec;
use api::garden::shoot::worker::{ARCHITECTURE_AMD64, ARCHITECTURE_ARM64, Worker};
use webhook::field::{Error, Path};

use super::field_errors::FieldErrors;

/// Errors of the chosen machine types: GDN-SMA-001 to -005. A pool may keep its machine type and architecture.
#[must_use]
pub fn validate(shoot: &ShootSpec, old: Option<&ShootSpec>, profile: &CloudProfile) -> FieldErrors {
    let at = Path::new("spec").child("provider").child("workers");
    let pools = shoot.provider.workers.iter().enumerate();
    let refused = pools.filter_map(|(index, pool)| {
        let before = old.and_then(|old| old.provider.workers.iter().find(|before| before.name == pool.name));
        validate_pool(pool, before, profile, &shoot.region, &at.index(index).child("machine").child("type"))
    });
    refused.collect()
}

/// The error of one pool's machine type; `before` is the pool of the same name before an update.
pub(crate) fn validate_pool(
    pool: &Worker,
    before: Option<&Worker>,
    profile: &CloudProfile,
    region: &str,
    at: &Path,
) -> Option<Error> {
    let machine = &pool.machine;
    let architecture = machine.architecture.as_deref();
    // An unknown architecture has a separate error.
    if architecture.is_some_and(|value| ![ARCHITECTURE_AMD64, ARCHITECTURE_ARM64].contains(&value)) {
        return None;
    }
    let same = |before: &Worker| {
        before.machine.type_ == machine.type_ && before.machine.architecture == machine.architecture
    };
    if before.is_some_and(same) {
        return None;
    }
    let has_architecture = |known: &&MachineType| known.architecture.as_deref() == architecture;
    let is_usable = |known: &&MachineType| known.usable == Some(true);
    let lacking = lacking(&profile.spec.regions, region, &pool.zones, |zone| &zone.unavailable_machine_types);
    let is_there = |known: &&MachineType| !lacking.contains(&known.name);
    let types = || profile.spec.machine_types.iter();
    let names = |holds: &dyn Fn(&&MachineType) -> bool| -> BTreeSet<&str> {
        types().filter(holds).map(|known| known.name.as_str()).collect()
    };
    let (fitting, usable, there) = (names(&has_architecture), names(&is_usable), names(&is_there));
    let supported = fitting.iter().filter(|name| usable.contains(*name) && there.contains(*name));
    let supported: Vec<&str> = supported.copied().collect();
    let wanted = machine.type_.as_str();
    if types().all(|known| known.name != wanted) {
        return Some(Error::not_supported(at, wanted, &supported));
    }
    let mut why = String::new();
    if !usable.contains(wanted) {
        why.push_str("is unusable, ");
    }
    if !there.contains(wanted) {
        why.push_str("is unavailable in at least one zone, ");
    }
    if !fitting.contains(wanted) {
        let architecture = architecture.unwrap_or_default();
        why = format!("{why}does not support CPU architecture {architecture:?}, ");
    }
    if why.is_empty() {
        return None;
    }
    let detail = format!("machine type {wanted:?} {why}supported types are [{}]", supported.join(" "));
    Some(Error::invalid(at, wanted, &detail))
}

/// What is unavailable in at least one of the zones: machine types or volume types.
pub(crate) fn lacking<'a>(
    regions: &'a [Region],
    region: &str,
    zones: &[String],
    lacking: impl Fn(&'a AvailabilityZone) -> &'a Vec<String>,
) -> BTreeSet<&'a String> {
    let own = regions.iter().filter(|known| known.name == region).flat_map(|known| &known.zones);
    own.filter(|zone| zones.contains(&zone.name)).flat_map(lacking).collect()
}
