//! The roles and bindings that every cluster begins with, as kube-apiserver 1.36 makes them.
//!
//! `bootstrap.json` is what a fresh kube-apiserver answers for `clusterroles`, `clusterrolebindings`, `roles` and
//! `rolebindings` with the label `kubernetes.io/bootstrapping=rbac-defaults`, without what the server sets.

use serde_json::Value;

const OBJECTS: &str = include_str!("bootstrap.json");

/// The objects, each with group, version and plural name.
pub(crate) fn bootstrap() -> Vec<((&'static str, &'static str, &'static str), Value)> {
    let objects: Vec<Value> = serde_json::from_str(OBJECTS).expect("the file is JSON");
    let with_resource = |object: Value| {
        let plural = match object["kind"].as_str() {
            Some("ClusterRole") => "clusterroles",
            Some("ClusterRoleBinding") => "clusterrolebindings",
            Some("Role") => "roles",
            _ => "rolebindings",
        };
        (("rbac.authorization.k8s.io", "v1", plural), object)
    };
    objects.into_iter().map(with_resource).collect()
}
