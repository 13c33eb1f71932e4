//! What nginx-ingress may do in the runtime cluster.

use serde_json::Value;

use super::controller::LEASE;
use super::{NAME, app};
use crate::components::NAMESPACE;
use crate::components::rbac::{
    READ, cluster_role, cluster_role_binding, named_rule, role, role_binding, rule, runtime_account,
};

const CLUSTER_ROLE: &str = "gardener.cloud:seed:nginx-ingress";
const ROLE: &str = "gardener.cloud:seed:nginx-ingress:role";
const ROLE_BINDING: &str = "gardener.cloud:seed:nginx-ingress:role-binding";
const CORE: &str = "";
const NETWORKING: &str = "networking.k8s.io";
const COORDINATION: &str = "coordination.k8s.io";
const DISCOVERY: &str = "discovery.k8s.io";

/// A role for the cluster and one for its namespace, with their bindings.
pub(super) fn objects() -> [Value; 4] {
    let account = [runtime_account(NAME)];
    [
        cluster_role(CLUSTER_ROLE, &app(), &cluster_rules()),
        cluster_role_binding(CLUSTER_ROLE, &app(), CLUSTER_ROLE, &account),
        role(ROLE, &app(), &rules()),
        role_binding(ROLE_BINDING, NAMESPACE, &app(), ROLE, &account),
    ]
}

fn cluster_rules() -> [Value; 9] {
    let see = ["list", "watch"];
    [
        rule(&[CORE], &["endpoints", "nodes", "pods", "secrets"], &see),
        rule(&[CORE], &["nodes"], &["get"]),
        rule(&[CORE], &["services", "configmaps"], &["get", "list", "update", "watch"]),
        rule(&[NETWORKING], &["ingresses"], READ),
        rule(&[CORE], &["events"], &["create", "patch"]),
        rule(&[NETWORKING], &["ingresses/status"], &["update"]),
        rule(&[NETWORKING], &["ingressclasses"], READ),
        rule(&[COORDINATION], &["leases"], &see),
        rule(&[DISCOVERY], &["endpointslices"], READ),
    ]
}

fn rules() -> [Value; 5] {
    [
        rule(&[CORE], &["configmaps", "namespaces", "pods", "secrets"], &["get"]),
        rule(&[CORE], &["endpoints"], &["create", "get", "update"]),
        named_rule(COORDINATION, "leases", LEASE, &["get", "update"]),
        rule(&[COORDINATION], &["leases"], &["create"]),
        rule(&[DISCOVERY], &["endpointslices"], READ),
    ]
}
