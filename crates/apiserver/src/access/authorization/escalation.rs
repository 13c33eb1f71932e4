//! Privilege escalation: a user may write only those roles and bindings whose permissions the user has.

use serde_json::Value;

use super::access_request::{AccessRequest, AccessTarget};
use super::rbac::{role_rules, rules, user_rules};
use super::rules::{PolicyRule, missing_permissions, quoted};
use crate::call::Call;
use crate::http::status::Status;
use crate::object::meta;
use crate::state::{Authorization, ServerState};

/// Refuses a role or binding that grants permissions that its writer does not have, unless the writer may `escalate` or
/// `bind`.
pub(crate) fn check(
    shared: &ServerState,
    call: &Call,
    object: &Value,
    old: Option<&Value>,
) -> Result<(), Status> {
    let resource = &call.target.resource;
    if resource.group != "rbac.authorization.k8s.io"
        || shared.switches.authorization == Authorization::AlwaysAllow
    {
        return Ok(());
    }
    match resource.plural.as_str() {
        "roles" | "clusterroles" => role(shared, call, object, old),
        "rolebindings" | "clusterrolebindings" => binding(shared, call, object, old),
        _ => Ok(()),
    }
}

fn role(shared: &ServerState, call: &Call, object: &Value, old: Option<&Value>) -> Result<(), Status> {
    let same = |field: &str| old.is_some_and(|old| old.get(field) == object.get(field));
    if same("rules") && same("aggregationRule") {
        return Ok(());
    }
    let plural = call.target.resource.plural.as_str();
    if is_allowed(shared, call, "escalate", plural, meta::name(object)) {
        return Ok(());
    }
    let mut wanted = rules(object);
    if object.get("aggregationRule").is_some_and(|rule| !rule.is_null()) && !same("aggregationRule") {
        // An aggregation rule can grant any permission.
        let all = || vec!["*".to_owned()];
        wanted.push(PolicyRule {
            verbs: all(),
            api_groups: all(),
            resources: all(),
            ..PolicyRule::default()
        });
        wanted.push(PolicyRule { verbs: all(), non_resource_urls: all(), ..PolicyRule::default() });
    }
    check_granted(shared, call, object, &wanted)
}

fn binding(shared: &ServerState, call: &Call, object: &Value, old: Option<&Value>) -> Result<(), Status> {
    let same = |field: &str| old.is_some_and(|old| old.get(field) == object.get(field));
    if same("roleRef") && same("subjects") {
        return Ok(());
    }
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let plural = if text("/roleRef/kind") == "Role" { "roles" } else { "clusterroles" };
    if is_allowed(shared, call, "bind", plural, text("/roleRef/name")) {
        return Ok(());
    }
    let role_ref = object.get("roleRef").cloned().unwrap_or_default();
    let wanted = role_rules(shared, &call.path.namespace, &role_ref)
        .map_err(|_| Status::not_found(call.group_resource(), text("/roleRef/name")))?;
    check_granted(shared, call, object, &wanted)
}

fn is_allowed(shared: &ServerState, call: &Call, verb: &str, resource: &str, name: &str) -> bool {
    let target = AccessTarget::Resource {
        group: "rbac.authorization.k8s.io".to_owned(),
        resource: resource.to_owned(),
        subresource: String::new(),
        namespace: call.path.namespace.clone(),
        name: name.to_owned(),
    };
    AccessRequest { user: call.user.clone(), verb: verb.to_owned(), target }.decide(shared).allowed
}

fn check_granted(
    shared: &ServerState,
    call: &Call,
    object: &Value,
    wanted: &[PolicyRule],
) -> Result<(), Status> {
    let granted = user_rules(shared, &call.user, &call.path.namespace);
    let rules: Vec<PolicyRule> = granted.rules.iter().map(|(_, rule)| rule.clone()).collect();
    let missing = missing_permissions(&rules, wanted);
    if missing.is_empty() {
        return Ok(());
    }
    let mut why = format!(
        "user {:?} (groups={}) is attempting to grant RBAC permissions not currently held:\n{}",
        call.user.name,
        quoted(&call.user.groups),
        missing.join("\n"),
    );
    if !granted.missing.is_empty() {
        why = format!("{why}; resolution errors: [{}]", granted.missing.join(", "));
    }
    Err(Status::forbidden(call.group_resource(), meta::name(object), &why))
}
