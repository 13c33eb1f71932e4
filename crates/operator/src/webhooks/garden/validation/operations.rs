//! Operations that an annotation of a Garden requests.

use api::gardener::OPERATION;
use api::operator::Garden;
use api::operator::credentials::CredentialsRotation;
use webhook::field::{Error, Path};

use super::FieldErrors;

const COMPLETED: &str = "Completed";
const PREPARED: &str = "Prepared";
/// The operation that has one step alone.
const OBSERVABILITY: &str = "rotate-observability-credentials";

/// All operations, in alphabetical order.
const KNOWN: [&str; 10] = [
    "reconcile",
    "rotate-ca-complete",
    "rotate-ca-start",
    "rotate-credentials-complete",
    "rotate-credentials-start",
    "rotate-etcd-encryption-key-complete",
    "rotate-etcd-encryption-key-start",
    OBSERVABILITY,
    "rotate-serviceaccount-key-complete",
    "rotate-serviceaccount-key-start",
];

/// A rotation that operations start and complete: `<name>-start` and `<name>-complete`, its name in error messages, and
/// the fields of the status with its phases.
struct Rotation(&'static str, &'static str, &'static [Phase]);

struct Phase {
    field: &'static str,
    of: fn(&CredentialsRotation) -> Option<&str>,
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
    Rotation(
        "rotate-credentials",
        "rotation of all credentials",
        &[AUTHORITIES, ACCOUNT_KEY, ENCRYPTION_KEY],
    ),
    Rotation("rotate-ca", "CA rotation", &[AUTHORITIES]),
    Rotation("rotate-serviceaccount-key", "service account key rotation", &[ACCOUNT_KEY]),
    Rotation("rotate-etcd-encryption-key", "ETCD encryption key rotation", &[ENCRYPTION_KEY]),
];

/// The operation is known, a rotation starts after the one before and completes when it is prepared, and none begins or
/// ends on a Garden that is being deleted. OPR-OPS-001 to -005.
pub(super) fn errors(garden: &Garden) -> FieldErrors {
    let annotations = garden.metadata.annotations.as_ref();
    let operation = annotations.and_then(|of| of.get(OPERATION)).map_or("", String::as_str);
    if operation.is_empty() {
        return Vec::new();
    }
    let at = Path::new("metadata").child("annotations").key(OPERATION);
    let mut errors = Vec::new();
    if !KNOWN.contains(&operation) {
        errors.push(Error::not_supported(&at, operation, &KNOWN));
    }
    errors.extend(rotation(garden, operation, &at));
    errors
}

fn rotation(garden: &Garden, operation: &str, at: &Path) -> FieldErrors {
    let goes = garden.metadata.deletion_timestamp.is_some();
    let while_going = |verb: &str, what: &str| {
        goes.then(|| Error::forbidden(at, &format!("cannot {verb} {what} if garden has deletion timestamp")))
    };
    if operation == OBSERVABILITY {
        return while_going("start", "Observability credentials rotation").into_iter().collect();
    }
    let step = |rotation: &'static Rotation| match operation.strip_prefix(rotation.0)? {
        "-start" => Some((rotation, "start")),
        "-complete" => Some((rotation, "complete")),
        _ => None,
    };
    let Some((Rotation(_, what, phases), verb)) = ROTATIONS.iter().find_map(step) else { return Vec::new() };
    let (what, phases) = (*what, *phases);
    let state = garden.status.credentials.as_ref().and_then(|credentials| credentials.rotation.as_ref());
    let mut errors: FieldErrors = while_going(verb, what).into_iter().collect();
    for Phase { field, of } in phases {
        let phase = state.and_then(of).unwrap_or_default();
        let (wanted, holds) = match verb {
            "start" => (COMPLETED, phase.is_empty() || phase == COMPLETED),
            _ => (PREPARED, phase == PREPARED),
        };
        if !holds {
            let text = format!(
                "cannot {verb} {what} if .status.credentials.rotation.{field}.phase is not '{wanted}'"
            );
            errors.push(Error::forbidden(at, &text));
        }
    }
    errors
}
