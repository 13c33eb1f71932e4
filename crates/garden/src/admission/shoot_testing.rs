//! A garden in memory, for tests of the plugins of Shoots.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::{Value, json};
use webhook::rejection::Rejection;
use webhook::review::Operation;
use webhook::strategy::ObjectReader;

use super::shoot_support::SHOOTS;
use super::{Action, Attributes, Authorizer, User};

/// Objects, and what nobody may do.
pub(super) struct Stored {
    objects: BTreeMap<(String, String, String), Value>,
    denied: BTreeSet<String>,
    user: User,
}

/// A garden with the Project `dev`.
impl Default for Stored {
    fn default() -> Self {
        let empty = Self {
            objects: BTreeMap::new(),
            denied: BTreeSet::new(),
            user: User { name: "alice".to_owned(), groups: Vec::new() },
        };
        let project = json!({"metadata": {"name": "dev"}, "spec": {"namespace": "garden-dev"}});
        empty.with("projects.core.gardener.cloud", project)
    }
}

impl Stored {
    /// Adds an object of a resource, or replaces it.
    pub(super) fn with(mut self, resource: &str, object: Value) -> Self {
        let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
        self.objects.insert((resource.to_owned(), text("namespace"), text("name")), object);
        self
    }

    /// Adds a Shoot.
    pub(super) fn with_shoot(self, shoot: Value) -> Self {
        self.with(SHOOTS, shoot)
    }

    /// Takes all objects of a resource away.
    pub(super) fn without(mut self, resource: &str) -> Self {
        self.objects.retain(|(of, ..), _| of != resource);
        self
    }

    /// Denies `verb resource.group/subresource namespace/name`.
    pub(super) fn denying(mut self, action: &str) -> Self {
        self.denied.insert(action.to_owned());
        self
    }

    /// A request about the Shoot `garden-dev/app`.
    pub(super) fn attributes(&self, operation: Operation) -> Attributes<'_> {
        Attributes {
            operation,
            resource: SHOOTS,
            kind: "Shoot",
            subresource: "",
            namespace: "garden-dev",
            name: "app",
            old: None,
            user: &self.user,
            now: "2024-06-01T00:00:00Z".parse::<Timestamp>().unwrap(),
            objects: self,
            authorizer: self,
            random: &|below| below - 1,
        }
    }
}

/// The code and the message of a rejection; 0 without one.
pub(super) fn outcome(result: Result<(), Rejection>) -> (u16, String) {
    result.err().map_or((0, String::new()), |rejection| (rejection.code, rejection.message))
}

/// Merges a merge patch.
pub(super) fn merged(object: &Value, patch: &Value) -> Value {
    let (Some(fields), Some(changes)) = (object.as_object(), patch.as_object()) else { return patch.clone() };
    let mut fields = fields.clone();
    for (name, change) in changes {
        if change.is_null() {
            fields.remove(name);
        } else {
            let old = fields.remove(name).unwrap_or_else(|| json!({}));
            fields.insert(name.clone(), merged(&old, change));
        }
    }
    Value::Object(fields)
}

impl ObjectReader for Stored {
    fn get(&self, resource: &str, namespace: &str, name: &str) -> Option<Value> {
        self.objects.get(&(resource.to_owned(), namespace.to_owned(), name.to_owned())).cloned()
    }

    fn list(&self, resource: &str) -> Vec<Value> {
        let of_resource = self.objects.iter().filter(|((of, ..), _)| of == resource);
        of_resource.map(|(_, object)| object.clone()).collect()
    }
}

impl Authorizer for Stored {
    fn is_allowed(&self, _: &User, action: &Action<'_>) -> bool {
        let Action { verb, group, resource, subresource, namespace, name, .. } = action;
        !self.denied.contains(&format!("{verb} {resource}.{group}/{subresource} {namespace}/{name}"))
    }
}
