//! The webhooks of Garden: what fills them in, and what judges them.

pub mod defaulting;
mod notation;
pub mod validation;

use api::operator::{API_VERSION, Garden};
use serde_json::Value;
use webhook::mutation::decode;
use webhook::rejection::Rejection;
use webhook::review::AdmissionRequest;

/// Their name in contracts.
pub const NAME: &str = "garden";
/// The path of the webhook that fills in defaults.
pub const DEFAULTING_PATH: &str = "/webhooks/default-operator-gardener-cloud-v1alpha1-garden";
/// The path of the webhook that judges.
pub const VALIDATION_PATH: &str = "/webhooks/validate-operator-gardener-cloud-v1alpha1-garden";

/// Reads a Garden, with its durations and quantities. OPR-ANS-001 to -003.
///
/// # Errors
/// 400 if it is of another kind, or malformed.
pub fn typed(object: &Value) -> Result<Garden, Rejection> {
    let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    if (api_version, kind) != (API_VERSION, "Garden") {
        let slash = if api_version.contains('/') { "" } else { "/" };
        let message = format!("unable to decode {slash}{api_version}, Kind={kind} into *v1alpha1.Garden");
        return Err(Rejection::undecodable(message));
    }
    let garden: Garden = serde_json::from_value(object.clone())
        .map_err(|error| Rejection::undecodable(format!("failed to decode the object: {error}")))?;
    notation::check(&garden).map_err(Rejection::undecodable)?;
    Ok(garden)
}

/// The object of a request before its change.
///
/// # Errors
/// 400 if it is missing, of another kind, or malformed.
pub fn old(request: &AdmissionRequest<'_>) -> Result<Garden, Rejection> {
    typed(&decode(request.old_object)?)
}

/// The object of a request after its change.
///
/// # Errors
/// 400 if it is missing, of another kind, or malformed.
pub fn new(request: &AdmissionRequest<'_>) -> Result<Garden, Rejection> {
    typed(&decode(request.object)?)
}
