//! Users, groups and ServiceAccounts that a Project names.

use api::garden::reference::Subject;
use webhook::field::{Error, Path};

use super::field_errors::{FieldErrors, each_invalid, required, supported};
use super::names;
use super::project_defaults::RBAC_GROUP;

/// The errors of a subject: GDN-PJS-001 to -006.
#[must_use]
pub fn validate(subject: &Subject, at: &Path) -> FieldErrors {
    let group = subject.api_group.as_deref().unwrap_or_default();
    let (name, group_at) = (at.child("name"), at.child("apiGroup"));
    let mut errors = FieldErrors::new();
    errors.extend(required(&name, &subject.name, ""));
    match subject.kind.as_str() {
        "ServiceAccount" => {
            if !subject.name.is_empty() {
                errors.extend(each_invalid(&name, &subject.name, &names::dns_subdomain(&subject.name)));
            }
            errors.extend(supported(&group_at, group, &[""]));
            let namespace = subject.namespace.as_deref().unwrap_or_default();
            errors.extend(required(&at.child("namespace"), namespace, ""));
        }
        "User" | "Group" => errors.extend(supported(&group_at, group, &[RBAC_GROUP])),
        other => {
            let kinds = ["ServiceAccount", "User", "Group"];
            errors.push(Error::not_supported(&at.child("kind"), other, &kinds));
        }
    }
    errors
}
