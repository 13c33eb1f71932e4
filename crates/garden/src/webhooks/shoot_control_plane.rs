//! How many failures the control plane of a Shoot tolerates.

use api::garden::Shoot;
use webhook::field::{Error, Path};

use super::field_errors::{FieldErrors, supported};
use super::shoot_operations;

/// The type of failure that is tolerated: GDN-SHA-001.
pub(super) fn validate(shoot: &Shoot) -> Option<Error> {
    supported(&path(), failure_tolerance(shoot)?, &["node", "zone"])
}

/// A scheduled Shoot keeps what it tolerates, and a sleeping one gets nothing: GDN-SHA-002, GDN-SHA-003.
pub(super) fn validate_update(new: &Shoot, old: &Shoot) -> FieldErrors {
    let (after, before) = (failure_tolerance(new), failure_tolerance(old));
    let mut errors = FieldErrors::new();
    if before.is_none() && after.is_some() && shoot_operations::is_asleep(new) {
        let detail = "Shoot is currently hibernated and cannot be scaled up to HA. Please make sure your cluster has \
                      woken up before scaling it up to HA";
        errors.push(Error::forbidden(&path(), detail));
    }
    let after = after.unwrap_or_default();
    if before.is_some_and(|before| before != after) && new.spec.seed_name.is_some() {
        errors.push(Error::invalid(&path(), after, "field is immutable"));
    }
    errors
}

fn failure_tolerance(shoot: &Shoot) -> Option<&str> {
    let availability = shoot.spec.control_plane.as_ref()?.high_availability.as_ref()?;
    Some(&availability.failure_tolerance.type_)
}

fn path() -> Path {
    let names = ["controlPlane", "highAvailability", "failureTolerance", "type"];
    names.iter().fold(Path::new("spec"), |at, name| at.child(name))
}
