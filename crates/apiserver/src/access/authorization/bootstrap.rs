//! The default roles and bindings of kube-apiserver 1.36.
//!
//! `bootstrap.json` contains the `clusterroles`, `clusterrolebindings`, `roles` and `rolebindings` of a fresh
//! kube-apiserver with the label `kubernetes.io/bootstrapping=rbac-defaults`, without the fields that the server sets.

use serde_json::Value;

const OBJECTS: &str = include_str!("bootstrap.json");

/// The objects, each with its group, version and plural name.
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
