//! One object in several versions: the shape is the same, and only what the object says of itself changes.

use std::borrow::Cow;

use schema::Resource;
use serde_json::Value;

/// The object as a version shows it.
pub(crate) fn shown<'a>(object: &'a Value, to: &Resource) -> Cow<'a, Value> {
    if is_of(object, to) { Cow::Borrowed(object) } else { Cow::Owned(converted(object.clone(), to)) }
}

/// The object in another version of its resource.
pub(crate) fn converted(mut object: Value, to: &Resource) -> Value {
    if !is_of(&object, to) {
        object["apiVersion"] = to.api_version().into();
        object["kind"] = to.kind.as_str().into();
    }
    object
}

fn is_of(object: &Value, resource: &Resource) -> bool {
    let api_version = object.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    (group, version) == (resource.group.as_str(), resource.version.as_str())
}
