//! Validation of a created or updated InternalSecret.

use api::garden::InternalSecret;
use serde_json::Value;
use webhook::field::{Error, Path};
use webhook::object;
use webhook::rejection::Rejection;

use super::field_errors::{self, FieldErrors, immutable};
use super::go_value::GoValue;
use super::internal_secret_defaults::mutate;
use super::{internal_secret_data, metadata, names, reading};

const KIND: &str = "InternalSecret";

/// Validates an InternalSecret: GDN-INS-001.
///
/// # Errors
/// 422 with all errors; 400 when it is not an InternalSecret.
pub fn validate(old: Option<&Value>, new: &Value) -> Result<(), Rejection> {
    let mut new = new.clone();
    mutate(old, &mut new)?;
    let secret: InternalSecret = reading::read(KIND, &new)?;
    let mut errors = FieldErrors::new();
    if let Some(old) = old {
        let has_other_data = object::map(&new, &["data"])? != object::map(old, &["data"])?;
        errors.extend(unchanged(&secret, &reading::read(KIND, old)?, has_other_data));
    }
    errors.extend(metadata::validate(&secret.metadata, names::dns_subdomain));
    errors.extend(internal_secret_data::validate(&secret));
    field_errors::invalid(KIND, &secret.metadata.name.unwrap_or_default(), &errors)
}

/// GDN-INS-006, GDN-INS-007.
fn unchanged(new: &InternalSecret, old: &InternalSecret, has_other_data: bool) -> FieldErrors {
    let of = |secret: &InternalSecret| GoValue::text_or_empty(secret.type_.as_ref());
    let mut errors: FieldErrors = immutable(&Path::new("type"), &of(new), &of(old)).into_iter().collect();
    if old.immutable == Some(true) {
        let why = "field is immutable when `immutable` is set";
        let broken = [("immutable", new.immutable != Some(true)), ("data", has_other_data)];
        let broken = broken.into_iter().filter(|(_, broken)| *broken);
        errors.extend(broken.map(|(field, _)| Error::forbidden(&Path::new(field), why)));
    }
    errors
}
