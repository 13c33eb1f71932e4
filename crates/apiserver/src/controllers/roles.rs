//! The ClusterRole aggregation controller: copies the rules of selected roles into roles with an aggregation rule.

use formats::selector::LabelSelector;
use serde_json::{Value, json};

use super::ObjectChange;
use super::client::Client;
use crate::object::meta;
use crate::state::ServerState;

const TABLE: &str = "clusterroles.rbac.authorization.k8s.io";
const CONTROLLER: &str = "clusterrole-aggregation-controller";

/// Whether a write failed.
#[derive(Debug, Default)]
pub(super) struct Roles {
    failed: bool,
}

impl Roles {
    /// Aggregates all roles; returns whether a retry is necessary.
    pub(super) async fn sync(
        &mut self,
        shared: &ServerState,
        client: &Client,
        changes: &[ObjectChange],
    ) -> bool {
        if !self.failed && !changes.iter().any(|change| change.table == TABLE) {
            return false;
        }
        self.failed = false;
        let snapshot = shared.store.snapshot(TABLE);
        let all: Vec<&Value> = snapshot.range("", None).map(|(_, role)| role.value()).collect();
        for role in &all {
            let Some(rules) = aggregated(role, &all) else { continue };
            if role.get("rules").unwrap_or(&Value::Null) == &rules {
                continue;
            }
            let path = format!("/apis/rbac.authorization.k8s.io/v1/clusterroles/{}", meta::name(role));
            let revision = meta::text(role, "resourceVersion");
            let change = json!({"metadata": {"resourceVersion": revision}, "rules": rules});
            let outcome = client.patch(CONTROLLER, &path, &change).await;
            self.failed |= outcome.is_err_and(|error| !error.is_outdated());
        }
        self.failed
    }
}

/// The rules of all selected roles, each once, in the order of selectors and names; absent without an aggregation rule.
fn aggregated(role: &Value, all: &[&Value]) -> Option<Value> {
    let selectors = role.pointer("/aggregationRule/clusterRoleSelectors")?.as_array()?;
    let mut rules: Vec<Value> = Vec::new();
    for selector in selectors {
        let Ok(selector) = serde_json::from_value::<LabelSelector>(selector.clone()) else { continue };
        for other in all.iter().filter(|other| meta::name(other) != meta::name(role)) {
            if !selector.matches_by(|key| meta::label(other, key)) {
                continue;
            }
            for rule in other.get("rules").and_then(Value::as_array).into_iter().flatten() {
                if !rules.contains(rule) {
                    rules.push(rule.clone());
                }
            }
        }
    }
    Some(if rules.is_empty() { Value::Null } else { Value::Array(rules) })
}
