//! Defaulting and validation of a created or updated ManagedSeed.

use api::garden::ManagedSeed;
use api::garden::seed_management::GROUP;
use serde_json::Value;
use webhook::field::Path;
use webhook::rejection::Rejection;

use super::field_errors::{self, FieldErrors};
use super::managed_seed_spec::Spec;
use super::{managed_seed_defaults, metadata, names, operation, reading};

const KIND: &str = "ManagedSeed";
const OPERATIONS: [&str; 2] = ["reconcile", "renew-kubeconfig"];

/// Sets the defaults of a ManagedSeed.
///
/// # Errors
/// 400 when it is not a ManagedSeed.
pub fn mutate(managed_seed: &mut Value) -> Result<(), Rejection> {
    let read: ManagedSeed = reading::read(KIND, managed_seed)?;
    Spec::read(KIND, &read.spec)?;
    Ok(managed_seed_defaults::default(managed_seed)?)
}

/// Validates a ManagedSeed: GDN-MSE-001 to -003, GDN-MSE-012.
///
/// # Errors
/// 422 with all errors; 400 when it is not a ManagedSeed.
pub fn validate(old: Option<&Value>, new: &Value) -> Result<(), Rejection> {
    let managed_seed: ManagedSeed = reading::read_defaulted(KIND, new, managed_seed_defaults::default)?;
    let spec = Spec::read(KIND, &managed_seed.spec)?;
    let at = Path::new("spec");
    let mut errors = FieldErrors::new();
    if let Some(old) = old {
        let old: ManagedSeed = reading::read_defaulted(KIND, old, managed_seed_defaults::default)?;
        let before = Spec::read(KIND, &old.spec)?;
        errors.extend(operation::overwritten(&managed_seed.metadata, &old.metadata, spec != before));
        errors.extend(spec.validate_update(&before, &at));
    }
    errors.extend(metadata::validate(&managed_seed.metadata, names::dns_label));
    errors.extend(operation::validate(&managed_seed.metadata, &OPERATIONS));
    errors.extend(spec.validate(&at, false)?);
    field_errors::invalid_in(GROUP, KIND, managed_seed.metadata.name.as_deref().unwrap_or_default(), &errors)
}
