//! Merges a manifest with a live object: the manifest, with the fields that others decide about.

mod metadata;
mod service;
mod workload;

use std::collections::BTreeMap;

use serde_json::Value;

use super::ObjectReference;
use super::unstructured::{annotation, api_version, at, group_kind, group_version, kind, put};

/// How to merge manifest and live object.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'a> {
    /// The annotation [`api::resources::ORIGIN`].
    pub origin: &'a str,
    /// Labels that are injected into the object and its templates.
    pub inject: &'a BTreeMap<String, String>,
    /// Which labels and annotations of others to remove.
    pub force_overwrite: Overwrite,
    /// The labels and annotations that were applied before.
    pub applied: &'a ObjectReference,
    /// Fields that others decide about.
    pub preserve: Preserve,
}

/// What to remove even if others added it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overwrite {
    /// Labels.
    pub labels: bool,
    /// Annotations.
    pub annotations: bool,
}

/// Fields that others, such as an autoscaler, decide about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Preserve {
    /// The replicas.
    pub replicas: bool,
    /// CPU and memory of the containers.
    pub resources: bool,
}

/// Why objects cannot be merged; the text is the original's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// There is no rule for this version of the kind.
    #[error("cannot merge objects with gvk: {group}/{version}, Kind={kind}")]
    Version {
        /// API group.
        group: String,
        /// Version.
        version: String,
        /// Kind.
        kind: String,
    },
}

/// The object to write: `desired` merged over `live`. Labels are injected into `desired` already.
///
/// For an object that does not exist, `live` is the manifest before labels were injected.
///
/// # Errors
/// When the version of a kind with special rules is unknown.
pub fn merge(rules: &Rules<'_>, desired: Value, live: &Value) -> Result<Value, MergeError> {
    let asks = |key| annotation(&desired, key) == Some("true");
    let preserve = Preserve {
        replicas: rules.preserve.replicas || asks(api::resources::PRESERVE_REPLICAS),
        resources: rules.preserve.resources || asks(api::resources::PRESERVE_RESOURCES),
    };
    let mut merged = desired;
    metadata::merge(rules, live, &mut merged);
    keep_status(live, &mut merged);
    merge_kind(preserve, live, &mut merged)?;
    Ok(merged)
}

/// Whether there are rules for this kind's Go type, so that null and an empty list equal an absent field.
#[must_use]
pub fn is_typed(object: &Value) -> bool {
    let kind = group_kind(object);
    matches!(
        (kind.group.as_str(), kind.kind.as_str()),
        ("apps" | "extensions", "Deployment" | "StatefulSet")
            | ("apps", "DaemonSet")
            | ("batch", "Job" | "CronJob")
            | ("", "Service" | "ServiceAccount")
    )
}

fn merge_kind(preserve: Preserve, live: &Value, merged: &mut Value) -> Result<(), MergeError> {
    let group_kind = group_kind(merged);
    match (group_kind.group.as_str(), group_kind.kind.as_str()) {
        ("apps" | "extensions", "Deployment") => workload::deployment(preserve, live, merged),
        ("apps" | "extensions", "StatefulSet") => workload::stateful_set(preserve, live, merged),
        ("apps", "DaemonSet") => workload::daemon_set(preserve, live, merged),
        ("batch", "Job") => workload::job(preserve, live, merged),
        ("batch", "CronJob") => {
            known_version(merged, &["v1", "v1beta1"])?;
            workload::cron_job(preserve, live, merged);
        }
        ("", "Service") => service::service(live, merged),
        ("", "ServiceAccount") => service_account(live, merged),
        _ => {}
    }
    Ok(())
}

fn known_version(object: &Value, known: &[&str]) -> Result<(), MergeError> {
    let (group, version) = group_version(api_version(object)).unwrap_or_default();
    if known.contains(&version) {
        return Ok(());
    }
    Err(MergeError::Version {
        group: group.to_owned(),
        version: version.to_owned(),
        kind: kind(object).to_owned(),
    })
}

/// GRM-MR-035: a manifest never changes the status.
fn keep_status(live: &Value, merged: &mut Value) {
    let status = at(live, &["status"]).and_then(Value::as_object).filter(|status| !status.is_empty());
    put(merged, &["status"], status.map(|status| Value::Object(status.clone())));
}

/// GRM-MR-103: others decide about secrets and pull secrets of a ServiceAccount.
fn service_account(live: &Value, merged: &mut Value) {
    for field in ["secrets", "imagePullSecrets"] {
        keep(live, merged, &[field]);
    }
}

/// Copies a field from the live object, or removes it if absent there.
fn keep(live: &Value, merged: &mut Value, path: &[&str]) {
    put(merged, path, at(live, path).filter(|value| !value.is_null()).cloned());
}

#[cfg(test)]
mod tests;
