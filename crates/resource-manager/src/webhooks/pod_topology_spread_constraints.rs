//! Spreads Pods among those of the same revision only, so that a rollout leaves them balanced:
//! `contracts/resource-manager/webhooks/pod-topology-spread-constraints.yaml`.

use api::kubernetes::POD_TEMPLATE_HASH;
use serde_json::Value;
use webhook::object::{self, WrongType};
use webhook::rejection::Rejection;

/// Name of the webhook.
pub const NAME: &str = "pod-topology-spread-constraints";
/// Its path.
pub const PATH: &str = "/webhooks/pod-topology-spread-constraints";

const CONSTRAINTS: [&str; 2] = ["spec", "topologySpreadConstraints"];

/// Adds the Pod's template hash to the selector of each of its constraints that does not have it yet.
///
/// A Pod without the label, or without constraints, stays unchanged; an empty hash counts.
///
/// GRM-TSC-001, GRM-TSC-004, GRM-TSC-014.
///
/// # Errors
/// 400 when a field has the wrong type.
pub fn mutate(pod: &mut Value) -> Result<(), Rejection> {
    if object::list(pod, &CONSTRAINTS)?.is_empty() {
        return Ok(());
    }
    let Some(hash) = object::label(pod, POD_TEMPLATE_HASH)?.map(ToOwned::to_owned) else { return Ok(()) };
    for constraint in object::list_mut(pod, &CONSTRAINTS)? {
        if !selects_hash(constraint)? {
            object::set(constraint, &["labelSelector", "matchLabels", POD_TEMPLATE_HASH], hash.as_str())?;
        }
    }
    Ok(())
}

/// Whether the constraint selects by template hash: as a label, or as an expression with operator `In`.
///
/// GRM-TSC-002, GRM-TSC-003.
fn selects_hash(constraint: &Value) -> Result<bool, WrongType> {
    if object::get(constraint, &["labelSelector", "matchLabels", POD_TEMPLATE_HASH])?.is_some() {
        return Ok(true);
    }
    for expression in object::list(constraint, &["labelSelector", "matchExpressions"])? {
        if object::text(expression, &["key"])? == POD_TEMPLATE_HASH
            && object::text(expression, &["operator"])? == "In"
        {
            return Ok(true);
        }
    }
    Ok(false)
}
