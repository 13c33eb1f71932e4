//! Defaulting and validation of a created or updated OpenIDConnectPreset.

use api::garden::OpenIdConnectPreset;
use api::garden::settings::GROUP;
use serde_json::Value;
use webhook::field::Path;
use webhook::rejection::Rejection;

use super::field_errors::{self, FieldErrors};
use super::open_id_connect_preset_defaults::default;
use super::{metadata, names, open_id_connect, reading};

const KIND: &str = "OpenIDConnectPreset";

/// Sets the defaults of an OpenIDConnectPreset.
///
/// # Errors
/// 400 when it is not an OpenIDConnectPreset.
pub fn mutate(preset: &mut Value) -> Result<(), Rejection> {
    reading::read::<OpenIdConnectPreset>(KIND, preset)?;
    Ok(default(preset)?)
}

/// Validates an OpenIDConnectPreset: GDN-OIP-001, GDN-OIP-010. Everything may change: GDN-OIP-011.
///
/// # Errors
/// 422 with all errors; 400 when it is not an OpenIDConnectPreset.
pub fn validate(_old: Option<&Value>, new: &Value) -> Result<(), Rejection> {
    let preset: OpenIdConnectPreset = reading::read_defaulted(KIND, new, default)?;
    let mut errors: FieldErrors = metadata::validate(&preset.metadata, names::dns_label);
    errors.extend(open_id_connect::validate(&preset.spec, &Path::new("spec")));
    field_errors::invalid_in(GROUP, KIND, preset.metadata.name.as_deref().unwrap_or_default(), &errors)
}
