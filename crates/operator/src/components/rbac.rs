//! Roles and their bindings.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::NAMESPACE;
use super::access::ACCOUNT_NAMESPACE;
use super::objects::cluster_metadata;

const GROUP: &str = "rbac.authorization.k8s.io";
const API_VERSION: &str = "rbac.authorization.k8s.io/v1";

/// Verbs of those who read objects.
pub const READ: &[&str] = &["get", "list", "watch"];
/// Everything, as groups, resources or verbs.
pub const ALL: &[&str] = &["*"];

/// A rule.
#[must_use]
pub fn rule(groups: &[&str], resources: &[&str], verbs: &[&str]) -> Value {
    json!({"apiGroups": groups, "resources": resources, "verbs": verbs})
}

/// A rule about the object of this name.
#[must_use]
pub fn named_rule(group: &str, resource: &str, name: &str, verbs: &[&str]) -> Value {
    json!({"apiGroups": [group], "resources": [resource], "resourceNames": [name], "verbs": verbs})
}

/// A Role in the namespace `garden`.
#[must_use]
pub fn role(name: &str, labels: &BTreeMap<String, String>, rules: &[Value]) -> Value {
    role_in(NAMESPACE, name, labels, rules)
}

/// A ClusterRole.
#[must_use]
pub fn cluster_role(name: &str, labels: &BTreeMap<String, String>, rules: &[Value]) -> Value {
    json!({
        "apiVersion": API_VERSION,
        "kind": "ClusterRole",
        "metadata": cluster_metadata(name, labels),
        "rules": rules,
    })
}

/// A ClusterRole whose rules are those of ClusterRoles that have one of these labels.
#[must_use]
pub fn aggregated_cluster_role(
    name: &str,
    labels: &BTreeMap<String, String>,
    selected: &[(&str, &str)],
) -> Value {
    let selectors: Vec<Value> =
        selected.iter().map(|(key, value)| json!({"matchLabels": {*key: value}})).collect();
    json!({
        "apiVersion": API_VERSION,
        "kind": "ClusterRole",
        "metadata": cluster_metadata(name, labels),
        "aggregationRule": {"clusterRoleSelectors": selectors},
    })
}

/// A ClusterRoleBinding.
#[must_use]
pub fn cluster_role_binding(
    name: &str,
    labels: &BTreeMap<String, String>,
    role: &str,
    subjects: &[Value],
) -> Value {
    json!({
        "apiVersion": API_VERSION,
        "kind": "ClusterRoleBinding",
        "metadata": cluster_metadata(name, labels),
        "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": role},
        "subjects": subjects,
    })
}

/// A Role in any namespace.
#[must_use]
pub fn role_in(namespace: &str, name: &str, labels: &BTreeMap<String, String>, rules: &[Value]) -> Value {
    let mut metadata = cluster_metadata(name, labels);
    metadata["namespace"] = namespace.into();
    json!({"apiVersion": API_VERSION, "kind": "Role", "metadata": metadata, "rules": rules})
}

/// A RoleBinding of a Role of the same namespace.
#[must_use]
pub fn role_binding(
    name: &str,
    namespace: &str,
    labels: &BTreeMap<String, String>,
    role: &str,
    subjects: &[Value],
) -> Value {
    let mut metadata = cluster_metadata(name, labels);
    metadata["namespace"] = namespace.into();
    json!({
        "apiVersion": API_VERSION,
        "kind": "RoleBinding",
        "metadata": metadata,
        "roleRef": {"apiGroup": GROUP, "kind": "Role", "name": role},
        "subjects": subjects,
    })
}

/// A client's ServiceAccount in the virtual cluster.
#[must_use]
pub fn account(client: &str) -> Value {
    json!({"kind": "ServiceAccount", "name": client, "namespace": ACCOUNT_NAMESPACE})
}

/// A ServiceAccount in the runtime cluster.
#[must_use]
pub fn runtime_account(name: &str) -> Value {
    json!({"kind": "ServiceAccount", "name": name, "namespace": NAMESPACE})
}

/// A group of users.
#[must_use]
pub fn group(name: &str) -> Value {
    json!({"apiGroup": GROUP, "kind": "Group", "name": name})
}

/// A user.
#[must_use]
pub fn user(name: &str) -> Value {
    json!({"apiGroup": GROUP, "kind": "User", "name": name})
}
