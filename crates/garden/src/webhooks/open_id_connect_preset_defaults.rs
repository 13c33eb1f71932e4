//! Defaults of an OpenIDConnectPreset.

use serde_json::{Value, json};
use webhook::object::{self, WrongType};

use super::shoot_defaults::if_absent;

/// All Shoots, one algorithm and a claim: GDN-OID-001 to -004.
pub(super) fn default(preset: &mut Value) -> Result<(), WrongType> {
    if_absent(preset, &["spec", "shootSelector"], json!({}))?;
    let algorithms = ["spec", "server", "signingAlgs"];
    if object::list(preset, &algorithms)?.is_empty() {
        object::set(preset, &algorithms, json!(["RS256"]))?;
    }
    if_absent(preset, &["spec", "server", "usernameClaim"], "sub")
}
