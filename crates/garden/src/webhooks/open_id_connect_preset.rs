//! Defaulting and validation of a created or updated OpenIDConnectPreset.

use api::garden::OpenIdConnectPreset;
use api::garden::settings::GROUP;
use serde_json::{Value, json};
use webhook::field::Path;
use webhook::object::{self, WrongType};
use webhook::rejection::Rejection;

use super::field_errors::{self, FieldErrors};
use super::shoot_defaults::if_absent;
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

/// Validates an OpenIDConnectPreset: GDN-OIP-001. Everything may change.
///
/// # Errors
/// 422 with all errors; 400 when it is not an OpenIDConnectPreset.
pub fn validate(_old: Option<&Value>, new: &Value) -> Result<(), Rejection> {
    let preset: OpenIdConnectPreset = reading::read_defaulted(KIND, new, default)?;
    let mut errors: FieldErrors = metadata::validate(&preset.metadata, names::dns_label);
    errors.extend(open_id_connect::validate(&preset.spec, &Path::new("spec")));
    field_errors::invalid_in(GROUP, KIND, preset.metadata.name.as_deref().unwrap_or_default(), &errors)
}

/// All Shoots, one algorithm and a claim: GDN-OID-001 to -003.
pub(super) fn default(preset: &mut Value) -> Result<(), WrongType> {
    if_absent(preset, &["spec", "shootSelector"], json!({}))?;
    let algorithms = ["spec", "server", "signingAlgs"];
    if object::list(preset, &algorithms)?.is_empty() {
        object::set(preset, &algorithms, json!(["RS256"]))?;
    }
    if_absent(preset, &["spec", "server", "usernameClaim"], "sub")
}
