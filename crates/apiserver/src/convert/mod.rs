//! Conversion between versions of built-in kinds. Most versions differ only in `apiVersion`.

mod autoscaler;
mod autoscaler_beta;
mod event;
mod older;
pub(crate) mod retired;
pub(crate) mod scale;

use std::borrow::Cow;

use schema::Resource;
use serde_json::Value;

/// The object in the version of `to`, borrowed if it already has that version.
pub(crate) fn to_version<'a>(object: &'a Value, to: &Resource) -> Cow<'a, Value> {
    if is_of(object, to) { Cow::Borrowed(object) } else { Cow::Owned(into_version(object.clone(), to)) }
}

/// An Event with the field names of the core group, whatever version of it was requested; other objects unchanged.
pub(crate) fn core_event<'a>(object: &'a Value, of: &Resource) -> Cow<'a, Value> {
    if (of.group.as_str(), of.kind.as_str()) != ("events.k8s.io", "Event") {
        return Cow::Borrowed(object);
    }
    let mut event = object.clone();
    event::to_core(&mut event);
    Cow::Owned(event)
}

/// Converts an object to another version of its resource.
pub(crate) fn into_version(mut object: Value, to: &Resource) -> Value {
    if is_of(&object, to) {
        return object;
    }
    match (to.group.as_str(), to.version.as_str(), to.kind.as_str()) {
        ("autoscaling", version, "HorizontalPodAutoscaler") => convert_autoscaler(&mut object, version),
        ("events.k8s.io", _, "Event") => event::to_new(&mut object),
        ("", _, "Event") => event::to_core(&mut object),
        ("discovery.k8s.io", "v1", "EndpointSlice") => older::endpoint_slice_to_v1(&mut object),
        ("discovery.k8s.io", _, "EndpointSlice") => older::endpoint_slice_to_v1beta1(&mut object),
        ("policy", "v1", "PodDisruptionBudget") => older::disruption_budget_to_v1(&mut object),
        ("policy", _, "PodDisruptionBudget") => older::disruption_budget_to_v1beta1(&mut object),
        (_, version, "PriorityLevelConfiguration") => older::rename_concurrency_shares(&mut object, version),
        _ => {}
    }
    object["apiVersion"] = to.api_version().into();
    object["kind"] = to.kind.as_str().into();
    object
}

/// Converts an autoscaler by way of v2, whose form v2beta2 shares.
fn convert_autoscaler(object: &mut Value, to: &str) {
    match version_of(object) {
        "v1" => autoscaler::to_v2(object),
        "v2beta1" => autoscaler_beta::to_v2(object),
        _ => {}
    }
    match to {
        "v1" => autoscaler::to_v1(object),
        "v2beta1" => autoscaler_beta::to_v2beta1(object),
        _ => {}
    }
}

/// `v1` of an object of `apps/v1`.
fn version_of(object: &Value) -> &str {
    let api_version = object.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
    api_version.rsplit('/').next().unwrap_or_default()
}

fn is_of(object: &Value, resource: &Resource) -> bool {
    let api_version = object.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    (group, version) == (resource.group.as_str(), resource.version.as_str())
}
