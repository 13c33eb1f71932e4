//! Roles and their bindings.

use formats::name;
use serde_json::{Value, json};
use webhook::field::{Error, Shown};

use super::super::check::{FieldValue, NamedCheck, when};
use super::workloads::selector_errors;

pub(super) const CHECKS: &[(&str, NamedCheck)] = &[
    ("rule", rule),
    ("namespaced-rule", namespaced_rule),
    ("role-kind", |field| kind(field, &["Role", "ClusterRole"])),
    ("cluster-role-kind", |field| kind(field, &["ClusterRole"])),
    ("subject", |field| subject(field, true)),
    ("cluster-subject", |field| subject(field, false)),
    ("role-reference", role_reference),
    ("aggregation", aggregation),
];

const GROUP: &str = "rbac.authorization.k8s.io";

fn namespaced_rule(field: &FieldValue<'_>) -> Vec<Error> {
    let urls = field.field("nonResourceURLs");
    let mut errors = rule(field);
    if !urls.is_empty() {
        let after_verbs = usize::from(field.field("verbs").is_empty());
        errors.insert(after_verbs, urls.invalid("namespaced rules cannot apply to non-resource URLs"));
    }
    errors
}

fn rule(field: &FieldValue<'_>) -> Vec<Error> {
    let [verbs, urls, groups, resources, names] =
        ["verbs", "nonResourceURLs", "apiGroups", "resources", "resourceNames"].map(|name| field.field(name));
    let mut errors = when(verbs.is_empty(), || verbs.required("verbs must contain at least one value"));
    if !urls.is_empty() {
        let both = !groups.is_empty() || !resources.is_empty() || !names.is_empty();
        errors.extend(when(both, || {
            urls.invalid("rules cannot apply to both regular resources and non-resource URLs")
        }));
        return errors;
    }
    errors.extend(when(groups.is_empty(), || {
        groups.required("resource rules must supply at least one api group")
    }));
    errors.extend(when(resources.is_empty(), || {
        resources.required("resource rules must supply at least one resource")
    }));
    errors
}

fn aggregation(field: &FieldValue<'_>) -> Vec<Error> {
    if field.value.is_none() {
        return Vec::new();
    }
    let selectors = field.field("clusterRoleSelectors");
    let why = "at least one clusterRoleSelector required if aggregationRule is non-nil";
    let mut errors = when(selectors.is_empty(), || selectors.required(why));
    errors.extend(selectors.elements().iter().flat_map(selector_errors));
    errors
}

fn kind(field: &FieldValue<'_>, known: &[&str]) -> Vec<Error> {
    when(!known.contains(&field.text()), || field.unsupported_text(known))
}

fn subject(field: &FieldValue<'_>, namespaced: bool) -> Vec<Error> {
    let [kind, name, group, namespace] =
        ["kind", "name", "apiGroup", "namespace"].map(|name| field.field(name));
    let mut errors = when(name.is_empty(), || name.required(""));
    match kind.text() {
        "ServiceAccount" => {
            if !name.is_empty() {
                errors.extend(name::dns1123_subdomain(name.text()).iter().map(|why| name.invalid(why)));
            }
            errors.extend(when(!group.is_empty(), || group.unsupported_text(&[""])));
            errors.extend(when(!namespaced && namespace.is_empty(), || namespace.required("")));
        }
        "User" | "Group" => {
            errors.extend(when(group.text() != GROUP, || group.unsupported_text(&[GROUP])));
        }
        _ => errors.push(kind.unsupported_text(&["ServiceAccount", "User", "Group"])),
    }
    errors
}

/// The role of a binding must not change.
fn role_reference(field: &FieldValue<'_>) -> Vec<Error> {
    let text =
        |name: &str| field.value.and_then(|value| value.get(name)).cloned().unwrap_or_else(|| json!(""));
    let shown =
        format!("{{\"APIGroup\":{},\"Kind\":{},\"Name\":{}}}", text("apiGroup"), text("kind"), text("name"));
    let parts = |value: Option<&Value>| value.cloned().unwrap_or_default();
    when(parts(field.value) != parts(field.old), || {
        field.invalid_as(Shown::verbatim(formats::json::html_safe(&shown)), "cannot change roleRef")
    })
}
