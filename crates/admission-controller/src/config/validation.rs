//! Validates a configuration, with the original's paths and texts, which differ from the field's names in places.

use controller::config::checks;
use formats::quantity::Quantity;
use webhook::field::{Error, Path, Shown};

use super::{AdmissionControllerConfiguration, RBAC_GROUP, ResourceLimit, UnrestrictedSubject};

const MODES: [&str; 2] = ["block", "log"];
const SUBJECT_KINDS: [&str; 3] = ["Group", "ServiceAccount", "User"];

/// All errors of a configuration whose defaults are filled in. ADM-CFG-005 to -009.
#[must_use]
pub fn validate(config: &AdmissionControllerConfiguration) -> Vec<Error> {
    let mut errors = Vec::new();
    checks::log(&config.log_level, &config.log_format, &mut errors);
    let Some(resources) = &config.server.resource_admission_configuration else { return errors };
    let at = Path::new("server").child("resourceAdmissionConfiguration");
    if let Some(mode) = &resources.operation_mode {
        checks::supported(mode, &MODES, &at.child("mode"), &mut errors);
    }
    let subjects = at.child("unrestrictedSubjects");
    for (index, subject) in resources.unrestricted_subjects.iter().enumerate() {
        check_subject(subject, &subjects.index(index), &mut errors);
    }
    let limits = at.child("limits");
    for (index, limit) in resources.limits.iter().enumerate() {
        check_limit(limit, &limits.index(index), &mut errors);
    }
    errors
}

fn check_subject(subject: &UnrestrictedSubject, at: &Path, errors: &mut Vec<Error>) {
    checks::supported(&subject.kind, &SUBJECT_KINDS, &at.child("kind"), errors);
    if subject.name.is_empty() {
        errors.push(Error::invalid(&at.child("name"), &subject.name, "name must not be empty"));
    }
    let (namespace, group) = (at.child("namespace"), at.child("apiGroup"));
    match subject.kind.as_str() {
        "ServiceAccount" => {
            if subject.namespace.is_empty() {
                errors.push(Error::invalid(&namespace, &subject.namespace, "name must not be empty"));
            }
            if !subject.api_group.is_empty() {
                errors.push(Error::invalid(&group, &subject.api_group, "apiGroup must be empty"));
            }
        }
        "User" | "Group" => {
            if !subject.namespace.is_empty() {
                errors.push(Error::invalid(&namespace, &subject.namespace, "name must be empty"));
            }
            checks::supported(&subject.api_group, &[RBAC_GROUP], &group, errors);
        }
        _ => {}
    }
}

fn check_limit(limit: &ResourceLimit, at: &Path, errors: &mut Vec<Error>) {
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
    if limit.size.0 < Quantity::from_integer(0) {
        let size = limit.size.0.to_string();
        errors.push(Error::invalid(&at.child("size"), &size, "value must not be negative"));
    }
}

/// A list as Go shows it: one that is missing is nil.
fn shown(texts: &[String]) -> Shown {
    if texts.is_empty() { Shown::verbatim("[]string(nil)") } else { Shown::from(texts) }
}

fn check_elements(texts: &[String], at: &Path, errors: &mut Vec<Error>) {
    for (index, text) in texts.iter().enumerate().filter(|(_, text)| text.is_empty()) {
        errors.push(Error::invalid(&at.index(index), text, "must not be empty"));
    }
}
