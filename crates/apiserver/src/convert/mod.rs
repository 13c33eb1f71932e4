//! Conversion between versions of built-in kinds. Most versions differ only in `apiVersion`.

mod autoscaler;
mod event;
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
        ("autoscaling", "v1", "HorizontalPodAutoscaler") => autoscaler::to_v1(&mut object),
        ("autoscaling", "v2", "HorizontalPodAutoscaler") => autoscaler::to_v2(&mut object),
        ("events.k8s.io", _, "Event") => event::to_new(&mut object),
        ("", _, "Event") => event::to_core(&mut object),
        _ => {}
    }
    object["apiVersion"] = to.api_version().into();
    object["kind"] = to.kind.as_str().into();
    object
}

fn is_of(object: &Value, resource: &Resource) -> bool {
    let api_version = object.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    (group, version) == (resource.group.as_str(), resource.version.as_str())
}
