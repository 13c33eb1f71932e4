//! The garbage collector: what belongs to nobody that is there goes, by the policy that its owner was deleted with.

mod graph;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::News;
use super::client::{Client, Failed, path};
use crate::call;
use crate::object::meta;
use crate::object::removal::{FOREGROUND, ORPHAN};
use crate::registry::ServedResource;
use crate::state::Shared;

use graph::{Graph, Node, Owner};

const CONTROLLER: &str = "generic-garbage-collector";

/// The graph, and what has to be looked at again.
#[derive(Debug, Default)]
pub(super) struct Garbage {
    graph: Graph,
    failed: BTreeSet<String>,
}

/// How an owner stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// It is there.
    Solid,
    /// It is not.
    Dangling,
    /// It goes as soon as its dependents are gone.
    Waiting,
    /// Nobody can say: a cluster-scoped object names an owner of a kind that has namespaces, or of none.
    Unknown,
}

impl Garbage {
    /// Deletes, orphans and lets go; whether something has to be tried again.
    pub(super) async fn work(&mut self, shared: &Shared, client: &Client, news: &[News]) -> bool {
        let mut due = Vec::from_iter(std::mem::take(&mut self.failed));
        for told in news {
            due.extend(self.learn(told));
        }
        let mut done = BTreeSet::new();
        for uid in due {
            if !done.insert(uid.clone()) {
                continue;
            }
            if self.look_at(shared, client, &uid).await.is_err_and(|error| !error.is_outdated()) {
                self.failed.insert(uid);
            }
        }
        !self.failed.is_empty()
    }

    fn learn(&mut self, told: &News) -> Vec<String> {
        let uid = |object: &Value| meta::text(object, "uid").to_owned();
        if told.table == "events" {
            return Vec::new();
        }
        match (&told.now, &told.before) {
            (Some(now), _) => {
                self.graph.put(&uid(now.value()), Node::of(&told.table, &told.key, now.value()))
            }
            (None, Some(before)) => self.graph.remove(&uid(before.value())),
            (None, None) => Vec::new(),
        }
    }

    async fn look_at(&self, shared: &Shared, client: &Client, uid: &str) -> Result<(), Failed> {
        let Some(node) = self.graph.node(uid) else { return Ok(()) };
        let found = shared.store.get(&node.table, &node.key);
        let Some(found) = found.filter(|found| meta::text(found.value(), "uid") == uid) else {
            return Ok(());
        };
        let Some(target) =
            shared.registry.served().stored().into_iter().find(|target| target.table == node.table)
        else {
            return Ok(());
        };
        let object = Item { target: &target, value: found.value() };
        if node.lets_dependents_stay {
            return self.orphan(shared, client, uid, &object).await;
        }
        if node.waits_for_dependents {
            let blocked = self.graph.is_blocked(uid);
            return if blocked { Ok(()) } else { object.without_finalizer(client, FOREGROUND).await };
        }
        if node.is_terminating || node.owners.is_empty() {
            return Ok(());
        }
        self.collect(shared, client, (uid, node), &object).await
    }

    /// Deletes an object of whose owners none stays; takes away those that do not.
    async fn collect(
        &self,
        shared: &Shared,
        client: &Client,
        (uid, node): (&str, &Node),
        object: &Item<'_>,
    ) -> Result<(), Failed> {
        let standings: Vec<(&Owner, Standing)> =
            node.owners.iter().map(|owner| (owner, standing(shared, object, owner))).collect();
        let are = |wanted: Standing| standings.iter().any(|(_, found)| *found == wanted);
        if are(Standing::Unknown) {
            return Ok(());
        }
        if are(Standing::Solid) {
            let gone: Vec<&str> = standings
                .iter()
                .filter(|(_, found)| *found != Standing::Solid)
                .map(|(owner, _)| owner.uid.as_str())
                .collect();
            return if gone.is_empty() { Ok(()) } else { object.without_owners(client, &gone).await };
        }
        let dependents = self.graph.dependents(uid);
        if are(Standing::Waiting) && !dependents.is_empty() {
            let circle = |dependent: &String| {
                self.graph.node(dependent).is_some_and(|dependent| dependent.waits_for_dependents)
            };
            if dependents.iter().any(circle) {
                // Each would wait for the other for ever.
                object.unblocking(client).await?;
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

    /// Takes a deleted object out of the owners of its dependents, and lets it go.
    async fn orphan(
        &self,
        shared: &Shared,
        client: &Client,
        uid: &str,
        object: &Item<'_>,
    ) -> Result<(), Failed> {
        for dependent in self.graph.dependents(uid) {
            let Some(node) = self.graph.node(&dependent) else { continue };
            let stored = shared.registry.served().stored();
            let target = stored.iter().find(|target| target.table == node.table);
            let found = shared.store.get(&node.table, &node.key);
            if let (Some(target), Some(found)) = (target, found) {
                let dependent = Item { target, value: found.value() };
                let outcome = dependent.without_owners(client, &[uid]).await;
                // One that is gone needs no owner.
                if !matches!(outcome, Err(Failed::Refused { code: 404, .. })) {
                    outcome?;
                }
            }
        }
        object.without_finalizer(client, ORPHAN).await
    }
}

/// An object that is there.
struct Item<'a> {
    target: &'a ServedResource,
    value: &'a Value,
}

impl Item<'_> {
    fn path(&self) -> String {
        path(self.target, meta::namespace(self.value), meta::name(self.value))
    }

    async fn delete(&self, client: &Client, policy: &str) -> Result<(), Failed> {
        let preconditions = json!({
            "uid": meta::text(self.value, "uid"), "resourceVersion": meta::text(self.value, "resourceVersion"),
        });
        let options = json!({
            "kind": "DeleteOptions", "apiVersion": "v1", "preconditions": preconditions, "propagationPolicy": policy,
        });
        client.delete(CONTROLLER, &self.path(), &options).await.map(drop)
    }

    async fn without_finalizer(&self, client: &Client, finalizer: &str) -> Result<(), Failed> {
        let kept: Vec<&str> =
            meta::finalizers(self.value).into_iter().filter(|found| *found != finalizer).collect();
        self.patch(client, json!({"finalizers": kept})).await
    }

    async fn without_owners(&self, client: &Client, uids: &[&str]) -> Result<(), Failed> {
        let gone = |owner: &Value| owner["uid"].as_str().is_some_and(|uid| uids.contains(&uid));
        let kept: Vec<Value> = self.owners().into_iter().filter(|owner| !gone(owner)).collect();
        self.patch(client, json!({"ownerReferences": kept})).await
    }

    async fn unblocking(&self, client: &Client) -> Result<(), Failed> {
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

    async fn patch(&self, client: &Client, mut metadata: Value) -> Result<(), Failed> {
        metadata["uid"] = meta::text(self.value, "uid").into();
        metadata["resourceVersion"] = meta::text(self.value, "resourceVersion").into();
        client.patch(CONTROLLER, &self.path(), &json!({"metadata": metadata})).await.map(drop)
    }
}

/// How an owner stands: it is looked for in the namespace of its dependent, and must be the very one.
fn standing(shared: &Shared, dependent: &Item<'_>, owner: &Owner) -> Standing {
    let served = shared.registry.served();
    let (group, version) = owner.api_version.split_once('/').unwrap_or(("", &owner.api_version));
    let kind = served.kinds.resources().find(|resource| {
        resource.group == group && resource.version == version && resource.kind == owner.kind
    });
    let Some(kind) = kind else { return Standing::Unknown };
    let namespace = meta::namespace(dependent.value);
    if kind.namespaced && namespace.is_empty() {
        return Standing::Unknown;
    }
    let Some(target) = served.target(group, version, &kind.plural) else { return Standing::Unknown };
    let found = shared.store.get(&target.table, &call::key(kind.namespaced, namespace, &owner.name));
    match found.filter(|found| meta::text(found.value(), "uid") == owner.uid) {
        None => Standing::Dangling,
        Some(found) if Node::of("", "", found.value()).waits_for_dependents => Standing::Waiting,
        Some(_) => Standing::Solid,
    }
}
