//! Defaults of a ClusterOpenIDConnectPreset.

use serde_json::{Value, json};
use webhook::object::WrongType;

use super::open_id_connect_preset_defaults;
use super::shoot_defaults::if_absent;

/// All Projects, and what an OpenIDConnectPreset gets: GDN-COD-001 to -006.
pub(super) fn default(preset: &mut Value) -> Result<(), WrongType> {
    if_absent(preset, &["spec", "projectSelector"], json!({}))?;
    open_id_connect_preset_defaults::default(preset)
}
