//! What istiod may do.

use serde_json::{Value, json};

use super::ISTIO_SYSTEM;
use super::istiod::{NAME, labels};
use crate::components::rbac::{ALL, READ, cluster_role, cluster_role_binding, role_binding, role_in, rule};

/// The same verbs as [`READ`], in the order in which the original has them here.
const SEE: &[&str] = &["get", "watch", "list"];
const WRITE: &[&str] = &["get", "watch", "list", "update", "patch", "create", "delete"];
/// The role with which it could run gateways that users describe.
const GATEWAY_CONTROLLER: &str = "istiod-gateway-controller";

/// Roles and their bindings.
pub(super) fn objects() -> [Value; 6] {
    let labels = labels();
    let account = [json!({ "kind": "ServiceAccount", "name": NAME, "namespace": ISTIO_SYSTEM })];
    let of_gateways = [("apps", "deployments"), ("", "services"), ("", "serviceaccounts")]
        .map(|(group, resource)| rule(&[group], &[resource], WRITE));
    let in_namespace = [json!({ "kind": "ServiceAccount", "name": NAME })];
    [
        cluster_role(NAME, &labels, &cluster_rules()),
        cluster_role(GATEWAY_CONTROLLER, &labels, &of_gateways),
        cluster_role_binding(NAME, &labels, NAME, &account),
        cluster_role_binding(GATEWAY_CONTROLLER, &labels, GATEWAY_CONTROLLER, &account),
        role_in(ISTIO_SYSTEM, NAME, &labels, &rules()),
        role_binding(NAME, ISTIO_SYSTEM, &labels, NAME, &in_namespace),
    ]
}

/// In its namespace: it tries whether its webhook refuses objects, and stores its authority.
fn rules() -> Vec<Value> {
    vec![
        rule(&["networking.istio.io"], &["gateways"], &["create"]),
        rule(&[""], &["secrets"], &["create", "get", "watch", "list", "update", "delete"]),
        rule(&[""], &["serviceaccounts"], SEE),
        rule(&[""], &["configmaps"], &["delete"]),
    ]
}

fn cluster_rules() -> Vec<Value> {
    [webhook_rules(), istio_rules(), discovery_rules(), certificate_rules(), other_apis()].concat()
}

fn webhook_rules() -> Vec<Value> {
    let webhooks =
        |resource: &str, verbs: &[&str]| rule(&["admissionregistration.k8s.io"], &[resource], verbs);
    vec![
        webhooks("mutatingwebhookconfigurations", &["get", "list", "watch", "update", "patch"]),
        webhooks("validatingwebhookconfigurations", &["get", "list", "watch", "update"]),
    ]
}

fn istio_rules() -> Vec<Value> {
    let groups = [
        "config.istio.io",
        "security.istio.io",
        "networking.istio.io",
        "authentication.istio.io",
        "rbac.istio.io",
        "telemetry.istio.io",
        "extensions.istio.io",
    ];
    vec![
        rule(&groups, ALL, SEE),
        rule(&["networking.istio.io"], &["workloadentries"], WRITE),
        rule(&["networking.istio.io"], &["workloadentries/status"], WRITE),
    ]
}

fn discovery_rules() -> Vec<Value> {
    let ingresses = ["extensions", "networking.k8s.io"];
    vec![
        rule(&["apiextensions.k8s.io"], &["customresourcedefinitions"], READ),
        rule(&[""], &["pods", "nodes", "services", "namespaces", "endpoints"], READ),
        rule(&["discovery.k8s.io"], &["endpointslices"], READ),
        rule(&ingresses, &["ingresses"], READ),
        rule(&ingresses, &["ingresses/status"], ALL),
        rule(&["networking.k8s.io"], &["ingresses", "ingressclasses"], READ),
        rule(&["networking.k8s.io"], &["ingresses/status"], ALL),
        rule(&[""], &["configmaps"], &["create", "get", "list", "watch", "update"]),
    ]
}

fn certificate_rules() -> Vec<Value> {
    let requests = [
        "certificatesigningrequests",
        "certificatesigningrequests/approval",
        "certificatesigningrequests/status",
    ];
    let mut approval = rule(&["certificates.k8s.io"], &["signers"], &["approve"]);
    approval["resourceNames"] = json!(["kubernetes.io/legacy-unknown"]);
    vec![
        rule(&["certificates.k8s.io"], &requests, &["update", "create", "get", "delete", "watch"]),
        approval,
        rule(&["authentication.k8s.io"], &["tokenreviews"], &["create"]),
        rule(&["authorization.k8s.io"], &["subjectaccessreviews"], &["create"]),
    ]
}

fn other_apis() -> Vec<Value> {
    let gateways = ["networking.x-k8s.io", "gateway.networking.k8s.io"];
    let of_many_clusters = ["multicluster.x-k8s.io"];
    vec![
        rule(&gateways, ALL, SEE),
        rule(&gateways, ALL, &["update", "patch"]),
        rule(&[""], &["secrets"], SEE),
        rule(&of_many_clusters, &["serviceexports"], &["get", "watch", "list", "create", "delete"]),
        rule(&of_many_clusters, &["serviceimports"], SEE),
    ]
}
