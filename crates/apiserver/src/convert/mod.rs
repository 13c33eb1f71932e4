//! One object in several versions: most differ in what they say of themselves only.

mod autoscaler;
mod event;
pub(crate) mod scale;

use std::borrow::Cow;

use schema::Resource;
use serde_json::Value;

/// The object as a version shows it.
pub(crate) fn shown<'a>(object: &'a Value, to: &Resource) -> Cow<'a, Value> {
    if is_of(object, to) { Cow::Borrowed(object) } else { Cow::Owned(converted(object.clone(), to)) }
}

/// An event with the names of the core group, whichever group it is shown in; any other object as it is.
pub(crate) fn core_event<'a>(object: &'a Value, of: &Resource) -> Cow<'a, Value> {
    if (of.group.as_str(), of.kind.as_str()) != ("events.k8s.io", "Event") {
        return Cow::Borrowed(object);
    }
    let mut event = object.clone();
    event::to_core(&mut event);
    Cow::Owned(event)
}

/// The object in another version of its resource.
pub(crate) fn converted(mut object: Value, to: &Resource) -> Value {
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
