//! Keeps traffic in its zone: sets the hint of each endpoint to its own zone:
//! `contracts/resource-manager/webhooks/endpoint-slice-hints.yaml`.

use serde_json::{Value, json};
use webhook::object;
use webhook::rejection::Rejection;

/// Name of the webhook.
pub const NAME: &str = "endpoint-slice-hints";
/// Its path.
pub const PATH: &str = "/webhooks/endpoint-slice-hints";

/// Sets the zone hint of each endpoint that has a zone; other endpoints keep their hints.
///
/// GRM-ESH-001, GRM-ESH-002, GRM-ESH-003, GRM-ESH-004, GRM-ESH-012.
///
/// # Errors
/// 400 when a field has the wrong type.
pub fn mutate(endpoint_slice: &mut Value) -> Result<(), Rejection> {
    if object::list(endpoint_slice, &["endpoints"])?.is_empty() {
        return Ok(());
    }
    for endpoint in object::list_mut(endpoint_slice, &["endpoints"])? {
        let zone = object::text(endpoint, &["zone"])?;
        if !zone.is_empty() {
            let zones = json!([{"name": zone}]);
            object::set(endpoint, &["hints", "forZones"], zones)?;
        }
    }
    Ok(())
}
