//! Defaulting and validation of a created or updated Seed.

use api::garden::Seed;
use api::garden::seed::SeedSpec;
use serde_json::Value;
use webhook::field::Path;
use webhook::rejection::Rejection;

use super::field_errors::{self, FieldErrors};
use super::seed_defaults::default;
use super::{
    metadata, names, operation, reading, seed_changes, seed_ingress, seed_networks, seed_settings, seed_spec,
};

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

/// Validates a Seed: GDN-SEE-001 to -003.
///
/// # Errors
/// 422 with all errors; 400 when it is not a Seed.
pub fn validate(old: Option<&Value>, new: &Value) -> Result<(), Rejection> {
    let seed: Seed = reading::read_defaulted(KIND, new, default)?;
    let at = Path::new("spec");
    let mut errors = FieldErrors::new();
    if let Some(old) = old {
        let old: Seed = reading::read_defaulted(KIND, old, default)?;
        errors.extend(operation::overwritten(&seed.metadata, &old.metadata, seed.spec != old.spec));
        errors.extend(seed_changes::validate(&seed.spec, &old.spec, &at));
    }
    errors.extend(metadata::validate(&seed.metadata, names::dns_label));
    errors.extend(operation::validate(&seed.metadata, &OPERATIONS));
    errors.extend(specification(&seed.spec, &at, false)?);
    field_errors::invalid(KIND, &seed.metadata.name.unwrap_or_default(), &errors)
}

/// The errors of a spec. That of a template needs neither provider nor ingress, nor networks of pods and services.
///
/// # Errors
/// 400 when an amount is no quantity.
pub(super) fn specification(spec: &SeedSpec, at: &Path, in_template: bool) -> Result<FieldErrors, Rejection> {
    let mut errors = seed_spec::validate_provider(spec, at, in_template);
    errors.extend(seed_networks::validate(&spec.networks, &at.child("networks"), in_template));
    errors.extend(seed_spec::validate(spec, at)?);
    if let Some(settings) = &spec.settings {
        errors.extend(seed_settings::validate(settings, &spec.provider.zones, &at.child("settings"))?);
    }
    if !in_template || spec.ingress.is_some() {
        errors.extend(seed_ingress::validate(spec, at));
    }
    Ok(errors)
}
