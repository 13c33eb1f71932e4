//! Adapts the objects, which are those of the newest release, to older ones: their versions, their fields, and the
//! APIServices of the served group versions.

use schema::{Kinds, KubernetesVersion, Resource};
use serde_json::{Value, json};

use crate::convert;
use crate::object::fields;

/// The object in the version that a release stores, and its resource; absent if the release has no such object.
pub(super) fn of(kinds: &Kinds, mut object: Value) -> Option<(&Resource, Value)> {
    let text = |field: &str| object[field].as_str().unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    let resource = kinds.of_object(api_version, kind);
    if kinds.version().minor() == KubernetesVersion::DEFAULT.minor() {
        // A kind that the builder removed has no objects.
        return resource.map(|resource| (resource, object));
    }
    let (group, _) = api_version.split_once('/').unwrap_or_default();
    let resource = resource.or_else(|| kinds.preferred(group, kind))?;
    if kind == "APIService" && !is_served(kinds, &object) {
        return None;
    }
    for owner in
        object.pointer_mut("/metadata/managedFields").and_then(Value::as_array_mut).into_iter().flatten()
    {
        owner["apiVersion"] = resource.api_version().into();
    }
    let mut object = convert::into_version(object, resource);
    fields::drop_newer_fields(kinds, resource, &mut object);
    Some((resource, object))
}

/// The APIServices of group versions that the newest release does not serve, like one of its own.
pub(super) fn api_services(kinds: &Kinds, objects: &[Value]) -> Vec<Value> {
    let Some(model) = objects.iter().find(|object| object["kind"] == "APIService") else { return Vec::new() };
    let mut added = Vec::new();
    for group in kinds.groups() {
        for served in &group.versions {
            let Some((of_group, of_version)) = kinds.retired_priority(&group.name, &served.version) else {
                continue;
            };
            let mut object = model.clone();
            object["metadata"]["name"] = format!("{}.{}", served.version, group.name).into();
            object["spec"] = json!({
                "group": group.name, "groupPriorityMinimum": of_group, "version": served.version,
                "versionPriority": of_version,
            });
            added.push(object);
        }
    }
    added
}

/// Whether the group version of an APIService is served.
fn is_served(kinds: &Kinds, service: &Value) -> bool {
    let text = |field: &str| service["spec"][field].as_str().unwrap_or_default();
    let group = kinds.group(text("group"));
    group.is_some_and(|group| group.versions.iter().any(|served| served.version == text("version")))
}
