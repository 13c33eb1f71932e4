//! Defaulting and validation of a created or updated SecretBinding.

use api::garden::SecretBinding;
use api::garden::reference::ObjectReference;
use api::garden::secret_binding::SecretBindingProvider;
use serde_json::Value;
use webhook::field::{Error, Path};
use webhook::rejection::Rejection;

use super::field_errors::{self, FieldErrors, immutable, required};
use super::go_value::GoValue;
use super::secret_binding_defaults::default;
use super::{metadata, names, reading, references};

/// The original's name of a provider.
const PROVIDER: &str = "core.SecretBindingProvider";
const KIND: &str = "SecretBinding";

/// Sets the defaults of a binding.
///
/// # Errors
/// 400 when it is not a SecretBinding.
pub fn mutate(binding: &mut Value) -> Result<(), Rejection> {
    reading::read::<SecretBinding>(KIND, binding)?;
    Ok(default(binding)?)
}

/// Validates a SecretBinding: GDN-SBI-001 to -005.
///
/// # Errors
/// 422 with all errors.
pub fn validate(old: Option<&Value>, new: &Value) -> Result<(), Rejection> {
    let binding: SecretBinding = reading::read_defaulted(KIND, new, default)?;
    let mut errors = FieldErrors::new();
    if let Some(old) = old {
        errors.extend(unchanged(&binding, &reading::read_defaulted(KIND, old, default)?));
    }
    errors.extend(metadata::validate(&binding.metadata, names::dns_subdomain));
    errors.extend(named(binding.secret_ref.name.as_ref(), &Path::new("secretRef")));
    let quotas = binding.quotas.iter().enumerate();
    errors.extend(
        quotas.filter_map(|(index, quota)| named(quota.name.as_ref(), &Path::new("quotas").index(index))),
    );
    if old.is_none() {
        errors.extend(provider(binding.provider.as_ref()));
    }
    field_errors::invalid(KIND, &binding.metadata.name.unwrap_or_default(), &errors)
}

fn named(name: Option<&String>, at: &Path) -> Option<Error> {
    required(&at.child("name"), name.map_or("", String::as_str), "must provide a name")
}

fn provider(provider: Option<&SecretBindingProvider>) -> Option<Error> {
    let at = Path::new("provider");
    match provider {
        None => Some(Error::required(&at, "must specify a provider")),
        Some(provider) => required(&at.child("type"), &provider.type_, "must specify a provider type"),
    }
}

fn unchanged(new: &SecretBinding, old: &SecretBinding) -> FieldErrors {
    let quotas = |quotas: &[ObjectReference]| {
        GoValue::List("v1.ObjectReference", quotas.iter().map(references::object).collect())
    };
    let provider = |provider: Option<&SecretBindingProvider>| {
        let fields = |provider: &SecretBindingProvider| vec![("Type", GoValue::text(&provider.type_))];
        GoValue::pointer(PROVIDER, provider.map(|provider| GoValue::Struct(PROVIDER, fields(provider))))
    };
    let secret = (references::secret(&new.secret_ref), references::secret(&old.secret_ref));
    let mut errors = FieldErrors::new();
    errors.extend(immutable(&Path::new("secretRef"), &secret.0, &secret.1));
    errors.extend(immutable(&Path::new("quotas"), &quotas(&new.quotas), &quotas(&old.quotas)));
    if old.provider.is_some() {
        let (new, old) = (provider(new.provider.as_ref()), provider(old.provider.as_ref()));
        errors.extend(immutable(&Path::new("provider"), &new, &old));
    }
    errors
}
