//! Deletion of objects: at once, after a grace period, or when their finalizers are removed.

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};
use webhook::field::{Error, Path, Shown};

use crate::clock::rfc3339;
use crate::crd;
use crate::http::query;
use crate::http::status::Status;
use crate::object::meta;
use crate::registry::ServedResource;

/// The options of a deletion.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct DeleteOptions {
    /// The grace period.
    pub(crate) grace_period_seconds: Option<i64>,
    /// The preconditions on the object.
    pub(crate) preconditions: Option<Preconditions>,
    /// `Background`, `Foreground`, `Orphan`.
    pub(crate) propagation_policy: Option<String>,
    /// The older form of `Orphan`.
    pub(crate) orphan_dependents: Option<bool>,
    /// `All`.
    pub(crate) dry_run: Vec<String>,
}

/// Preconditions on the object to delete.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Preconditions {
    /// The UID.
    pub(crate) uid: Option<String>,
    /// The resource version.
    pub(crate) resource_version: Option<String>,
}

/// The finalizer of an object that waits until its dependents are deleted.
pub(crate) const FOREGROUND: &str = "foregroundDeletion";
/// The finalizer of an object whose dependents are to be orphaned.
pub(crate) const ORPHAN: &str = "orphan";

/// The effect of a deletion on an object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum DeletionEffect {
    /// Remove it; this is its last state.
    Remove(Value),
    /// Remove it, after the propagation policy changed its finalizers; this is its last state.
    RemoveReleased(Value),
    /// Write it as terminating, then remove it.
    MarkAndRemove(Value),
    /// Write it as terminating; it is removed later.
    Mark(Value),
    /// Nothing: it is terminating already.
    Unchanged,
}

impl DeleteOptions {
    /// Rejects unknown policies and directives, and conflicting policies.
    pub(crate) fn check(&self) -> Result<(), Status> {
        let mut errors = Vec::new();
        if let Some(policy) = self.propagation_policy.as_deref() {
            let at = Path::new("propagationPolicy");
            if self.orphan_dependents.is_some() {
                let why = "orphanDependents and deletionPropagation cannot be both set";
                errors.push(Error::invalid(&at, Shown::named(policy), why));
            }
            if !matches!(policy, "Foreground" | "Background" | "Orphan") {
                errors.push(Error::not_supported(
                    &at,
                    Shown::named(policy),
                    &["Foreground", "Background", "Orphan", "nil"],
                ));
            }
        }
        errors.extend(query::dry_run_error(&self.dry_run));
        if errors.is_empty() {
            return Ok(());
        }
        Err(Status::invalid("meta.k8s.io", "DeleteOptions", "", &errors))
    }
}

/// The effect of a deletion on an object.
pub(crate) fn effect(
    target: &ServedResource,
    object: &Value,
    options: &DeleteOptions,
    now: Timestamp,
) -> DeletionEffect {
    use DeletionEffect::{Mark, MarkAndRemove, Remove, RemoveReleased, Unchanged};
    let grace = grace_period(target, object, options);
    let mut marked = object.clone();
    let changed = follow_policy(target, &mut marked, options);
    if target.table == "customresourcedefinitions.apiextensions.k8s.io" && !meta::is_terminating(object) {
        let finalizers = meta::finalizers(&marked).into_iter().chain([crd::CLEANUP]).map(str::to_owned);
        let finalizers: Vec<String> = finalizers.collect();
        meta::set(&mut marked, "finalizers", finalizers);
    }
    let has_finalizers =
        !meta::finalizers(&marked).is_empty() || is_namespace(target) && has_content_finalizers(object);
    if meta::is_terminating(object) && !is_graceful(target) && !is_namespace(target) {
        return terminated(object, marked, (has_finalizers, changed), now);
    }
    if meta::is_terminating(object) {
        let left =
            meta::of(object).get("deletionGracePeriodSeconds").and_then(Value::as_i64).unwrap_or_default();
        let requested = options.grace_period_seconds.map(|seconds| if seconds < 0 { 1 } else { seconds });
        if left > 0 && requested.is_some_and(|requested| requested < left) {
            let requested = requested.unwrap_or_default();
            mark_terminating(&mut marked, requested, now);
            return if requested == 0 && !has_finalizers { MarkAndRemove(marked) } else { Mark(marked) };
        }
        return match (left > 0 || has_finalizers, changed) {
            (true, true) => Mark(marked),
            (true, false) => Unchanged,
            (false, true) => RemoveReleased(object.clone()),
            (false, false) => Remove(object.clone()),
        };
    }
    if grace > 0 || has_finalizers {
        mark_terminating(&mut marked, grace, now);
        if meta::generation(object) > 0 {
            meta::set(&mut marked, "generation", meta::generation(object) + 1);
        }
        if is_namespace(target) {
            marked["status"]["phase"] = "Terminating".into();
            meta::of_mut(&mut marked).remove("deletionGracePeriodSeconds");
        }
        return Mark(marked);
    }
    if target.table == "pods" {
        // A pod is deleted gracefully even without a grace period.
        mark_terminating(&mut marked, 0, now);
        meta::set(&mut marked, "generation", meta::generation(object) + 1);
        return MarkAndRemove(marked);
    }
    if changed { RemoveReleased(object.clone()) } else { Remove(object.clone()) }
}

/// The effect on an object without grace period that is terminating already. One that a client created so may have a later
/// time and a grace period, which end now.
fn terminated(
    object: &Value,
    mut marked: Value,
    (has_finalizers, changed): (bool, bool),
    now: Timestamp,
) -> DeletionEffect {
    if !has_finalizers {
        return if changed {
            DeletionEffect::RemoveReleased(object.clone())
        } else {
            DeletionEffect::Remove(object.clone())
        };
    }
    let at = meta::text(object, "deletionTimestamp").parse::<Timestamp>();
    if at.is_ok_and(|at| at > now) {
        meta::set(&mut marked, "deletionTimestamp", rfc3339(now));
    }
    meta::set(&mut marked, "deletionGracePeriodSeconds", 0);
    if marked == *object { DeletionEffect::Unchanged } else { DeletionEffect::Mark(marked) }
}

/// Sets the garbage collector's finalizers as the policy demands; returns whether that changed anything.
fn follow_policy(target: &ServedResource, object: &mut Value, options: &DeleteOptions) -> bool {
    let before: Vec<String> = meta::finalizers(object).into_iter().map(str::to_owned).collect();
    let has = |finalizer: &str| before.iter().any(|found| found == finalizer);
    let (orphan, foreground) = match (options.orphan_dependents, options.propagation_policy.as_deref()) {
        (Some(orphan), _) => (orphan, false),
        (None, Some("Orphan")) => (true, false),
        (None, Some("Foreground")) => (false, true),
        (None, Some(_)) => (false, false),
        (None, None) if has(ORPHAN) || has(FOREGROUND) => (has(ORPHAN), has(FOREGROUND)),
        // Jobs orphan their pods by default, for compatibility.
        (None, None) => (target.table == "jobs.batch", false),
    };
    let mut after: Vec<String> = before
        .iter()
        .filter(|finalizer| !matches!(finalizer.as_str(), ORPHAN | FOREGROUND))
        .cloned()
        .collect();
    let added = [(orphan, ORPHAN), (foreground, FOREGROUND)];
    after.extend(added.into_iter().filter(|(wanted, _)| *wanted).map(|(_, finalizer)| finalizer.to_owned()));
    let same = after.len() == before.len() && after.iter().all(|finalizer| has(finalizer));
    if same {
        return false;
    }
    if after.is_empty() {
        meta::of_mut(object).remove("finalizers");
    } else {
        meta::set(object, "finalizers", after);
    }
    true
}

fn mark_terminating(object: &mut Value, grace: i64, now: Timestamp) {
    let at = now.checked_add(SignedDuration::from_secs(grace)).unwrap_or(now);
    meta::set(object, "deletionTimestamp", rfc3339(at));
    meta::set(object, "deletionGracePeriodSeconds", grace);
}

/// Whether objects of the kind are deleted gracefully, which are only pods.
fn is_graceful(target: &ServedResource) -> bool {
    target.table == "pods"
}

/// The grace period; only pods on a node have one.
fn grace_period(target: &ServedResource, object: &Value, options: &DeleteOptions) -> i64 {
    if !is_graceful(target) {
        return 0;
    }
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let running =
        !text("/spec/nodeName").is_empty() && !matches!(text("/status/phase"), "Succeeded" | "Failed");
    let default = object.pointer("/spec/terminationGracePeriodSeconds").and_then(Value::as_i64);
    let requested = options.grace_period_seconds.or(default).unwrap_or(30);
    match (running, requested) {
        (false, _) => 0,
        (true, requested) if requested < 0 => 1,
        (true, requested) => requested,
    }
}

fn is_namespace(target: &ServedResource) -> bool {
    target.table == "namespaces"
}

fn has_content_finalizers(namespace: &Value) -> bool {
    namespace.pointer("/spec/finalizers").is_some_and(|list| list != &json!([]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grace_period_that_a_client_set_ends_with_the_deletion() {
        let now: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let object = |at: &str, grace: i64| json!({"metadata": {"finalizers": ["a/b"], "deletionTimestamp": at, "deletionGracePeriodSeconds": grace}});
        let (past, later) = ("2020-01-01T00:00:00Z", "2030-01-01T00:00:00Z");
        let effect = |object: &Value| terminated(object, object.clone(), (true, false), now);
        assert_eq!(effect(&object(past, 5)), DeletionEffect::Mark(object(past, 0)));
        assert_eq!(effect(&object(later, 5)), DeletionEffect::Mark(object("2026-01-01T00:00:00Z", 0)));
        assert_eq!(effect(&object(past, 0)), DeletionEffect::Unchanged);
        let free = object(past, 5);
        assert_eq!(terminated(&free, free.clone(), (false, false), now), DeletionEffect::Remove(free));
    }
}
