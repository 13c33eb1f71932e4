//! What the vertical pod autoscaler may do in the runtime cluster.

use api::resources::DELETE_ON_INVALID_UPDATE;
use serde_json::Value;

use super::programs::PROGRAMS;
use super::role;
use crate::components::objects::annotate;
use crate::components::rbac::{ALL, READ, cluster_role, cluster_role_binding, rule, runtime_account};

/// The group of VerticalPodAutoscalers, and its name of long ago.
const GROUPS: [&str; 2] = ["poc.autoscaling.k8s.io", "autoscaling.k8s.io"];
const CORE: &str = "";
const LEASES: &str = "coordination.k8s.io";
const AUTOSCALERS: &str = "verticalpodautoscalers";

/// Six ClusterRoles with their bindings.
pub(super) fn objects() -> Vec<Value> {
    let [admission_controller, recommender, updater] = PROGRAMS.map(|program| program.name);
    let granted: [(&str, Vec<Value>, &[&str]); 6] = [
        ("actor", actor(), &[recommender, updater]),
        ("target-reader", target_reader(), &[admission_controller, recommender, updater]),
        ("admission-controller", admission(), &[admission_controller]),
        ("metrics-reader", vec![rule(&["metrics.k8s.io"], &["pods"], &["get", "list"])], &[recommender]),
        ("checkpoint-actor", checkpoint_actor(), &[recommender]),
        ("evictioner", evictioner(), &[updater]),
    ];
    granted.iter().flat_map(|(name, rules, accounts)| grant(name, rules, accounts)).collect()
}

/// A ClusterRole and its binding to ServiceAccounts.
fn grant(name: &str, rules: &[Value], accounts: &[&str]) -> [Value; 2] {
    let name = format!("gardener.cloud:vpa:source:{name}");
    let subjects: Vec<Value> = accounts.iter().map(|account| runtime_account(account)).collect();
    let mut binding = cluster_role_binding(&name, &role(), &name, &subjects);
    annotate(&mut binding, (DELETE_ON_INVALID_UPDATE.to_owned(), "true".to_owned()));
    [cluster_role(&name, &role(), rules), binding]
}

fn actor() -> Vec<Value> {
    let mut rules = vec![
        rule(&[CORE], &["pods", "nodes", "limitranges"], READ),
        rule(&[CORE], &["events"], &["get", "list", "watch", "create"]),
    ];
    rules.extend(GROUPS.map(|group| rule(&[group], &[AUTOSCALERS], &["get", "list", "watch", "patch"])));
    rules.push(rule(&[LEASES], &["leases"], READ));
    rules
}

fn target_reader() -> Vec<Value> {
    vec![
        rule(ALL, &["*/scale"], &["get", "watch"]),
        rule(&[CORE], &["replicationcontrollers"], READ),
        rule(&["apps"], &["daemonsets", "deployments", "replicasets", "statefulsets"], READ),
        rule(&["batch"], &["jobs", "cronjobs"], READ),
        rule(&[api::druid::GROUP], &["etcds", "etcds/scale"], READ),
    ]
}

fn admission() -> Vec<Value> {
    let registrations = ["mutatingwebhookconfigurations"];
    let mut rules = vec![
        rule(&[CORE], &["pods", "configmaps", "nodes", "limitranges"], READ),
        rule(&["admissionregistration.k8s.io"], &registrations, &["create", "delete", "get", "list"]),
    ];
    rules.extend(GROUPS.map(|group| rule(&[group], &[AUTOSCALERS], READ)));
    rules.push(rule(&[LEASES], &["leases"], &["create", "update", "get", "list", "watch"]));
    rules
}

fn checkpoint_actor() -> Vec<Value> {
    let (resources, verbs) =
        (["verticalpodautoscalercheckpoints"], ["get", "list", "watch", "create", "patch", "delete"]);
    let mut rules = GROUPS.map(|group| rule(&[group], &resources, &verbs)).to_vec();
    rules.push(rule(&[CORE], &["namespaces"], &["get", "list"]));
    rules
}

fn evictioner() -> Vec<Value> {
    vec![
        rule(&["apps", "extensions"], &["replicasets"], &["get"]),
        rule(&[CORE], &["pods/eviction"], &["create"]),
    ]
}
