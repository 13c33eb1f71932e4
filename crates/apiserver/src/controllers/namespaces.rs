//! The namespace controller: deletes the content of a namespace that goes, says what is left, and lets it go.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::News;
use super::client::{Client, Failed, path};
use crate::call;
use crate::clock::rfc3339;
use crate::object::meta;
use crate::state::Shared;

const CONTROLLER: &str = "namespace-controller";
const TABLE: &str = "namespaces";

/// The namespaces that are looked at again when their content changes.
#[derive(Debug, Default)]
pub(super) struct Namespaces {
    going: BTreeSet<String>,
    failed: BTreeSet<String>,
}

/// What is left in a namespace.
#[derive(Debug, Default)]
struct Left {
    /// By `plural.group`.
    objects: BTreeMap<String, usize>,
    /// By finalizer.
    finalizers: BTreeMap<String, usize>,
    /// Why something could not be deleted.
    errors: Vec<String>,
}

impl Namespaces {
    /// Lets namespaces go; whether something has to be tried again.
    pub(super) async fn work(&mut self, shared: &Shared, client: &Client, news: &[News]) -> bool {
        let mut due = std::mem::take(&mut self.failed);
        for told in news {
            if told.table == TABLE {
                let now = told.now.as_ref().filter(|now| meta::is_terminating(now.value()));
                match now {
                    Some(_) if self.going.insert(told.key.to_string()) => {
                        due.insert(told.key.to_string());
                    }
                    Some(_) => {}
                    None => {
                        self.going.remove(&*told.key);
                    }
                }
            } else if let (Some((namespace, _)), None) = (told.key.split_once('/'), &told.now)
                && self.going.contains(namespace)
            {
                due.insert(namespace.to_owned());
            }
        }
        for name in due {
            if empty(shared, client, &name).await.is_err_and(|error| !error.is_outdated()) {
                self.failed.insert(name);
            }
        }
        !self.failed.is_empty()
    }
}

/// Deletes what is in a namespace and, when nothing is left, takes its finalizer.
async fn empty(shared: &Shared, client: &Client, name: &str) -> Result<(), Failed> {
    let Some(namespace) = shared.store.get(TABLE, name) else { return Ok(()) };
    let finalizers = namespace.value().pointer("/spec/finalizers").and_then(Value::as_array);
    if !finalizers.is_some_and(|list| list.iter().any(|finalizer| finalizer == "kubernetes")) {
        return Ok(());
    }
    let left = delete_content(shared, client, name).await;
    let now = rfc3339(shared.clock.now());
    let mut value = namespace.value().clone();
    let conditions = conditions(&value, &left, &now);
    if value.pointer("/status/conditions") != Some(&conditions) {
        value["status"]["conditions"] = conditions;
        value = client.update(CONTROLLER, &format!("/api/v1/namespaces/{name}/status"), &value).await?;
    }
    if !left.errors.is_empty() {
        return Err(Failed::Refused { code: 500, message: left.errors.join(", ") });
    }
    if left.objects.is_empty() {
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

async fn delete_content(shared: &Shared, client: &Client, namespace: &str) -> Left {
    let mut left = Left::default();
    let prefix = call::key(true, namespace, "");
    let targets = shared.registry.served().stored();
    for target in targets.iter().filter(|target| target.resource.namespaced) {
        // Events are one table in two groups.
        if target.resource.group == "events.k8s.io" {
            continue;
        }
        let is_empty =
            |prefix: &str| shared.store.snapshot(&target.table).range(prefix, None).next().is_none();
        if is_empty(&prefix) {
            continue;
        }
        // Nobody runs pods here, so nobody would ever say that one has ended.
        let options = if target.table == "pods" { json!({"gracePeriodSeconds": 0}) } else { json!({}) };
        if let Err(error) = client.delete(CONTROLLER, &path(target, namespace, ""), &options).await {
            left.errors.push(error.to_string());
        }
        for (_, object) in shared.store.snapshot(&target.table).range(&prefix, None) {
            let name = format!("{}.{}", target.resource.plural, target.resource.group);
            *left.objects.entry(name).or_default() += 1;
            for finalizer in meta::finalizers(object.value()) {
                *left.finalizers.entry(finalizer.to_owned()).or_default() += 1;
            }
        }
    }
    left
}

/// The conditions of a namespace of which this is left, those that stay as they were with their time.
fn conditions(namespace: &Value, left: &Left, now: &str) -> Value {
    let counted = |counts: &BTreeMap<String, usize>, verb: &str| {
        let texts = counts.iter().map(|(name, count)| format!("{name} {verb} {count} resource instances"));
        texts.collect::<Vec<_>>().join(", ")
    };
    let failure = if left.errors.is_empty() {
        (
            "False",
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization".to_owned(),
        )
    } else {
        let remaining: usize = left.objects.values().sum();
        let errors = left.errors.join(", ");
        let message = format!("Failed to delete all resource types, {remaining} remaining: {errors}");
        ("True", "ContentDeletionFailed", message)
    };
    let content = if left.objects.is_empty() {
        ("False", "ContentRemoved", "All content successfully removed".to_owned())
    } else {
        let message = format!("Some resources are remaining: {}", counted(&left.objects, "has"));
        ("True", "SomeResourcesRemain", message)
    };
    let finalizers = if left.finalizers.is_empty() {
        ("False", "ContentHasNoFinalizers", "All content-preserving finalizers finished".to_owned())
    } else {
        let counts = counted(&left.finalizers, "in");
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
    all.into_iter().map(|(kind, said)| condition(namespace, kind, &said, now)).collect()
}

/// A condition: the one that is there, if it says the same.
fn condition(namespace: &Value, kind: &str, said: &(&str, &str, String), now: &str) -> Value {
    let (status, reason, message) = said;
    let fresh = json!({
        "type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": now,
    });
    let same = |known: &&Value| {
        ["type", "status", "reason", "message"].iter().all(|field| known[*field] == fresh[*field])
    };
    let known = namespace.pointer("/status/conditions").and_then(Value::as_array).into_iter().flatten();
    known.into_iter().find(same).cloned().unwrap_or(fresh)
}
