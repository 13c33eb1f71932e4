//! Defaulting and validation of a created or updated ClusterOpenIDConnectPreset.

use api::garden::ClusterOpenIdConnectPreset;
use api::garden::open_id_connect_preset::OpenIdConnectPresetSpec;
use api::garden::settings::GROUP;
use serde_json::Value;
use webhook::field::Path;
use webhook::rejection::Rejection;

use super::cluster_open_id_connect_preset_defaults::default;
use super::field_errors;
use super::{label_selector, metadata, names, open_id_connect, reading};

const KIND: &str = "ClusterOpenIDConnectPreset";

/// Sets the defaults of a ClusterOpenIDConnectPreset.
///
/// # Errors
/// 400 when it is not a ClusterOpenIDConnectPreset.
pub fn mutate(preset: &mut Value) -> Result<(), Rejection> {
    reading::read::<ClusterOpenIdConnectPreset>(KIND, preset)?;
    Ok(default(preset)?)
}

/// Validates a ClusterOpenIDConnectPreset: GDN-COP-001 to -004. Everything may change: GDN-COP-005.
///
/// # Errors
/// 422 with all errors; 400 when it is not a ClusterOpenIDConnectPreset.
pub fn validate(_old: Option<&Value>, new: &Value) -> Result<(), Rejection> {
    let preset: ClusterOpenIdConnectPreset = reading::read_defaulted(KIND, new, default)?;
    let at = Path::new("spec");
    let mut errors = metadata::validate(&preset.metadata, names::dns_label);
    if let Some(projects) = &preset.spec.project_selector {
        let at = at.child("projectSelector");
        errors.extend(label_selector::validate(&projects.match_labels, &projects.match_expressions, &at));
    }
    let name = preset.metadata.name.unwrap_or_default();
    let spec = preset.spec;
    let of_shoots = OpenIdConnectPresetSpec {
        server: spec.server,
        client: spec.client,
        shoot_selector: spec.shoot_selector,
        weight: spec.weight,
        unknown: spec.unknown,
    };
    errors.extend(open_id_connect::validate(&of_shoots, &at));
    field_errors::invalid_in(GROUP, KIND, &name, &errors)
}
