//! RBAC: evaluates the roles and bindings in the store.

use std::sync::Arc;

use serde_json::Value;

use super::Decision;
use super::access_request::{AccessRequest, AccessTarget};
use super::rules::PolicyRule;
use crate::call::{self, User};
use crate::object::meta;
use crate::state::ServerState;
use crate::store::Snapshot;

pub(super) const ROLES: &str = "roles.rbac.authorization.k8s.io";
pub(super) const CLUSTER_ROLES: &str = "clusterroles.rbac.authorization.k8s.io";
pub(super) const ROLE_BINDINGS: &str = "rolebindings.rbac.authorization.k8s.io";
pub(super) const CLUSTER_ROLE_BINDINGS: &str = "clusterrolebindings.rbac.authorization.k8s.io";

/// The rules of a user, each with the binding that grants it, and the bound roles that do not exist.
#[derive(Debug, Default)]
pub(crate) struct UserRules {
    /// The rules, in the order of their bindings.
    pub(crate) rules: Vec<(String, PolicyRule)>,
    /// `clusterrole.rbac.authorization.k8s.io "x" not found`.
    pub(crate) missing: Vec<String>,
}

/// Decides by the rules of the user.
pub(super) fn decide(shared: &ServerState, request: &AccessRequest) -> Decision {
    let namespace = match &request.target {
        AccessTarget::Resource { namespace, .. } => namespace.as_str(),
        AccessTarget::Path(_) => "",
    };
    let granted = user_rules(shared, &request.user, namespace);
    if let Some((source, _)) = granted.rules.iter().find(|(_, rule)| rule.allows(request)) {
        return Decision { allowed: true, reason: format!("RBAC: allowed by {source}") };
    }
    let reason = match granted.missing.as_slice() {
        [] => String::new(),
        [one] => format!("RBAC: {one}"),
        all => format!("RBAC: [{}]", all.join(", ")),
    };
    Decision { allowed: false, reason }
}

/// The rules of a user in a namespace; without a namespace, those of ClusterRoleBindings.
pub(crate) fn user_rules(shared: &ServerState, user: &User, namespace: &str) -> Arc<UserRules> {
    shared.rbac.rules(&shared.store, user, namespace, || collect_user_rules(shared, user, namespace))
}

fn collect_user_rules(shared: &ServerState, user: &User, namespace: &str) -> UserRules {
    let mut granted = UserRules::default();
    let everywhere = shared.store.snapshot(CLUSTER_ROLE_BINDINGS);
    collect_rules(shared, user, "", (&everywhere, ""), &mut granted);
    if !namespace.is_empty() {
        let here = shared.store.snapshot(ROLE_BINDINGS);
        collect_rules(shared, user, namespace, (&here, &format!("{namespace}/")), &mut granted);
    }
    granted
}

/// The rules of the role that a binding in a namespace refers to; the error says that the role does not exist.
pub(super) fn role_rules(
    shared: &ServerState,
    namespace: &str,
    role_ref: &Value,
) -> Result<Vec<PolicyRule>, String> {
    let text = |field: &str| role_ref.get(field).and_then(Value::as_str).unwrap_or_default();
    let (kind, name) = (text("kind"), text("name"));
    let found = match kind {
        "ClusterRole" => shared.store.get(CLUSTER_ROLES, name),
        "Role" => shared.store.get(ROLES, &call::key(true, namespace, name)),
        _ => None,
    };
    let missing = || format!("{}.rbac.authorization.k8s.io {name:?} not found", kind.to_lowercase());
    found.map(|role| rules(role.value())).ok_or_else(missing)
}

/// The rules of a role.
pub(super) fn rules(role: &Value) -> Vec<PolicyRule> {
    let rules = role.get("rules").cloned().unwrap_or_default();
    serde_json::from_value(rules).unwrap_or_default()
}

fn collect_rules(
    shared: &ServerState,
    user: &User,
    namespace: &str,
    (all, prefix): (&Snapshot, &str),
    granted: &mut UserRules,
) {
    for (_, binding) in all.range(prefix, None) {
        let binding = binding.value();
        let subjects = binding.get("subjects").and_then(Value::as_array).into_iter().flatten();
        let Some(subject) = subjects.into_iter().find(|subject| is_subject(subject, user, namespace)) else {
            continue;
        };
        let role_ref = binding.get("roleRef").cloned().unwrap_or_default();
        match role_rules(shared, namespace, &role_ref) {
            Ok(rules) => {
                let source = describe_grant(binding, &role_ref, subject, namespace);
                granted.rules.extend(rules.into_iter().map(|rule| (source.clone(), rule)));
            }
            Err(missing) => granted.missing.push(missing),
        }
    }
}

/// Whether a subject of a binding is this user or one of the user's groups.
fn is_subject(subject: &Value, user: &User, namespace: &str) -> bool {
    let text = |field: &str| subject.get(field).and_then(Value::as_str).unwrap_or_default();
    let name = text("name");
    match text("kind") {
        "User" => user.name == name,
        "Group" => user.groups.iter().any(|group| group == name),
        "ServiceAccount" => {
            let at = if text("namespace").is_empty() { namespace } else { text("namespace") };
            let account =
                user.name.strip_prefix("system:serviceaccount:").and_then(|rest| rest.split_once(':'));
            !at.is_empty() && account == Some((at, name))
        }
        _ => false,
    }
}

/// `RoleBinding "editor/default" of Role "editor" to ServiceAccount "a/default"`.
fn describe_grant(binding: &Value, role_ref: &Value, subject: &Value, namespace: &str) -> String {
    let text = |value: &Value, field: &str| -> String {
        value.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let whom = match text(subject, "kind").as_str() {
        "ServiceAccount" => {
            let at = text(subject, "namespace");
            let at = if at.is_empty() { namespace.to_owned() } else { at };
            format!("ServiceAccount {:?}", format!("{}/{at}", text(subject, "name")))
        }
        kind => format!("{kind} {:?}", text(subject, "name")),
    };
    let bound = if namespace.is_empty() {
        format!("ClusterRoleBinding {:?}", meta::name(binding))
    } else {
        format!("RoleBinding {:?}", format!("{}/{namespace}", meta::name(binding)))
    };
    format!("{bound} of {} {:?} to {whom}", text(role_ref, "kind"), text(role_ref, "name"))
}
