//! Workloads: keeps replicas and resources under autoscalers, and immutable fields.

use serde_json::Value;

use super::{Preserve, keep};
use crate::managed_resource::unstructured::{at, at_mut, fields_at, list, put, text, texts, to_value};

const TEMPLATE: [&str; 2] = ["spec", "template"];
const JOB_TEMPLATE: [&str; 4] = ["spec", "jobTemplate", "spec", "template"];
const TEMPLATE_LABELS: [&str; 4] = ["spec", "template", "metadata", "labels"];

/// GRM-MR-090: of a Deployment.
pub(super) fn deployment(preserve: Preserve, live: &Value, merged: &mut Value) {
    keep_replicas(preserve, live, merged);
    keep_resources(preserve, live, merged, &TEMPLATE);
}

/// GRM-MR-091 and GRM-MR-094: of a StatefulSet.
pub(super) fn stateful_set(preserve: Preserve, live: &Value, merged: &mut Value) {
    keep_replicas(preserve, live, merged);
    if !text(live, &["metadata", "creationTimestamp"]).is_empty() {
        keep(live, merged, &["spec", "volumeClaimTemplates"]);
    }
    keep_resources(preserve, live, merged, &TEMPLATE);
}

pub(super) fn daemon_set(preserve: Preserve, live: &Value, merged: &mut Value) {
    keep_resources(preserve, live, merged, &TEMPLATE);
}

/// GRM-MR-095: the API server sets a Job's selector and the matching labels; both are immutable.
pub(super) fn job(preserve: Preserve, live: &Value, merged: &mut Value) {
    keep(live, merged, &["spec", "selector"]);
    let mut labels = texts(live, &TEMPLATE_LABELS);
    labels.extend(texts(merged, &TEMPLATE_LABELS));
    if !labels.is_empty() {
        put(merged, &TEMPLATE_LABELS, Some(to_value(labels)));
    }
    keep_resources(preserve, live, merged, &TEMPLATE);
}

pub(super) fn cron_job(preserve: Preserve, live: &Value, merged: &mut Value) {
    keep_resources(preserve, live, merged, &JOB_TEMPLATE);
}

fn keep_replicas(preserve: Preserve, live: &Value, merged: &mut Value) {
    let path = ["spec", "replicas"];
    let is_wanted = at(merged, &path).is_some_and(|replicas| !replicas.is_null());
    if preserve.replicas || !is_wanted {
        keep(live, merged, &path);
    }
}

/// Of live containers with the same name, the first counts.
fn keep_resources(preserve: Preserve, live: &Value, merged: &mut Value, template: &[&str]) {
    if !preserve.resources {
        return;
    }
    let path: Vec<&str> = template.iter().chain(&["spec", "containers"]).copied().collect();
    let old = list(live, &path);
    for container in at_mut(merged, &path).and_then(Value::as_array_mut).into_iter().flatten() {
        let same = old.iter().find(|old| text(old, &["name"]) == text(container, &["name"]));
        if let Some(same) = same {
            keep_container_resources(same, container);
        }
    }
}

/// Only values that the live container has are kept; others are the manifest's.
fn keep_container_resources(live: &Value, container: &mut Value) {
    for kind in ["requests", "limits"] {
        for resource in ["cpu", "memory"] {
            let path = ["resources", kind, resource];
            let Some(amount) = at(live, &path).filter(|amount| !amount.is_null()) else { continue };
            if let Some(amounts) = fields_at(container, &path[..2]) {
                amounts.insert(resource.to_owned(), amount.clone());
            }
        }
    }
}
