//! The provider of a Shoot, and its pools as a whole.

use std::collections::{BTreeMap, BTreeSet};

use api::garden::shoot::ShootSpec;
use api::garden::shoot::worker::Worker;
use webhook::field::{Error, Path};

use super::field_errors::{FieldErrors, required};
use super::kubernetes_version::is_from;
use super::{shoot_node_capacity, shoot_pools};

/// What a Shoot without pools must not have.
pub(super) const WORKERLESS: &str = "this field should not be set for workerless Shoot clusters";

/// Type, configurations and pools: GDN-SPV-001 to -004.
pub(super) fn validate(spec: &ShootSpec, at: &Path, in_template: bool) -> FieldErrors {
    let (provider, at) = (&spec.provider, at.child("provider"));
    let mut errors = FieldErrors::new();
    errors.extend(required(&at.child("type"), &provider.type_, "must specify a provider type"));
    let at_pools = at.child("workers");
    if provider.workers.is_empty() {
        let present = [
            ("infrastructureConfig", provider.infrastructure_config.is_some()),
            ("controlPlaneConfig", provider.control_plane_config.is_some()),
            ("workersSettings", provider.workers_settings.is_some()),
        ];
        errors.extend(workerless(&at, present));
    } else {
        for (index, pool) in provider.workers.iter().enumerate() {
            errors.extend(shoot_pools::validate(pool, &spec.kubernetes, &at_pools.index(index), in_template));
        }
        errors.extend(shoot_pools::validate_names(&provider.workers, &at_pools));
        let version = spec.kubernetes.version.as_deref().unwrap_or_default();
        errors.extend(system_components(&provider.workers, version, &at_pools));
    }
    errors.extend(shoot_node_capacity::validate_pods(spec));
    errors
}

/// The fields of a Shoot without pools that must be absent.
pub(super) fn workerless<const N: usize>(
    at: &Path,
    present: [(&'static str, bool); N],
) -> impl Iterator<Item = Error> {
    let wrong = present.into_iter().filter(|(_, is_present)| *is_present);
    wrong.map(move |(name, _)| Error::forbidden(&at.child(name), WORKERLESS))
}

/// System components need a pool, and from 1.27 on a machine in each zone: pools of the same zones count together.
fn system_components(pools: &[Worker], version: &str, at: &Path) -> FieldErrors {
    let (mut sufficient, mut insufficient) = (BTreeSet::new(), BTreeMap::new());
    let mut is_any_active = false;
    for (index, pool) in pools.iter().enumerate() {
        if pool.maximum == 0 || pool.system_components.as_ref().is_some_and(|components| !components.allow) {
            continue;
        }
        is_any_active = true;
        let zones: BTreeSet<&String> = pool.zones.iter().collect();
        if usize::try_from(pool.maximum).is_ok_and(|maximum| maximum >= pool.zones.len()) {
            insufficient.remove(&zones);
            sufficient.insert(zones);
        } else if !sufficient.contains(&zones) {
            insufficient.insert(zones, index);
        }
    }
    let mut errors = FieldErrors::new();
    if is_from(version, 27) {
        let detail = "maximum node count should be greater than or equal to the number of zones specified for this pool";
        let refuse = |index: usize| Error::forbidden(&at.index(index).child("maximum"), detail);
        errors.extend(insufficient.into_values().map(refuse));
    }
    if !is_any_active {
        let detail = "at least one active worker pool with allowSystemComponents=true needed";
        errors.push(Error::forbidden(at, detail));
    }
    errors
}
