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
}
