//! How objects go: at once, after their grace period, or when their finalizers are gone.

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};
use webhook::field::{Error, Path};

use crate::clock::rfc3339;
use crate::crd;
use crate::http::query;
use crate::http::status::Status;
use crate::object::meta;
use crate::registry::ServedResource;

/// What a deletion is asked to do.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct DeleteOptions {
    /// How long the object may take to go.
    pub(crate) grace_period_seconds: Option<i64>,
    /// What the object must be.
    pub(crate) preconditions: Option<Preconditions>,
    /// `Background`, `Foreground`, `Orphan`.
    pub(crate) propagation_policy: Option<String>,
    /// The older form of `Orphan`.
    pub(crate) orphan_dependents: Option<bool>,
    /// `All`.
    pub(crate) dry_run: Vec<String>,
}

/// What an object must be to be deleted.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Preconditions {
    /// This very object.
    pub(crate) uid: Option<String>,
    /// In this very state.
    pub(crate) resource_version: Option<String>,
}

/// The finalizer of an object that waits for its dependents to go.
pub(crate) const FOREGROUND: &str = "foregroundDeletion";
/// The finalizer of an object whose dependents are to stay.
pub(crate) const ORPHAN: &str = "orphan";

/// What a deletion makes of an object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// It goes; this is its last state.
    Gone(Value),
    /// It goes, as a policy lets it; this is its last state.
    Freed(Value),
    /// It is marked and goes at once, which are two writes.
    Graceful(Value),
    /// It is marked, and goes when whoever holds it lets go.
    Marked(Value),
    /// It is marked already.
    Pending,
}

impl DeleteOptions {
    /// Refuses policies and directives that nobody knows, and two policies at once.
    pub(crate) fn check(&self) -> Result<(), Status> {
        let mut errors = Vec::new();
        if let Some(policy) = self.propagation_policy.as_deref() {
            let at = Path::new("propagationPolicy");
            if self.orphan_dependents.is_some() {
                let why = "orphanDependents and deletionPropagation cannot be both set";
                errors.push(Error::invalid(&at, policy, why));
            }
            if !matches!(policy, "Foreground" | "Background" | "Orphan") {
                errors.push(Error::not_supported(
                    &at,
                    policy,
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

/// The next step of an object that is to be deleted.
pub(crate) fn step(target: &ServedResource, object: &Value, options: &DeleteOptions, now: Timestamp) -> Step {
    let grace = grace(target, object, options);
    let mut marked = object.clone();
    let changed = follow_policy(target, &mut marked, options);
    if target.table == "customresourcedefinitions.apiextensions.k8s.io" && !meta::is_terminating(object) {
        let held = meta::finalizers(&marked).into_iter().chain([crd::CLEANUP]).map(str::to_owned);
        let held: Vec<String> = held.collect();
        meta::set(&mut marked, "finalizers", held);
    }
    let held = !meta::finalizers(&marked).is_empty() || is_namespace(target) && !effects_free(object);
    if meta::is_terminating(object) {
        let left =
            meta::of(object).get("deletionGracePeriodSeconds").and_then(Value::as_i64).unwrap_or_default();
        let asked = options.grace_period_seconds.map(|seconds| if seconds < 0 { 1 } else { seconds });
        if left > 0 && asked.is_some_and(|asked| asked < left) {
            let asked = asked.unwrap_or_default();
            mark(&mut marked, asked, now);
            return if asked == 0 && !held { Step::Graceful(marked) } else { Step::Marked(marked) };
        }
        return match (left > 0 || held, changed) {
            (true, true) => Step::Marked(marked),
            (true, false) => Step::Pending,
            (false, true) => Step::Freed(object.clone()),
            (false, false) => Step::Gone(object.clone()),
        };
    }
    if grace > 0 || held {
        mark(&mut marked, grace, now);
        if meta::generation(object) > 0 {
            meta::set(&mut marked, "generation", meta::generation(object) + 1);
        }
        if is_namespace(target) {
            marked["status"]["phase"] = "Terminating".into();
            meta::of_mut(&mut marked).remove("deletionGracePeriodSeconds");
        }
        return Step::Marked(marked);
    }
    if target.table == "pods" {
        // It goes gracefully, if in no time.
        mark(&mut marked, 0, now);
        meta::set(&mut marked, "generation", meta::generation(object) + 1);
        return Step::Graceful(marked);
    }
    if changed { Step::Freed(object.clone()) } else { Step::Gone(object.clone()) }
}

/// Sets the finalizers that the garbage collector takes away again; whether that changed anything.
fn follow_policy(target: &ServedResource, object: &mut Value, options: &DeleteOptions) -> bool {
    let before: Vec<String> = meta::finalizers(object).into_iter().map(str::to_owned).collect();
    let has = |finalizer: &str| before.iter().any(|found| found == finalizer);
    let (orphan, foreground) = match (options.orphan_dependents, options.propagation_policy.as_deref()) {
        (Some(orphan), _) => (orphan, false),
        (None, Some("Orphan")) => (true, false),
        (None, Some("Foreground")) => (false, true),
        (None, Some(_)) => (false, false),
        (None, None) if has(ORPHAN) || has(FOREGROUND) => (has(ORPHAN), has(FOREGROUND)),
        // What jobs leave behind stays, as it did before there was a choice.
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

fn mark(object: &mut Value, grace: i64, now: Timestamp) {
    let at = now.checked_add(SignedDuration::from_secs(grace)).unwrap_or(now);
    meta::set(object, "deletionTimestamp", rfc3339(at));
    meta::set(object, "deletionGracePeriodSeconds", grace);
}

/// Only pods take time: as long as a node runs them.
fn grace(target: &ServedResource, object: &Value, options: &DeleteOptions) -> i64 {
    if target.table != "pods" {
        return 0;
    }
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let running =
        !text("/spec/nodeName").is_empty() && !matches!(text("/status/phase"), "Succeeded" | "Failed");
    let wanted = object.pointer("/spec/terminationGracePeriodSeconds").and_then(Value::as_i64);
    let asked = options.grace_period_seconds.or(wanted).unwrap_or(30);
    match (running, asked) {
        (false, _) => 0,
        (true, asked) if asked < 0 => 1,
        (true, asked) => asked,
    }
}

fn is_namespace(target: &ServedResource) -> bool {
    target.table == "namespaces"
}

fn effects_free(namespace: &Value) -> bool {
    namespace.pointer("/spec/finalizers").is_none_or(|list| list == &json!([]))
}
