//! The garbage collector: deletes objects whose owners are gone, by the propagation policy of the owner's deletion.

mod graph;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::ObjectChange;
use super::client::{Client, RequestError, path};
use crate::call;
use crate::object::meta;
use crate::object::removal::{FOREGROUND, ORPHAN};
use crate::registry::ServedResource;
use crate::state::ServerState;

use graph::{Graph, GraphNode, Owner};

const CONTROLLER: &str = "generic-garbage-collector";

/// The graph, and the UIDs of objects to retry.
#[derive(Debug, Default)]
pub(super) struct Garbage {
    graph: Graph,
    failed: BTreeSet<String>,
}

/// The state of an owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OwnerState {
    /// It exists.
    Solid,
    /// It does not exist.
    Dangling,
    /// It will be deleted when its dependents are gone.
    WaitingForDependents,
    /// Unknown: its kind is not served, or a cluster-scoped object names a namespaced owner.
    Unknown,
}

impl Garbage {
    /// Processes all changed objects; returns whether a retry is necessary.
    pub(super) async fn sync(
        &mut self,
        shared: &ServerState,
        client: &Client,
        changes: &[ObjectChange],
    ) -> bool {
        let mut due = Vec::from_iter(std::mem::take(&mut self.failed));
        for change in changes {
            due.extend(self.update_graph(change));
        }
        let mut done = BTreeSet::new();
        for uid in due {
            if !done.insert(uid.clone()) {
                continue;
            }
            if self.process(shared, client, &uid).await.is_err_and(|error| !error.is_outdated()) {
                self.failed.insert(uid);
            }
        }
        !self.failed.is_empty()
    }

    fn update_graph(&mut self, change: &ObjectChange) -> Vec<String> {
        let uid = |object: &Value| meta::text(object, "uid").to_owned();
        if change.table == "events" {
            return Vec::new();
        }
        match (&change.now, &change.before) {
            (Some(now), _) => {
                let now = now.tree();
                self.graph.put(&uid(&now), GraphNode::of(&change.table, &change.key, &now))
            }
            (None, Some(before)) => self.graph.remove(&uid(&before.tree())),
            (None, None) => Vec::new(),
        }
    }

    async fn process(&self, shared: &ServerState, client: &Client, uid: &str) -> Result<(), RequestError> {
        let Some(node) = self.graph.node(uid).filter(|node| node.is_collectable()) else { return Ok(()) };
        let found = shared.store.get(&node.table, &node.key);
        let Some(found) = found.filter(|found| meta::text(found.value(), "uid") == uid) else {
            return Ok(());
        };
        let Some(target) =
            shared.registry.served().stored().into_iter().find(|target| target.table == node.table)
        else {
            return Ok(());
        };
        let object = LiveObject { target: &target, value: found.value() };
        if node.orphans_dependents {
            return self.orphan(shared, client, uid, &object).await;
        }
        if node.waits_for_dependents {
            let blocked = self.graph.is_blocked(uid);
            return if blocked { Ok(()) } else { object.remove_finalizer(client, FOREGROUND).await };
        }
        self.collect(shared, client, (uid, node), &object).await
    }

    /// Deletes an object if none of its owners remains; otherwise removes the references to missing owners.
    async fn collect(
        &self,
        shared: &ServerState,
        client: &Client,
        (uid, node): (&str, &GraphNode),
        object: &LiveObject<'_>,
    ) -> Result<(), RequestError> {
        let owners: Vec<(&Owner, OwnerState)> =
            node.owners.iter().map(|owner| (owner, owner_state(shared, object, owner))).collect();
        let any = |wanted: OwnerState| owners.iter().any(|(_, found)| *found == wanted);
        if any(OwnerState::Unknown) {
            return Ok(());
        }
        if any(OwnerState::Solid) {
            let gone: Vec<&str> = owners
                .iter()
                .filter(|(_, found)| *found != OwnerState::Solid)
                .map(|(owner, _)| owner.uid.as_str())
                .collect();
            return if gone.is_empty() { Ok(()) } else { object.remove_owners(client, &gone).await };
        }
        let dependents = self.graph.dependents(uid);
        if any(OwnerState::WaitingForDependents) && !dependents.is_empty() {
            let in_cycle = |dependent: &String| {
                self.graph.node(dependent).is_some_and(|dependent| dependent.waits_for_dependents)
            };
            if dependents.iter().any(in_cycle) {
                // Otherwise each would wait for the other forever.
                object.clear_block_owner_deletion(client).await?;
            }
            return object.delete(client, "Foreground").await;
        }
        let finalizers = meta::finalizers(object.value);
        let policy = match () {
            () if finalizers.contains(&ORPHAN) => "Orphan",
            () if finalizers.contains(&FOREGROUND) => "Foreground",
            () => "Background",
        };
        object.delete(client, policy).await
    }

    /// Removes a deleted object from the owner references of its dependents, then removes its finalizer.
    async fn orphan(
        &self,
        shared: &ServerState,
        client: &Client,
        uid: &str,
        object: &LiveObject<'_>,
    ) -> Result<(), RequestError> {
        for dependent in self.graph.dependents(uid) {
            let Some(node) = self.graph.node(&dependent) else { continue };
            let stored = shared.registry.served().stored();
            let target = stored.iter().find(|target| target.table == node.table);
            let found = shared.store.get(&node.table, &node.key);
            if let (Some(target), Some(found)) = (target, found) {
                let dependent = LiveObject { target, value: found.value() };
                let outcome = dependent.remove_owners(client, &[uid]).await;
                // A dependent that is gone needs no change.
                if !matches!(outcome, Err(RequestError::Refused { code: 404, .. })) {
                    outcome?;
                }
            }
        }
        object.remove_finalizer(client, ORPHAN).await
    }
}

/// A stored object and its resource.
struct LiveObject<'a> {
    target: &'a ServedResource,
    value: &'a Value,
}

impl LiveObject<'_> {
    fn path(&self) -> String {
        path(self.target, meta::namespace(self.value), meta::name(self.value))
    }

    async fn delete(&self, client: &Client, policy: &str) -> Result<(), RequestError> {
        let preconditions = json!({
            "uid": meta::text(self.value, "uid"), "resourceVersion": meta::text(self.value, "resourceVersion"),
        });
        let options = json!({
            "kind": "DeleteOptions", "apiVersion": "v1", "preconditions": preconditions, "propagationPolicy": policy,
        });
        client.delete(CONTROLLER, &self.path(), &options).await.map(drop)
    }

    async fn remove_finalizer(&self, client: &Client, finalizer: &str) -> Result<(), RequestError> {
        let kept: Vec<&str> =
            meta::finalizers(self.value).into_iter().filter(|found| *found != finalizer).collect();
        self.patch(client, json!({"finalizers": kept})).await
    }

    async fn remove_owners(&self, client: &Client, uids: &[&str]) -> Result<(), RequestError> {
        let gone = |owner: &Value| owner["uid"].as_str().is_some_and(|uid| uids.contains(&uid));
        let kept: Vec<Value> = self.owners().into_iter().filter(|owner| !gone(owner)).collect();
        self.patch(client, json!({"ownerReferences": kept})).await
    }

    async fn clear_block_owner_deletion(&self, client: &Client) -> Result<(), RequestError> {
        let mut owners = self.owners();
        for owner in owners.iter_mut().filter(|owner| owner["blockOwnerDeletion"] == true) {
            owner["blockOwnerDeletion"] = false.into();
        }
        self.patch(client, json!({"ownerReferences": owners})).await
    }

    fn owners(&self) -> Vec<Value> {
        let owners = meta::of(self.value).get("ownerReferences").and_then(Value::as_array);
        owners.cloned().unwrap_or_default()
    }

    async fn patch(&self, client: &Client, mut metadata: Value) -> Result<(), RequestError> {
        metadata["uid"] = meta::text(self.value, "uid").into();
        metadata["resourceVersion"] = meta::text(self.value, "resourceVersion").into();
        client.patch(CONTROLLER, &self.path(), &json!({"metadata": metadata})).await.map(drop)
    }
}

/// Looks an owner up in the namespace of its dependent; its UID must match.
fn owner_state(shared: &ServerState, dependent: &LiveObject<'_>, owner: &Owner) -> OwnerState {
    let served = shared.registry.served();
    let (group, version) = owner.api_version.split_once('/').unwrap_or(("", &owner.api_version));
    let kind = served.kinds.resources().find(|resource| {
        resource.group == group && resource.version == version && resource.kind == owner.kind
    });
    let Some(kind) = kind else { return OwnerState::Unknown };
    let namespace = meta::namespace(dependent.value);
    if kind.namespaced && namespace.is_empty() {
        return OwnerState::Unknown;
    }
    let Some(target) = served.target(group, version, &kind.plural) else { return OwnerState::Unknown };
    let found = shared.store.get(&target.table, &call::key(kind.namespaced, namespace, &owner.name));
    match found.filter(|found| meta::text(found.value(), "uid") == owner.uid) {
        None => OwnerState::Dangling,
        Some(found) if GraphNode::of("", "", found.value()).waits_for_dependents => {
            OwnerState::WaitingForDependents
        }
        Some(_) => OwnerState::Solid,
    }
}
