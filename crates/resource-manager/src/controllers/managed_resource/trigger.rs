//! Which changes trigger a pass.

use std::sync::Arc;
use std::time::Duration;

use controller::{Event, Index, Request};
use jiff::Timestamp;
use kube::{Resource, ResourceExt as _};

use super::purpose::operation;
use crate::condition::{Condition, RESOURCES_HEALTHY, Status};
use crate::managed_resource::{Class, ManagedResource};

/// Operations that trigger a pass.
const TRIGGERING_OPERATIONS: [&str; 3] =
    [api::gardener::OPERATION_RECONCILE, api::gardener::OPERATION_RESTORE, api::gardener::OPERATION_MIGRATE];

/// Whether a change of a ManagedResource triggers a pass: GRM-MR-170, GRM-MR-171, GRM-MR-173 and GRM-MR-174.
#[must_use]
pub(super) fn triggers_pass(class: &Class, event: &Event<ManagedResource>) -> bool {
    let new = event.object();
    if !is_relevant(class, new) {
        return false;
    }
    let Some(old) = event.old() else { return true };
    let got_ignored = !old.is_ignored() && new.is_ignored();
    let changed = old.metadata.generation != new.metadata.generation
        || operation(new).is_some_and(|operation| TRIGGERING_OPERATIONS.contains(&operation))
        || became_unhealthy(old, new)
        || (old.is_ignored() && !new.is_ignored());
    got_ignored || (changed && is_processed(new))
}

/// The ManagedResources that refer to a Secret: GRM-MR-175.
pub(super) fn referring<K: Resource>(
    class: Class,
    by_secret: Index<ManagedResource>,
) -> impl Fn(&K) -> Vec<Request> + Send + Sync {
    move |secret| {
        let key = secret_key(&secret.namespace().unwrap_or_default(), &secret.name_any());
        let found = by_secret.get(&key).into_iter();
        let processed = found.filter(|object| is_relevant(&class, object) && is_processed(object));
        processed.map(|object: Arc<ManagedResource>| Request::of(&*object)).collect()
    }
}

/// Index keys of a ManagedResource: its Secrets.
#[must_use]
pub(super) fn secret_keys(object: &ManagedResource) -> Vec<String> {
    let namespace = object.namespace().unwrap_or_default();
    object.secret_names().map(|name| secret_key(&namespace, name)).collect()
}

fn secret_key(namespace: &str, name: &str) -> String {
    format!("{namespace}/{name}")
}

fn is_relevant(class: &Class, object: &ManagedResource) -> bool {
    class.may_act(object) || class.is_responsible(object)
}

fn is_processed(object: &ManagedResource) -> bool {
    !object.is_ignored() || object.metadata.deletion_timestamp.is_some()
}

/// GRM-MR-173 and GRM-HLT-071: whether the health condition became false, after being true or unknown.
fn became_unhealthy(old: &ManagedResource, new: &ManagedResource) -> bool {
    let healthy = |object: &ManagedResource| {
        Condition::find(&object.status.conditions, RESOURCES_HEALTHY).map(|condition| condition.status)
    };
    matches!(healthy(old), None | Some(Status::True)) && healthy(new) == Some(Status::False)
}

/// GRM-HLT-071: whether an object has been missing for no longer than this, as the health controller says. Its watches may be
/// ahead of those that a pass compares with, which then still have the object.
#[must_use]
pub(super) fn is_missing_since(object: &ManagedResource, now: Timestamp, longest: Duration) -> bool {
    let Some(health) = Condition::find(&object.status.conditions, RESOURCES_HEALTHY) else { return false };
    let since = health.last_transition_time.map(|time| now.duration_since(time.0));
    health.status == Status::False
        && health.reason.ends_with("Missing")
        && since.is_some_and(|since| since.unsigned_abs() <= longest)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn event(old: Value, new: Value) -> Event<ManagedResource> {
        let read = |object| Arc::new(serde_json::from_value(object).unwrap());
        Event::Update { old: read(old), new: read(new) }
    }

    fn healthy(status: &str) -> Value {
        json!({"status": {"conditions": [{"type": "ResourcesHealthy", "status": status, "lastTransitionTime": null, "lastUpdateTime": null}]}})
    }

    fn annotated(key: &str, value: &str) -> Value {
        json!({"metadata": {"annotations": {key: value}}})
    }

    #[test]
    fn an_object_that_was_just_found_missing_may_not_be_in_the_stores_yet() {
        let table = [
            ("False", "ConfigMapMissing", "2026-01-01T00:00:50Z", true),
            ("False", "ConfigMapMissing", "2026-01-01T00:00:49Z", false),
            ("False", "ConfigMapUnhealthy", "2026-01-01T00:01:00Z", false),
            ("True", "ConfigMapMissing", "2026-01-01T00:01:00Z", false),
        ];
        for (status, reason, since, want) in table {
            let condition = json!({
                "type": "ResourcesHealthy", "status": status, "reason": reason,
                "lastTransitionTime": since, "lastUpdateTime": since,
            });
            let object = serde_json::from_value(json!({"status": {"conditions": [condition]}})).unwrap();
            let now = "2026-01-01T00:01:00Z".parse().unwrap();
            assert_eq!(
                is_missing_since(&object, now, Duration::from_secs(10)),
                want,
                "{status} {reason} {since}"
            );
        }
        assert!(!is_missing_since(&ManagedResource::default(), Timestamp::UNIX_EPOCH, Duration::MAX));
    }

    #[test]
    fn an_update_counts_for_what_it_changes() {
        let (ignore, operation) = (api::resources::IGNORE, api::gardener::OPERATION);
        let table = [
            (json!({}), json!({}), false),
            (json!({"metadata": {"generation": 1}}), json!({"metadata": {"generation": 2}}), true),
            (json!({}), annotated("a", "b"), false),
            (json!({}), annotated(operation, "reconcile"), true),
            (json!({}), annotated(operation, "restore"), true),
            (json!({}), annotated(operation, "migrate"), true),
            (json!({}), annotated(operation, "wait-for-state"), false),
            (json!({}), annotated(ignore, "true"), true),
            (annotated(ignore, "true"), annotated(ignore, "true"), false),
            (annotated(ignore, "true"), json!({}), true),
            (healthy("True"), healthy("False"), true),
            (json!({}), healthy("False"), true),
            (healthy("Unknown"), healthy("False"), false),
            (healthy("True"), healthy("Unknown"), false),
            (
                json!({"spec": {"class": "seed"}}),
                json!({"spec": {"class": "seed"}, "metadata": {"generation": 2}}),
                false,
            ),
        ];
        for (old, new, wanted) in table {
            let got = triggers_pass(&Class::new(""), &event(old.clone(), new.clone()));
            assert_eq!(got, wanted, "{old} became {new}");
        }
    }
}
