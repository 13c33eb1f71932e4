//! Static tokens that nobody uses are made invalid, and come back when asked for:
//! `contracts/resource-manager/webhooks/token-invalidator.yaml`.

use api::resources::TOKEN_CONSIDER;
use serde_json::Value;
use webhook::object;
use webhook::rejection::Rejection;

/// Name of the webhook.
pub const NAME: &str = "token-invalidator";
/// Path it answers on.
pub const PATH: &str = "/webhooks/invalidate-service-account-token-secret";

/// Three NUL bytes in base64: what stands where a valid token stood.
const INVALID_TOKEN: &str = "AAAA";

/// Invalidates the token of a Secret with the `consider` label, whatever its value;
/// without the label an invalidated token is removed, so that Kubernetes makes a new one.
///
/// A Secret without data is left alone. Neither its type nor its ServiceAccount is looked at.
///
/// # Errors
/// 400 when a field has another type than the API's.
pub fn mutate(secret: &mut Value) -> Result<(), Rejection> {
    if object::map(secret, &["data"])?.is_none() {
        return Ok(());
    }
    if object::label(secret, TOKEN_CONSIDER)?.is_some() {
        object::set(secret, &["data", "token"], INVALID_TOKEN)?;
    } else if object::text(secret, &["data", "token"])? == INVALID_TOKEN {
        object::map_mut(secret, &["data"])?.remove("token");
    }
    Ok(())
}
