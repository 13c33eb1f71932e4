//! Invalidates unused static tokens, and restores them on request:
//! `contracts/resource-manager/webhooks/token-invalidator.yaml`.

use api::resources::TOKEN_CONSIDER;
use formats::base64;
use serde_json::Value;
use webhook::object;
use webhook::rejection::Rejection;

/// Name of the webhook.
pub const NAME: &str = "token-invalidator";
/// Its path.
pub const PATH: &str = "/webhooks/invalidate-service-account-token-secret";

/// The value of an invalidated token.
const INVALID_TOKEN: [u8; 3] = [0; 3];

/// Invalidates the token of a Secret with the `consider` label, whatever its value; without the label it removes an
/// invalidated token, so that Kubernetes creates a new one.
///
/// A Secret without data stays unchanged. Its type and its ServiceAccount do not matter.
///
/// GRM-TIV-001, GRM-TIV-002, GRM-TIV-003, GRM-TIV-004.
///
/// # Errors
/// 400 when a field has the wrong type, or the token is not base64.
pub fn mutate(secret: &mut Value) -> Result<(), Rejection> {
    if object::map(secret, &["data"])?.is_none() {
        return Ok(());
    }
    let token = token(secret)?;
    if object::label(secret, TOKEN_CONSIDER)?.is_some() {
        object::set(secret, &["data", "token"], base64::encode(&INVALID_TOKEN))?;
    } else if token == INVALID_TOKEN {
        object::map_mut(secret, &["data"])?.remove("token");
    }
    Ok(())
}

/// GRM-TIV-010.
fn token(secret: &Value) -> Result<Vec<u8>, Rejection> {
    let text = object::text(secret, &["data", "token"])?;
    base64::decode(text).map_err(|error| Rejection::undecodable(error.to_string()))
}
