//! What Gardener emits into the namespace of a shoot.

use std::collections::BTreeMap;

use serde_json::Value;

/// The fixtures of its objects.
const OBJECTS: [&str; 9] = [
    "control-plane-namespace",
    "kube-apiserver",
    "kube-apiserver-service",
    "kube-controller-manager",
    "kube-scheduler",
    "etcd-main",
    "etcd-events",
    "osc-reconcile",
    "osc-provision",
];

/// The objects of a namespace.
pub(crate) fn emitted(fixtures: &BTreeMap<String, Value>, namespace: &str) -> serde_json::Result<Vec<Value>> {
    let moved = |name: &str| fixtures[name].to_string().replace("shoot--dev--app", namespace);
    OBJECTS.iter().map(|name| serde_json::from_str(&moved(name))).collect()
}
