//! Sets the container runtime's default seccomp profile of Pods without one:
//! `contracts/resource-manager/webhooks/seccomp-profile.yaml`.

use serde_json::{Value, json};
use webhook::object;
use webhook::rejection::Rejection;

/// Name of the webhook.
pub const NAME: &str = "seccomp-profile";
/// Its path.
pub const PATH: &str = "/webhooks/seccomp-profile";

const PROFILE: [&str; 3] = ["spec", "securityContext", "seccompProfile"];

/// Sets the profile of a Pod without a type; the profiles of containers neither count nor change.
///
/// GRM-SEC-001, GRM-SEC-002, GRM-SEC-003, GRM-SEC-004, GRM-SEC-005, GRM-SEC-013.
///
/// # Errors
/// 400 when a field has the wrong type.
pub fn mutate(pod: &mut Value) -> Result<(), Rejection> {
    let [spec, context, profile] = PROFILE;
    if object::text(pod, &[spec, context, profile, "type"])?.is_empty() {
        object::set(pod, &PROFILE, json!({"type": "RuntimeDefault"}))?;
    }
    Ok(())
}
