//! What an update of a Shoot may not change.

use api::garden::shoot::ShootSpec;
use webhook::field::{Error, Path};

use super::field_errors::{FieldErrors, field_error};
use super::{shoot_deletion, shoot_dns, shoot_kube_controller_manager, shoot_networking, shoot_references};

const SCHEDULER: &str = "default-scheduler";

/// The errors of the changes of a spec, in the original's order: GDN-SUD-001 to -004.
pub(super) fn validate(new: &ShootSpec, old: &ShootSpec, is_deleted: bool, at: &Path) -> FieldErrors {
    if let Some(error) = shoot_deletion::validate(new, old, is_deleted, at) {
        return vec![error];
    }
    let mut errors = shoot_references::validate_update(new, old, at);
    errors.extend(shoot_dns::validate_update(new, old, at));
    let version = |version: &Option<String>| version.clone().unwrap_or_default();
    let versions =
        versions::update::refusals(&version(&new.kubernetes.version), &version(&old.kubernetes.version));
    let at_version = at.child("kubernetes").child("version").to_string();
    errors.extend(versions.into_iter().map(|refusal| field_error((at_version.clone(), refusal))));
    errors.extend(shoot_kube_controller_manager::validate_update(new, old, at));
    let at_pools = at.child("provider").child("workers");
    let switched = match (new.provider.workers.is_empty(), old.provider.workers.is_empty()) {
        (true, false) => Some("cannot switch from a Shoot with workers to a workerless Shoot"),
        (false, true) => Some("cannot switch from a workerless Shoot to a Shoot with workers"),
        _ => None,
    };
    if let Some(detail) = switched {
        errors.push(Error::forbidden(&at_pools, detail));
        return errors;
    }
    if new.provider.type_ != old.provider.type_ {
        let at = at.child("provider").child("type");
        errors.push(Error::invalid(&at, &new.provider.type_, "field is immutable"));
    }
    for (index, refusal) in versions::update::pools(new, old) {
        let at = at_pools.index(index).child("kubernetes").child("version");
        errors.push(field_error((at.to_string(), refusal)));
    }
    errors.extend(shoot_networking::validate_update(new, old, at));
    let scheduler = new.scheduler_name.as_deref();
    // A Shoot always has a scheduler; a template may get the default one.
    let is_default = old.scheduler_name.is_none() && scheduler == Some(SCHEDULER);
    if new.scheduler_name != old.scheduler_name && !is_default {
        let scheduler = scheduler.unwrap_or("null");
        errors.push(Error::invalid(&at.child("schedulerName"), scheduler, "field is immutable"));
    }
    errors
}
