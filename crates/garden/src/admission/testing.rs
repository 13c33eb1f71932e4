//! A garden in memory, for tests of plugins.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::{Map, Value};
use webhook::review::Operation;
use webhook::strategy::ObjectReader;

use super::{Action, Attributes, Authorizer, User};
use crate::webhooks;

/// Objects, and what nobody may do.
pub(super) struct TestGarden {
    objects: BTreeMap<(String, String, String), Value>,
    denied: BTreeSet<String>,
    user: User,
}

impl Default for TestGarden {
    fn default() -> Self {
        Self {
            objects: BTreeMap::new(),
            denied: BTreeSet::new(),
            user: User { name: "alice".to_owned(), groups: vec!["devs".to_owned()] },
        }
    }
}

impl TestGarden {
    /// Adds an object of a resource.
    pub(super) fn with(mut self, resource: &str, object: Value) -> Self {
        let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
        self.objects.insert((resource.to_owned(), text("namespace"), text("name")), object);
        self
    }

    /// Denies everybody `verb group/version resource namespace/name`.
    pub(super) fn denying(mut self, action: &str) -> Self {
        self.denied.insert(action.to_owned());
        self
    }

    /// The requests are this user's.
    pub(super) fn asked_by(mut self, user: &str) -> Self {
        user.clone_into(&mut self.user.name);
        self
    }

    /// A request about an object, which names it and its namespace.
    pub(super) fn attributes<'a>(
        &'a self,
        operation: Operation,
        kind: &'a str,
        object: &'a Value,
    ) -> Attributes<'a> {
        let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default();
        let of_kind = webhooks::resources().find(|resource| resource.kind == kind).expect("a kind");
        let group = of_kind.api_version.split('/').next().expect("a group");
        Attributes {
            operation,
            resource: Box::leak(format!("{}.{group}", of_kind.plural).into_boxed_str()),
            kind,
            subresource: "",
            namespace: text("namespace"),
            name: text("name"),
            old: None,
            user: &self.user,
            now: Timestamp::UNIX_EPOCH,
            objects: self,
            authorizer: self,
            random: &|_| 0,
        }
    }
}

/// Changes an object as a merge patch does.
pub(super) fn merge(object: &mut Value, change: &Value) {
    let Value::Object(changes) = change else {
        *object = change.clone();
        return;
    };
    if !object.is_object() {
        *object = Value::Object(Map::new());
    }
    let fields = object.as_object_mut().expect("it is one");
    for (name, change) in changes {
        if change.is_null() {
            fields.remove(name);
        } else {
            merge(fields.entry(name).or_insert(Value::Null), change);
        }
    }
}

impl ObjectReader for TestGarden {
    fn get(&self, resource: &str, namespace: &str, name: &str) -> Option<Value> {
        self.objects.get(&(resource.to_owned(), namespace.to_owned(), name.to_owned())).cloned()
    }

    fn list(&self, resource: &str) -> Vec<Value> {
        let of_resource = self.objects.iter().filter(|((of, ..), _)| of == resource);
        of_resource.map(|(_, object)| object.clone()).collect()
    }
}

impl Authorizer for TestGarden {
    fn is_allowed(&self, _: &User, action: &Action<'_>) -> bool {
        let Action { verb, group, version, resource, namespace, name, .. } = action;
        !self.denied.contains(&format!("{verb} {group}/{version} {resource} {namespace}/{name}"))
    }
}
