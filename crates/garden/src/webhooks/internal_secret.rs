//! Defaulting and validation of a created or updated InternalSecret.

use api::garden::InternalSecret;
use formats::base64;
use serde_json::Value;
use webhook::field::{Error, Path};
use webhook::object::{self, WrongType};
use webhook::rejection::Rejection;

use super::field_errors::{self, FieldErrors, immutable};
use super::go_value::GoValue;
use super::{internal_secret_data, metadata, names, reading};

const KIND: &str = "InternalSecret";

/// Texts become data, and an update that says no type keeps it: GDN-IND-001, GDN-IND-002.
///
/// # Errors
/// 400 when it is not an InternalSecret.
pub fn mutate(old: Option<&Value>, secret: &mut Value) -> Result<(), Rejection> {
    reading::read::<InternalSecret>(KIND, secret)?;
    texts_to_data(secret)?;
    if let Some(old) = old.filter(|_| matches!(object::text(secret, &["type"]), Ok(""))) {
        let kept = object::text(old, &["type"])?;
        if !kept.is_empty() {
            object::set(secret, &["type"], kept)?;
        }
    }
    Ok(())
}

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

fn texts_to_data(secret: &mut Value) -> Result<(), WrongType> {
    let Some(texts) = object::map(secret, &["stringData"])?.cloned() else { return Ok(()) };
    for (key, text) in &texts {
        let encoded = base64::encode(text.as_str().unwrap_or_default().as_bytes());
        object::map_mut(secret, &["data"])?.insert(key.clone(), Value::String(encoded));
    }
    object::map_mut(secret, &[])?.remove("stringData");
    Ok(())
}
