//! Objects of the runtime cluster that renderings take something over from: replicas that an autoscaler has chosen, schedules
//! that never change.

use std::collections::BTreeMap;

use serde_json::Value;

use super::rendering::ObjectName;

/// Objects in the namespace `garden` that exist when a component is rendered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExistingObjects(pub BTreeMap<ObjectName, Value>);

impl ExistingObjects {
    /// An object.
    #[must_use]
    pub fn get(&self, api_version: &str, kind: &str, name: &str) -> Option<&Value> {
        self.0.get(&ObjectName::in_garden(api_version, kind, name))
    }

    /// The requests of a container of a workload, such as `Deployment`.
    #[must_use]
    pub fn requests(&self, kind: &str, workload: &str, container: &str) -> Option<&Value> {
        let workload = self.get("apps/v1", kind, workload)?;
        let containers = workload["spec"]["template"]["spec"]["containers"].as_array()?;
        containers.iter().find(|known| known["name"] == container)?["resources"].get("requests")
    }
}

/// Sets what an existing object has at these JSON pointers and the rendered one has not to null: a merge patch removes it. They lead
/// through maps.
pub fn remove_stale(rendered: &mut Value, existing: Option<&Value>, pointers: &[&str]) {
    let Some(existing) = existing else { return };
    for pointer in pointers {
        let is_there = existing.pointer(pointer).is_some_and(|value| !value.is_null());
        if is_there && rendered.pointer(pointer).is_none() {
            set_null(rendered, pointer);
        }
    }
}

fn set_null(object: &mut Value, pointer: &str) {
    let mut place = object;
    for key in pointer.split('/').skip(1) {
        place = &mut place[key.replace("~1", "/")];
    }
    *place = Value::Null;
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn requests_are_those_of_the_named_container() {
        let containers = json!([
            { "name": "a" },
            { "name": "b", "resources": { "requests": { "cpu": "1" }, "limits": { "cpu": "2" } } },
        ]);
        let object = json!({ "spec": { "template": { "spec": { "containers": containers } } } });
        let name = ObjectName::in_garden("apps/v1", "Deployment", "d");
        let existing = ExistingObjects(BTreeMap::from([(name, object)]));
        assert_eq!(existing.requests("Deployment", "d", "b"), Some(&json!({ "cpu": "1" })));
        for (kind, workload, container) in [
            ("Deployment", "d", "a"),
            ("Deployment", "d", "c"),
            ("Deployment", "e", "b"),
            ("StatefulSet", "d", "b"),
        ] {
            assert_eq!(existing.requests(kind, workload, container), None, "{kind} {workload} {container}");
        }
    }

    #[test]
    fn only_what_exists_is_removed() {
        let existing = json!({ "a": { "kept": 1, "x/y": 2, "null": null }, "b": { "c": 3 } });
        let rendered = json!({ "a": { "kept": 4 } });
        let pointers = ["/a/kept", "/a/x~1y", "/a/null", "/b/c", "/d"];
        let mut changed = rendered.clone();
        remove_stale(&mut changed, Some(&existing), &pointers);
        assert_eq!(changed, json!({ "a": { "kept": 4, "x/y": null }, "b": { "c": null } }));
        let mut unchanged = rendered.clone();
        remove_stale(&mut unchanged, None, &pointers);
        assert_eq!(unchanged, rendered);
    }
}
