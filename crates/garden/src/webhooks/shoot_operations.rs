//! Operations that annotations of a Shoot request, now or during its maintenance.

use api::garden::Shoot;
use api::garden::condition::LastOperation;
use api::garden::shoot::credentials::ShootCredentialsRotation;
use api::gardener::{MAINTENANCE_OPERATION, OPERATION};
use webhook::field::{Error, Path};

use super::field_errors::FieldErrors;
use super::shoot_metadata;

const COMPLETED: &str = "Completed";
const PREPARED: &str = "Prepared";

/// Operations that may only be requested immediately, in addition to [`WHEN_MAINTAINED`].
const NOW: [&str; 2] = ["maintain", "retry"];
/// Operations that may be requested for the maintenance, in alphabetical order.
const WHEN_MAINTAINED: [&str; 12] = [
    "reconcile",
    "rotate-ca-complete",
    "rotate-ca-start",
    "rotate-credentials-complete",
    "rotate-credentials-start",
    "rotate-etcd-encryption-key-complete",
    "rotate-etcd-encryption-key-start",
    "rotate-kubeconfig-credentials",
    "rotate-observability-credentials",
    "rotate-serviceaccount-key-complete",
    "rotate-serviceaccount-key-start",
    "rotate-ssh-keypair",
];
/// Operations that a hibernated Shoot does not allow.
const NOT_WHILE_ASLEEP: [&str; 6] = [
    "rotate-credentials-complete",
    "rotate-credentials-start",
    "rotate-etcd-encryption-key-complete",
    "rotate-etcd-encryption-key-start",
    "rotate-serviceaccount-key-complete",
    "rotate-serviceaccount-key-start",
];

/// A rotation that operations start and complete, and its phases in the status.
struct Rotation {
    /// `<name>-start` and `<name>-complete`.
    name: &'static str,
    /// Its name in error messages.
    description: &'static str,
    /// The fields of the status with its phases.
    phases: &'static [Phase],
}

struct Phase {
    field: &'static str,
    of: fn(&ShootCredentialsRotation) -> Option<&str>,
}

const AUTHORITIES: Phase = Phase {
    field: "certificateAuthorities",
    of: |rotation| Some(rotation.certificate_authorities.as_ref()?.phase.as_str()),
};
const ACCOUNT_KEY: Phase = Phase {
    field: "serviceAccountKey",
    of: |rotation| Some(rotation.service_account_key.as_ref()?.phase.as_str()),
};
const ENCRYPTION_KEY: Phase = Phase {
    field: "etcdEncryptionKey",
    of: |rotation| Some(rotation.etcd_encryption_key.as_ref()?.phase.as_str()),
};

const ROTATIONS: [Rotation; 4] = [
    Rotation {
        name: "rotate-credentials",
        description: "rotation of all credentials",
        phases: &[AUTHORITIES, ACCOUNT_KEY, ENCRYPTION_KEY],
    },
    Rotation { name: "rotate-ca", description: "CA rotation", phases: &[AUTHORITIES] },
    Rotation {
        name: "rotate-serviceaccount-key",
        description: "service account key rotation",
        phases: &[ACCOUNT_KEY],
    },
    Rotation {
        name: "rotate-etcd-encryption-key",
        description: "ETCD encryption key rotation",
        phases: &[ENCRYPTION_KEY],
    },
];

/// Errors of the operation annotations: GDN-SOP-001 to -006.
#[must_use]
pub fn validate(shoot: &Shoot) -> FieldErrors {
    let at = Path::new("metadata").child("annotations");
    let value = |key: &str| shoot_metadata::value(&shoot.metadata, key);
    let (now, later) = (value(OPERATION), value(MAINTENANCE_OPERATION));
    if now.is_empty() && later.is_empty() {
        return Vec::new();
    }
    let (at_now, at_later) = (at.key(OPERATION), at.key(MAINTENANCE_OPERATION));
    let mut errors = Vec::new();
    if now == later {
        let text = format!("annotations {at_now} and {at_later} must not be equal");
        errors.push(Error::forbidden(&at, &text));
    }
    let mut any_time: Vec<&str> = NOW.iter().chain(&WHEN_MAINTAINED).copied().collect();
    any_time.sort_unstable();
    errors.extend(validate_operation(shoot, now, &any_time, &at_now));
    errors.extend(validate_operation(shoot, later, &WHEN_MAINTAINED, &at_later));
    errors.extend(validate_rotation(shoot, now, &at_now));
    errors.extend(validate_rotation(shoot, later, &at_later));
    errors
}

fn validate_operation(shoot: &Shoot, operation: &str, known: &[&str], at: &Path) -> FieldErrors {
    let mut errors = Vec::new();
    if operation.is_empty() {
        return errors;
    }
    if !known.contains(&operation) {
        errors.push(Error::not_supported(at, operation, known));
    }
    if is_asleep(shoot) && needs_machines(operation) {
        let text = "operation is not permitted when shoot is hibernated or is waking up";
        errors.push(Error::forbidden(at, text));
    }
    errors
}

/// A rotation starts on an existing Shoot after the previous one, and completes when prepared: GDN-SOP-007 to -011.
fn validate_rotation(shoot: &Shoot, operation: &str, at: &Path) -> FieldErrors {
    let named = |rotation: &&Rotation| operation.strip_prefix(rotation.name).is_some_and(is_step);
    let Some(rotation) = ROTATIONS.iter().find(named) else { return Vec::new() };
    let credentials = shoot.status.credentials.as_ref();
    let state = credentials.and_then(|credentials| credentials.rotation.as_ref());
    let is_start = operation.ends_with("-start");
    let mut errors = Vec::new();
    if is_start && !is_ready(shoot.status.last_operation.as_ref()) {
        let text = "if shoot was not yet created successfully or is not ready for reconciliation";
        errors.push(Error::forbidden(at, &format!("cannot start {} {text}", rotation.description)));
    }
    for Phase { field, of } in rotation.phases {
        let phase = state.and_then(of).unwrap_or_default();
        let (verb, wanted, holds) = if is_start {
            ("start", COMPLETED, phase.is_empty() || phase == COMPLETED)
        } else {
            ("complete", PREPARED, phase == PREPARED)
        };
        if !holds {
            let description = rotation.description;
            let text = format!(
                "cannot {verb} {description} if .status.credentials.rotation.{field}.phase is not '{wanted}'"
            );
            errors.push(Error::forbidden(at, &text));
        }
    }
    errors
}

fn is_step(rest: &str) -> bool {
    matches!(rest, "-start" | "-complete")
}

/// Whether the operation concerns what machines must know.
pub(super) fn needs_machines(operation: &str) -> bool {
    NOT_WHILE_ASLEEP.contains(&operation)
}

/// Whether the Shoot sleeps, or is to sleep.
pub(super) fn is_asleep(shoot: &Shoot) -> bool {
    let wanted = shoot.spec.hibernation.as_ref().and_then(|hibernation| hibernation.enabled);
    wanted == Some(true) || shoot.status.hibernated
}

fn is_ready(last: Option<&LastOperation>) -> bool {
    last.is_some_and(|last| match last.type_.as_str() {
        "Reconcile" => true,
        "Create" | "Restore" => last.state == "Succeeded",
        _ => false,
    })
}
