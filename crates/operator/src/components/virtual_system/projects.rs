//! Roles of members of Projects, each made up of all ClusterRoles with a label, so that others can add rules.

use api::gardener::ROLE;
use serde_json::Value;

use super::{CHANGE, CORE, EVENTS, OPERATIONS, RBAC, SETTINGS};
use crate::components::objects::entries;
use crate::components::rbac::{READ, aggregated_cluster_role, cluster_role, rule};

/// The objects.
pub(super) fn objects() -> Vec<Value> {
    [
        aggregated("project-member", &member_rules()),
        aggregated("project-serviceaccountmanager", &service_account_manager_rules()),
        aggregated("project-viewer", &viewer_rules()),
    ]
    .concat()
}

/// The ClusterRole with these rules, and the one that is made up of all of its kind.
fn aggregated(role: &str, rules: &[Value]) -> [Value; 2] {
    let label = format!("rbac.gardener.cloud/aggregate-to-{role}");
    let name = format!("gardener.cloud:system:{role}");
    [
        cluster_role(&format!("{name}-aggregation"), &entries([(label.as_str(), "true")]), rules),
        aggregated_cluster_role(&name, &entries([(ROLE, role)]), &[(label.as_str(), "true")]),
    ]
}

fn member_rules() -> Vec<Value> {
    vec![
        rule(&[""], &["secrets", "configmaps"], CHANGE),
        rule(&[""], &["events", "resourcequotas", "serviceaccounts"], READ),
        rule(&[EVENTS], &["events"], READ),
        rule(&[CORE], &["shoots", "secretbindings", "quotas"], CHANGE),
        rule(&[SETTINGS], &["openidconnectpresets"], CHANGE),
        rule(&[OPERATIONS], &["bastions"], CHANGE),
        rule(&[RBAC], &["roles", "rolebindings"], CHANGE),
        rule(&[CORE], &["shoots/adminkubeconfig"], &["create"]),
    ]
}

fn service_account_manager_rules() -> Vec<Value> {
    vec![rule(&[""], &["serviceaccounts"], CHANGE), rule(&[""], &["serviceaccounts/token"], &["create"])]
}

fn viewer_rules() -> Vec<Value> {
    vec![
        rule(&[""], &["events", "configmaps", "resourcequotas", "serviceaccounts"], READ),
        rule(&[EVENTS], &["events"], READ),
        rule(&[CORE], &["shoots", "secretbindings", "quotas"], READ),
        rule(&[SETTINGS], &["openidconnectpresets"], READ),
        rule(&[OPERATIONS], &["bastions"], READ),
        rule(&[RBAC], &["roles", "rolebindings"], READ),
    ]
}
