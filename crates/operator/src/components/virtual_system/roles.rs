//! Roles of operators, of all users, and of seeds that register themselves.

use std::collections::BTreeMap;

use api::gardener::ROLE;
use serde_json::Value;

use super::{CERTIFICATES, CORE, DASHBOARD, EVENTS, OPERATIONS, RBAC, SEED_MANAGEMENT, SETTINGS, bound};
use crate::components::objects::entries;
use crate::components::rbac::{
    ALL, READ, aggregated_cluster_role, cluster_role, cluster_role_binding, group, rule, user,
};

/// Everybody who has authenticated.
const AUTHENTICATED: &str = "system:authenticated";

/// The objects.
pub(super) fn objects() -> Vec<Value> {
    let mut objects = Vec::from(seed_bootstrapper());
    objects.extend(administrators());
    objects.extend(viewers());
    objects.extend(users());
    objects
}

fn seed_bootstrapper() -> [Value; 2] {
    let rules = [
        rule(&[CERTIFICATES], &["certificatesigningrequests"], &["create", "get"]),
        rule(&[CERTIFICATES], &["certificatesigningrequests/seedclient"], &["create"]),
    ];
    bound("gardener.cloud:system:seed-bootstrapper", &rules, &group("system:bootstrappers"))
}

/// API servers that are aggregated, and those with this role, may do everything with Gardener's objects.
fn administrators() -> [Value; 3] {
    let name = "gardener.cloud:admin";
    let mut rules = vec![rule(&[CORE, SEED_MANAGEMENT, DASHBOARD, SETTINGS, OPERATIONS], ALL, ALL)];
    rules.extend(kubernetes(ALL));
    rules.push(rule(&[CERTIFICATES], &["certificatesigningrequests"], ALL));
    let aggregated = [(ROLE, "admin"), (ROLE, "project-member"), (ROLE, "project-serviceaccountmanager")];
    [
        cluster_role(name, &entries([(ROLE, "admin")]), &rules),
        cluster_role_binding(name, &BTreeMap::new(), name, &[user("system:kube-aggregator")]),
        aggregated_cluster_role("gardener.cloud:system:administrators", &BTreeMap::new(), &aggregated),
    ]
}

fn viewers() -> [Value; 2] {
    let core = [
        "backupbuckets",
        "backupentries",
        "cloudprofiles",
        "controllerinstallations",
        "quotas",
        "projects",
        "seeds",
        "shoots",
    ];
    let others = [SEED_MANAGEMENT, DASHBOARD, SETTINGS, OPERATIONS];
    let mut rules = vec![rule(&[CORE], &core, READ), rule(&others, ALL, READ)];
    rules.extend(kubernetes(READ));
    let aggregated = [(ROLE, "viewer"), (ROLE, "project-viewer")];
    [
        cluster_role("gardener.cloud:viewer", &entries([(ROLE, "viewer")]), &rules),
        aggregated_cluster_role("gardener.cloud:system:viewers", &BTreeMap::new(), &aggregated),
    ]
}

/// What operators see, or change, of Kubernetes.
fn kubernetes(verbs: &[&str]) -> Vec<Value> {
    let webhooks = ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"];
    let roles = ["clusterroles", "clusterrolebindings", "roles", "rolebindings"];
    vec![
        rule(&[""], &["events", "namespaces", "resourcequotas"], verbs),
        rule(&[EVENTS], &["events"], verbs),
        rule(&[RBAC], &roles, verbs),
        rule(&["admissionregistration.k8s.io"], &webhooks, verbs),
        rule(&["apiregistration.k8s.io"], &["apiservices"], verbs),
        rule(&["apiextensions.k8s.io"], &["customresourcedefinitions"], verbs),
        rule(&["coordination.k8s.io"], &["leases"], verbs),
    ]
}

fn users() -> Vec<Value> {
    let create = ["create"];
    let global = [rule(&[CORE], &["cloudprofiles", "exposureclasses", "seeds"], READ)];
    let auth = [
        rule(&["authentication.k8s.io"], &["tokenreviews"], &create),
        rule(&["authorization.k8s.io"], &["selfsubjectaccessreviews"], &create),
    ];
    let everybody = group(AUTHENTICATED);
    let mut objects = Vec::from(bound("gardener.cloud:system:read-global-resources", &global, &everybody));
    objects.extend(bound("gardener.cloud:system:user-auth", &auth, &everybody));
    let projects = [rule(&[CORE], &["projects"], &create)];
    objects.push(cluster_role("gardener.cloud:system:project-creation", &BTreeMap::new(), &projects));
    objects
}
