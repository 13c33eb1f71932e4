//! Largest sizes of objects that gardener-admission-controller shall admit, with the original's paths, which differ from
//! the fields' names in places.

use api::garden::reference::Subject;
use api::operator::gardener::{ResourceAdmissionConfiguration, ResourceLimit};
use controller::config::checks::supported;
use formats::quantity::Quantity;
use webhook::field::{Error, Path, Shown};

use super::FieldErrors;

const RBAC_GROUP: &str = "rbac.authorization.k8s.io";
const MODES: [&str; 2] = ["block", "log"];
const SUBJECT_KINDS: [&str; 3] = ["Group", "ServiceAccount", "User"];

/// OPR-GRD-004, OPR-GRD-005.
pub(super) fn errors(config: &ResourceAdmissionConfiguration, at: &Path) -> FieldErrors {
    let mut errors = Vec::new();
    if let Some(mode) = &config.operation_mode {
        supported(mode, &MODES, &at.child("mode"), &mut errors);
    }
    let subjects = at.child("unrestrictedSubjects");
    for (index, subject) in config.unrestricted_subjects.iter().enumerate() {
        check_subject(subject, &subjects.index(index), &mut errors);
    }
    let limits = at.child("limits");
    for (index, limit) in config.limits.iter().enumerate() {
        check_limit(limit, &limits.index(index), &mut errors);
    }
    errors
}

fn check_subject(subject: &Subject, at: &Path, errors: &mut FieldErrors) {
    let group = subject.api_group.as_deref().unwrap_or_default();
    let namespace = subject.namespace.as_deref().unwrap_or_default();
    supported(&subject.kind, &SUBJECT_KINDS, &at.child("kind"), errors);
    let mut refuse =
        |field: &str, value: &str, text: &str| errors.push(Error::invalid(&at.child(field), value, text));
    if subject.name.is_empty() {
        refuse("name", "", "name must not be empty");
    }
    match subject.kind.as_str() {
        "ServiceAccount" => {
            if namespace.is_empty() {
                refuse("namespace", namespace, "name must not be empty");
            }
            if !group.is_empty() {
                refuse("apiGroup", group, "apiGroup must be empty");
            }
        }
        "User" | "Group" => {
            if !namespace.is_empty() {
                refuse("namespace", namespace, "name must be empty");
            }
            supported(group, &[RBAC_GROUP], &at.child("apiGroup"), errors);
        }
        _ => {}
    }
}

fn check_limit(limit: &ResourceLimit, at: &Path, errors: &mut FieldErrors) {
    let (resources, versions) = (at.child("resources"), at.child("versions"));
    // The original shows the resources wherever a list is missing.
    let is_missing =
        |path: &Path| Error::invalid(path, shown(&limit.resources), "must at least have one element");
    check_elements(&limit.resources, &resources, errors);
    if limit.resources.is_empty() {
        errors.push(is_missing(&resources));
    }
    if limit.api_groups.is_empty() {
        errors.push(is_missing(&at.child("apiGroups")));
    }
    check_elements(&limit.api_versions, &versions, errors);
    if limit.api_versions.is_empty() {
        errors.push(is_missing(&versions));
    }
    let size = Quantity::parse(&limit.size.0).ok().filter(|size| *size < Quantity::from_integer(0));
    if let Some(size) = size {
        errors.push(Error::invalid(&at.child("size"), &size.to_string(), "value must not be negative"));
    }
}

/// A list as Go shows it: one that is missing is nil.
fn shown(texts: &[String]) -> Shown {
    if texts.is_empty() { Shown::verbatim("[]string(nil)") } else { Shown::from(texts) }
}

fn check_elements(texts: &[String], at: &Path, errors: &mut FieldErrors) {
    for (index, text) in texts.iter().enumerate().filter(|(_, text)| text.is_empty()) {
        errors.push(Error::invalid(&at.index(index), text, "must not be empty"));
    }
}
