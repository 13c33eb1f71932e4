//! Defaulting and validation of a created or updated Seed.

use api::garden::Seed;
use api::gardener::OPERATION;
use serde_json::Value;
use webhook::field::{Error, Path};
use webhook::rejection::Rejection;

use super::field_errors::{self, FieldErrors, supported};
use super::seed_defaults::default;
use super::{metadata, names, reading, seed_changes, seed_ingress, seed_networks, seed_settings, seed_spec};

const KIND: &str = "Seed";
const OPERATIONS: [&str; 3] = ["reconcile", "renew-garden-access-secrets", "renew-kubeconfig"];

/// Sets the defaults of a Seed.
///
/// # Errors
/// 400 when it is not a Seed.
pub fn mutate(seed: &mut Value) -> Result<(), Rejection> {
    reading::read::<Seed>(KIND, seed)?;
    Ok(default(seed)?)
}

/// Validates a Seed: GDN-SEE-001.
///
/// # Errors
/// 422 with all errors; 400 when it is not a Seed.
pub fn validate(old: Option<&Value>, new: &Value) -> Result<(), Rejection> {
    let seed: Seed = reading::read_defaulted(KIND, new, default)?;
    let at = Path::new("spec");
    let mut errors = FieldErrors::new();
    if let Some(old) = old {
        let old: Seed = reading::read_defaulted(KIND, old, default)?;
        errors.extend(overwritten(&seed, &old));
        errors.extend(seed_changes::validate(&seed.spec, &old.spec, &at));
    }
    errors.extend(metadata::validate(&seed.metadata, names::dns_label));
    if !operation(&seed).is_empty() {
        errors.extend(supported(&operation_path(), operation(&seed), &OPERATIONS));
    }
    errors.extend(seed_spec::validate_provider(&seed.spec, &at));
    errors.extend(seed_networks::validate(&seed.spec.networks, &at.child("networks")));
    errors.extend(seed_spec::validate(&seed.spec, &at)?);
    if let Some(settings) = &seed.spec.settings {
        errors.extend(seed_settings::validate(settings, &seed.spec.provider.zones, &at.child("settings"))?);
    }
    errors.extend(seed_ingress::validate(&seed.spec, &at));
    field_errors::invalid(KIND, &seed.metadata.name.unwrap_or_default(), &errors)
}

/// An operation is not replaced by another one, but by `reconcile` if nothing else is new; the original removes that
/// annotation before it compares: GDN-SEE-003.
fn overwritten(new: &Seed, old: &Seed) -> Option<Error> {
    let is_deleted = new.metadata.deletion_timestamp.is_some() && old.metadata.deletion_timestamp.is_none();
    let changes = new.spec != old.spec || is_deleted;
    let (new, old) = (operation(new), operation(old));
    let is_removed = new == "reconcile" && !changes;
    (!new.is_empty() && !old.is_empty() && new != old && !is_removed).then(|| {
        Error::forbidden(&operation_path(), &format!("must not overwrite operation \"{old}\" with \"{new}\""))
    })
}

/// The operation that the Seed asks for: GDN-SEE-002.
fn operation(seed: &Seed) -> &str {
    let annotations = seed.metadata.annotations.as_ref();
    annotations.and_then(|annotations| annotations.get(OPERATION)).map_or("", String::as_str)
}

fn operation_path() -> Path {
    Path::new("metadata").child("annotations").key(OPERATION)
}
