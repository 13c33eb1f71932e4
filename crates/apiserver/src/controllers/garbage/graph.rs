//! The graph of owners and dependents of all objects, by UID.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;

use crate::object::meta;
use crate::object::removal::{FOREGROUND, ORPHAN};

/// An owner reference.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Owner {
    pub(super) api_version: String,
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) uid: String,
    pub(super) block_owner_deletion: bool,
}

/// An object of the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GraphNode {
    pub(super) table: String,
    pub(super) key: String,
    pub(super) owners: Vec<Owner>,
    pub(super) is_terminating: bool,
    pub(super) waits_for_dependents: bool,
    pub(super) orphans_dependents: bool,
}

/// All objects and their dependents.
#[derive(Debug, Default)]
pub(super) struct Graph {
    nodes: BTreeMap<String, GraphNode>,
    dependents: BTreeMap<String, BTreeSet<String>>,
}

impl GraphNode {
    pub(super) fn of(table: &str, key: &str, object: &Value) -> Self {
        let owners = meta::of(object).get("ownerReferences").cloned().unwrap_or_default();
        let finalizers = meta::finalizers(object);
        let is_terminating = meta::is_terminating(object);
        Self {
            table: table.to_owned(),
            key: key.to_owned(),
            owners: serde_json::from_value(owners).unwrap_or_default(),
            is_terminating,
            waits_for_dependents: is_terminating && finalizers.contains(&FOREGROUND),
            orphans_dependents: is_terminating && finalizers.contains(&ORPHAN),
        }
    }
}

impl GraphNode {
    /// Whether something may have to be done for it: it is being deleted in the foreground or with its dependents
    /// orphaned, or it has owners, which may be gone.
    pub(super) fn is_collectable(&self) -> bool {
        self.orphans_dependents
            || self.waits_for_dependents
            || !(self.is_terminating || self.owners.is_empty())
    }
}

impl Graph {
    /// The object with this UID.
    pub(super) fn node(&self, uid: &str) -> Option<&GraphNode> {
        self.nodes.get(uid)
    }

    /// The UIDs of the object's dependents.
    pub(super) fn dependents(&self, uid: &str) -> Vec<String> {
        self.dependents.get(uid).into_iter().flatten().cloned().collect()
    }

    /// Whether a dependent blocks the deletion of this object.
    pub(super) fn is_blocked(&self, uid: &str) -> bool {
        self.dependents(uid).iter().filter_map(|dependent| self.nodes.get(dependent)).any(|dependent| {
            dependent.owners.iter().any(|owner| owner.uid == uid && owner.block_owner_deletion)
        })
    }

    /// Adds or updates an object; returns the UIDs of the objects to process.
    pub(super) fn put(&mut self, uid: &str, node: GraphNode) -> Vec<String> {
        let mut due = vec![uid.to_owned()];
        let before = self.nodes.get(uid);
        if node.waits_for_dependents && !before.is_some_and(|before| before.waits_for_dependents) {
            due.extend(self.dependents(uid));
        }
        let old: Vec<Owner> = before.map(|before| before.owners.clone()).unwrap_or_default();
        for owner in old.iter().filter(|owner| !node.owners.iter().any(|kept| kept.uid == owner.uid)) {
            self.unlink(&owner.uid, uid);
        }
        for owner in &node.owners {
            self.dependents.entry(owner.uid.clone()).or_default().insert(uid.to_owned());
        }
        // An owner that waits for this object may not have to wait any more.
        due.extend(
            old.iter().chain(&node.owners).map(|owner| owner.uid.clone()).filter(|owner| self.waits(owner)),
        );
        self.nodes.insert(uid.to_owned(), node);
        due
    }

    /// Removes an object; returns the UIDs of the objects to process.
    pub(super) fn remove(&mut self, uid: &str) -> Vec<String> {
        let mut due = self.dependents(uid);
        if let Some(node) = self.nodes.remove(uid) {
            for owner in &node.owners {
                self.unlink(&owner.uid, uid);
            }
            let owners = node.owners.into_iter().map(|owner| owner.uid);
            due.extend(owners.filter(|owner| self.waits(owner)));
        }
        due
    }

    fn waits(&self, uid: &str) -> bool {
        self.nodes.get(uid).is_some_and(|node| node.waits_for_dependents)
    }

    fn unlink(&mut self, owner: &str, dependent: &str) {
        if let Some(dependents) = self.dependents.get_mut(owner) {
            dependents.remove(dependent);
            if dependents.is_empty() {
                self.dependents.remove(owner);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn node(owner: &str, finalizers: &[&str]) -> GraphNode {
        let owners =
            if owner.is_empty() { json!([]) } else { json!([{"uid": owner, "blockOwnerDeletion": true}]) };
        let deletion = if finalizers.is_empty() { Value::Null } else { json!("2026-01-01T00:00:00Z") };
        let metadata =
            json!({"ownerReferences": owners, "finalizers": finalizers, "deletionTimestamp": deletion});
        GraphNode::of("configmaps", "a/b", &json!({"metadata": metadata}))
    }

    #[test]
    fn a_change_returns_the_objects_to_process() {
        let mut graph = Graph::default();
        assert_eq!(graph.put("owner", node("", &[])), ["owner"]);
        assert_eq!(graph.put("d1", node("owner", &[])), ["d1"]);
        assert_eq!(graph.put("d2", node("owner", &[])), ["d2"]);
        assert_eq!(graph.dependents("owner"), ["d1", "d2"]);
        assert_eq!(graph.put("owner", node("", &[FOREGROUND])), ["owner", "d1", "d2"]);
        assert!(graph.is_blocked("owner"));
        assert_eq!(graph.remove("d1"), ["owner"]);
        assert_eq!(graph.put("d2", node("", &[])), ["d2", "owner"], "it belongs to nobody any more");
        assert!(!graph.is_blocked("owner"));
        assert_eq!(graph.remove("owner"), Vec::<String>::new());
    }

    #[test]
    fn a_removed_owner_returns_its_dependents() {
        let mut graph = Graph::default();
        graph.put("d1", node("owner", &[]));
        assert_eq!(graph.remove("owner"), ["d1"], "known or not");
    }
}
