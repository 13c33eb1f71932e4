//! Parts that objects of several components have in common.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::NAMESPACE;

/// Labels, or other entries, as a map.
#[must_use]
pub fn entries<const N: usize>(entries: [(&str, &str); N]) -> BTreeMap<String, String> {
    entries.map(|(key, value)| (key.to_owned(), value.to_owned())).into()
}

/// Labels with further ones.
#[must_use]
pub fn with(
    mut labels: BTreeMap<String, String>,
    others: impl IntoIterator<Item = (String, String)>,
) -> BTreeMap<String, String> {
    labels.extend(others);
    labels
}

/// Metadata of an object in the namespace `garden`.
#[must_use]
pub fn metadata(name: &str, labels: &BTreeMap<String, String>) -> Value {
    let mut metadata = cluster_metadata(name, labels);
    metadata["namespace"] = NAMESPACE.into();
    metadata
}

/// Metadata of an object of a cluster.
#[must_use]
pub fn cluster_metadata(name: &str, labels: &BTreeMap<String, String>) -> Value {
    if labels.is_empty() { json!({ "name": name }) } else { json!({ "name": name, "labels": labels }) }
}

/// A Service of type ClusterIP in the namespace `garden` whose Pods have its labels.
#[must_use]
pub fn service(name: &str, labels: &BTreeMap<String, String>, ports: &[Value]) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(name, labels),
        "spec": {"type": "ClusterIP", "selector": labels, "ports": ports},
    })
}

/// A ServiceAccount in the namespace `garden`, whose Pods get no token unless they ask for one.
#[must_use]
pub fn service_account(name: &str, labels: &BTreeMap<String, String>) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": metadata(name, labels),
        "automountServiceAccountToken": false,
    })
}

/// A TCP port of a Service.
#[must_use]
pub fn service_port(name: &str, port: u16, target: u16) -> Value {
    json!({"name": name, "protocol": "TCP", "port": port, "targetPort": target})
}

/// Adds an annotation to an object.
pub fn annotate(object: &mut Value, (key, value): (String, String)) {
    object["metadata"]["annotations"][key] = value.into();
}

/// A PodDisruptionBudget in the namespace `garden`: one Pod with these labels may be unavailable.
#[must_use]
pub fn pod_disruption_budget(name: &str, labels: &BTreeMap<String, String>) -> Value {
    json!({
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": metadata(name, labels),
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": labels}},
    })
}

/// A VerticalPodAutoscaler in the namespace `garden` that restarts Pods of a Deployment, with the policy of its containers.
#[must_use]
pub fn vertical_pod_autoscaler(
    name: &str,
    deployment: &str,
    labels: &BTreeMap<String, String>,
    policy: &Value,
) -> Value {
    json!({
        "apiVersion": "autoscaling.k8s.io/v1",
        "kind": "VerticalPodAutoscaler",
        "metadata": metadata(name, labels),
        "spec": {
            "targetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": deployment},
            "updatePolicy": {"updateMode": "Auto"},
            "resourcePolicy": {"containerPolicies": [policy]},
        },
    })
}

/// A policy for all containers that has a minimum of memory.
#[must_use]
pub fn at_least(memory: &str) -> Value {
    json!({"containerName": "*", "minAllowed": {"memory": memory}})
}

/// A probe of a container by HTTP; times in seconds.
#[must_use]
pub fn http_probe(path: &str, port: u16, initial_delay: u32, timeout: u32) -> Value {
    json!({
        "httpGet": {"path": path, "port": port, "scheme": "HTTP"},
        "initialDelaySeconds": initial_delay,
        "timeoutSeconds": timeout,
    })
}

/// A volume with a Secret.
#[must_use]
pub fn secret_volume(name: &str, secret: &str) -> Value {
    json!({"name": name, "secret": {"secretName": secret}})
}

/// A volume with a ConfigMap.
#[must_use]
pub fn config_map_volume(name: &str, config_map: &str) -> Value {
    json!({"name": name, "configMap": {"name": config_map}})
}
