//! Roles and their bindings.

use formats::name;
use serde_json::{Value, json};
use webhook::field::{Error, Shown};

use super::super::check::Found;
use super::workloads::requirements;
use super::{Named, when};

pub(super) const CHECKS: &[(&str, Named)] = &[
    ("rule", rule),
    ("namespaced-rule", namespaced_rule),
    ("role-kind", |found| kind(found, &["Role", "ClusterRole"])),
    ("cluster-role-kind", |found| kind(found, &["ClusterRole"])),
    ("subject", |found| subject(found, true)),
    ("cluster-subject", |found| subject(found, false)),
    ("role-reference", role_reference),
    ("aggregation", aggregation),
];

const GROUP: &str = "rbac.authorization.k8s.io";

fn namespaced_rule(found: &Found<'_>) -> Vec<Error> {
    let urls = found.field("nonResourceURLs");
    if urls.is_empty() {
        return rule(found);
    }
    let verbs = found.field("verbs");
    let mut errors = when(verbs.is_empty(), || verbs.required("verbs must contain at least one value"));
    errors.push(urls.invalid("namespaced rules cannot apply to non-resource URLs"));
    errors
}

fn rule(found: &Found<'_>) -> Vec<Error> {
    let [verbs, urls, groups, resources, names] =
        ["verbs", "nonResourceURLs", "apiGroups", "resources", "resourceNames"].map(|name| found.field(name));
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

fn aggregation(found: &Found<'_>) -> Vec<Error> {
    if found.value.is_none() {
        return Vec::new();
    }
    let selectors = found.field("clusterRoleSelectors");
    let why = "at least one clusterRoleSelector required if aggregationRule is non-nil";
    let mut errors = when(selectors.is_empty(), || selectors.required(why));
    errors.extend(selectors.elements().iter().flat_map(requirements));
    errors
}

fn kind(found: &Found<'_>, known: &[&str]) -> Vec<Error> {
    when(!known.contains(&found.text()), || found.unsupported(known))
}

fn subject(found: &Found<'_>, namespaced: bool) -> Vec<Error> {
    let [kind, name, group, namespace] =
        ["kind", "name", "apiGroup", "namespace"].map(|name| found.field(name));
    let mut errors = when(name.is_empty(), || name.required(""));
    match kind.text() {
        "ServiceAccount" => {
            if !name.is_empty() {
                errors.extend(name::dns1123_subdomain(name.text()).iter().map(|why| name.invalid(why)));
            }
            errors.extend(when(!group.is_empty(), || group.unsupported(&[""])));
            errors.extend(when(!namespaced && namespace.is_empty(), || namespace.required("")));
        }
        "User" | "Group" => {
            errors.extend(when(group.text() != GROUP, || group.unsupported(&[GROUP])));
        }
        _ => errors.push(kind.unsupported(&["ServiceAccount", "User", "Group"])),
    }
    errors
}

/// A binding binds one role for ever.
fn role_reference(found: &Found<'_>) -> Vec<Error> {
    let text =
        |field: &str| found.value.and_then(|value| value.get(field)).cloned().unwrap_or_else(|| json!(""));
    let shown =
        format!("{{\"APIGroup\":{},\"Kind\":{},\"Name\":{}}}", text("apiGroup"), text("kind"), text("name"));
    let parts = |value: Option<&Value>| value.cloned().unwrap_or_default();
    when(parts(found.value) != parts(found.old), || {
        found.invalid_as(Shown::verbatim(shown), "cannot change roleRef")
    })
}
