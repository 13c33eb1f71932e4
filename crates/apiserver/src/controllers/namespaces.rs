//! The namespace controller: deletes the content of terminating namespaces, sets their conditions, and removes their
//! finalizer.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::ObjectChange;
use super::client::{Client, RequestError, path};
use crate::call;
use crate::clock::rfc3339;
use crate::object::meta;
use crate::state::ServerState;

const CONTROLLER: &str = "namespace-controller";
const TABLE: &str = "namespaces";

/// The terminating namespaces, which are processed again when their content changes.
#[derive(Debug, Default)]
pub(super) struct Namespaces {
    terminating: BTreeSet<String>,
    failed: BTreeSet<String>,
}

/// The remaining content of a namespace.
#[derive(Debug, Default)]
struct RemainingContent {
    /// Counts by `plural.group`.
    objects: BTreeMap<String, usize>,
    /// Counts by finalizer.
    finalizers: BTreeMap<String, usize>,
    /// Errors of deletions.
    errors: Vec<String>,
}

impl Namespaces {
    /// Processes terminating namespaces; returns whether a retry is necessary.
    pub(super) async fn sync(
        &mut self,
        shared: &ServerState,
        client: &Client,
        changes: &[ObjectChange],
    ) -> bool {
        let mut due = std::mem::take(&mut self.failed);
        for change in changes {
            if change.table == TABLE {
                let now = change.now.as_ref().filter(|now| meta::is_terminating(now.value()));
                match now {
                    Some(_) if self.terminating.insert(change.key.to_string()) => {
                        due.insert(change.key.to_string());
                    }
                    Some(_) => {}
                    None => {
                        self.terminating.remove(&*change.key);
                    }
                }
            } else if let (Some((namespace, _)), None) = (change.key.split_once('/'), &change.now)
                && self.terminating.contains(namespace)
            {
                due.insert(namespace.to_owned());
            }
        }
        for name in due {
            if sync_namespace(shared, client, &name).await.is_err_and(|error| !error.is_outdated()) {
                self.failed.insert(name);
            }
        }
        !self.failed.is_empty()
    }
}

/// Deletes the content of a namespace; removes its finalizer if nothing remains.
async fn sync_namespace(shared: &ServerState, client: &Client, name: &str) -> Result<(), RequestError> {
    let Some(namespace) = shared.store.get(TABLE, name) else { return Ok(()) };
    let finalizers = namespace.value().pointer("/spec/finalizers").and_then(Value::as_array);
    if !finalizers.is_some_and(|list| list.iter().any(|finalizer| finalizer == "kubernetes")) {
        return Ok(());
    }
    let remaining = delete_content(shared, client, name).await;
    let now = rfc3339(shared.clock.now());
    let mut value = namespace.value().clone();
    let conditions = conditions(&value, &remaining, &now);
    if value.pointer("/status/conditions") != Some(&conditions) {
        value["status"]["conditions"] = conditions;
        value = client.update(CONTROLLER, &format!("/api/v1/namespaces/{name}/status"), &value).await?;
    }
    if !remaining.errors.is_empty() {
        return Err(RequestError::Refused { code: 500, message: remaining.errors.join(", ") });
    }
    if remaining.objects.is_empty() {
        let kept: Vec<Value> = value
            .pointer("/spec/finalizers")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter(|finalizer| *finalizer != "kubernetes")
            .cloned()
            .collect();
        value["spec"] = json!({"finalizers": kept});
        client.update(CONTROLLER, &format!("/api/v1/namespaces/{name}/finalize"), &value).await?;
    }
    Ok(())
}

async fn delete_content(shared: &ServerState, client: &Client, namespace: &str) -> RemainingContent {
    let mut remaining = RemainingContent::default();
    let prefix = call::key(true, namespace, "");
    let targets = shared.registry.served().stored();
    for target in targets.iter().filter(|target| target.resource.namespaced) {
        // Both groups of events share one table.
        if target.resource.group == "events.k8s.io" {
            continue;
        }
        let is_empty =
            |prefix: &str| shared.store.snapshot(&target.table).range(prefix, None).next().is_none();
        if is_empty(&prefix) {
            continue;
        }
        // No kubelet runs here that would confirm the termination of pods.
        let options = if target.table == "pods" { json!({"gracePeriodSeconds": 0}) } else { json!({}) };
        if let Err(error) = client.delete(CONTROLLER, &path(target, namespace, ""), &options).await {
            remaining.errors.push(error.to_string());
        }
        for (_, object) in shared.store.snapshot(&target.table).range(&prefix, None) {
            let name = format!("{}.{}", target.resource.plural, target.resource.group);
            *remaining.objects.entry(name).or_default() += 1;
            for finalizer in meta::finalizers(&object.tree()) {
                *remaining.finalizers.entry(finalizer.to_owned()).or_default() += 1;
            }
        }
    }
    remaining
}

/// The namespace's conditions for this remaining content; unchanged ones keep their time.
fn conditions(namespace: &Value, remaining: &RemainingContent, now: &str) -> Value {
    let join_counts = |counts: &BTreeMap<String, usize>, verb: &str| {
        let texts = counts.iter().map(|(name, count)| format!("{name} {verb} {count} resource instances"));
        texts.collect::<Vec<_>>().join(", ")
    };
    let failure = if remaining.errors.is_empty() {
        (
            "False",
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization".to_owned(),
        )
    } else {
        let count: usize = remaining.objects.values().sum();
        let errors = remaining.errors.join(", ");
        let message = format!("Failed to delete all resource types, {count} remaining: {errors}");
        ("True", "ContentDeletionFailed", message)
    };
    let content = if remaining.objects.is_empty() {
        ("False", "ContentRemoved", "All content successfully removed".to_owned())
    } else {
        let message = format!("Some resources are remaining: {}", join_counts(&remaining.objects, "has"));
        ("True", "SomeResourcesRemain", message)
    };
    let finalizers = if remaining.finalizers.is_empty() {
        ("False", "ContentHasNoFinalizers", "All content-preserving finalizers finished".to_owned())
    } else {
        let counts = join_counts(&remaining.finalizers, "in");
        let message = format!("Some content in the namespace has finalizers remaining: {counts}");
        ("True", "SomeFinalizersRemain", message)
    };
    let discovered = "All resources successfully discovered".to_owned();
    let parsed = "All legacy kube types successfully parsed".to_owned();
    let all = [
        ("NamespaceDeletionDiscoveryFailure", ("False", "ResourcesDiscovered", discovered)),
        ("NamespaceDeletionGroupVersionParsingFailure", ("False", "ParsedGroupVersions", parsed)),
        ("NamespaceDeletionContentFailure", failure),
        ("NamespaceContentRemaining", content),
        ("NamespaceFinalizersRemaining", finalizers),
    ];
    all.into_iter().map(|(kind, content)| condition(namespace, kind, &content, now)).collect()
}

/// The existing condition if it is unchanged, otherwise a new one.
fn condition(namespace: &Value, kind: &str, content: &(&str, &str, String), now: &str) -> Value {
    let (status, reason, message) = content;
    let new = json!({
        "type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": now,
    });
    let same = |known: &&Value| {
        ["type", "status", "reason", "message"].iter().all(|field| known[*field] == new[*field])
    };
    let known = namespace.pointer("/status/conditions").and_then(Value::as_array).into_iter().flatten();
    known.into_iter().find(same).cloned().unwrap_or(new)
}
