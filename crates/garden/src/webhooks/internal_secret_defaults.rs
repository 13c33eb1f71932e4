//! Defaulting of a created or updated InternalSecret.

use api::garden::InternalSecret;
use formats::base64;
use serde_json::Value;
use webhook::object::{self, WrongType};
use webhook::rejection::Rejection;

use super::reading;

/// Texts become data, and an update that says no type keeps it: GDN-IND-001, GDN-IND-002.
///
/// # Errors
/// 400 when it is not an InternalSecret.
pub fn mutate(old: Option<&Value>, secret: &mut Value) -> Result<(), Rejection> {
    reading::read::<InternalSecret>("InternalSecret", secret)?;
    texts_to_data(secret)?;
    if let Some(old) = old.filter(|_| matches!(object::text(secret, &["type"]), Ok(""))) {
        let kept = object::text(old, &["type"])?;
        if !kept.is_empty() {
            object::set(secret, &["type"], kept)?;
        }
    }
    Ok(())
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
