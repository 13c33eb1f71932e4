//! Defaulting and validation of a created or updated Project.

use api::garden::Project;
use api::garden::project::ProjectSpec;
use api::garden::reference::Subject;
use serde_json::Value;
use webhook::field::{Error, Path};
use webhook::rejection::Rejection;

use super::field_errors::{self, FieldErrors, immutable};
use super::go_value::GoValue;
use super::project_defaults::set_defaults;
use super::{metadata, names, project_members, project_subjects, reading, references, tolerations};

pub use super::project_defaults::default as mutate;

const KIND: &str = "Project";
/// The name is part of the names of objects in seeds, such as namespaces.
const LONGEST_NAME: usize = 10;
const LEASES: &str = "gardener-system-seed-lease";

/// Validates a Project: GDN-PJT-009.
///
/// # Errors
/// 422 with all errors; 400 when it is not a Project.
pub fn validate(old: Option<&Value>, new: &Value) -> Result<(), Rejection> {
    let project: Project = reading::read_defaulted(KIND, new, set_defaults)?;
    let mut errors = metadata::validate(&project.metadata, names::dns_subdomain);
    let name = project.metadata.name.clone().unwrap_or_default();
    errors.extend(named(&name));
    errors.extend(specification(&project.spec));
    if let Some(old) = old {
        let old: Project = reading::read_defaulted(KIND, old, set_defaults)?;
        errors.extend(unchanged(&project.spec, &old.spec));
    }
    field_errors::invalid(KIND, &name, &errors)
}

/// GDN-PJT-001.
fn named(name: &str) -> FieldErrors {
    let at = Path::new("metadata").child("name");
    let mut errors = FieldErrors::new();
    if name.len() > LONGEST_NAME {
        errors.push(Error::too_long(&at, LONGEST_NAME));
    }
    if name.contains("--") {
        errors.push(Error::invalid(&at, name, "name may not contain two consecutive hyphens"));
    }
    errors
}

/// GDN-PJT-002 to -005.
fn specification(spec: &ProjectSpec) -> FieldErrors {
    let at = Path::new("spec");
    let mut errors = FieldErrors::new();
    if let Some(namespace) = spec.namespace.as_ref().filter(|namespace| *namespace == LEASES) {
        let text = format!("Project namespace {LEASES} is reserved by Gardener");
        errors.push(Error::invalid(&at.child("namespace"), namespace, &text));
    }
    errors.extend(project_members::validate(spec));
    for (field, subject) in [("createdBy", &spec.created_by), ("owner", &spec.owner)] {
        errors
            .extend(subject.iter().flat_map(|subject| project_subjects::validate(subject, &at.child(field))));
    }
    for (field, text) in [("description", &spec.description), ("purpose", &spec.purpose)] {
        if text.as_ref().is_some_and(String::is_empty) {
            let detail = format!("must provide a {field} when key is present");
            errors.push(Error::required(&at.child(field), &detail));
        }
    }
    let Some(of) = &spec.tolerations else { return errors };
    let at = at.child("tolerations");
    errors.extend(tolerations::validate(&of.defaults, &at.child("defaults")));
    errors.extend(tolerations::validate(&of.whitelist, &at.child("whitelist")));
    errors.extend(tolerations::validate_allowed(&of.defaults, &of.whitelist, &at.child("defaults")));
    errors
}

/// GDN-PJT-006 to -008.
fn unchanged(new: &ProjectSpec, old: &ProjectSpec) -> FieldErrors {
    let at = Path::new("spec");
    let subject =
        |subject: &Option<Subject>| GoValue::pointer("v1.Subject", subject.as_ref().map(references::subject));
    let namespace =
        |namespace: &Option<String>| GoValue::pointer("string", namespace.as_ref().map(GoValue::text));
    let mut errors = FieldErrors::new();
    if old.created_by.is_some() {
        errors.extend(immutable(
            &at.child("createdBy"),
            &subject(&new.created_by),
            &subject(&old.created_by),
        ));
    }
    if old.namespace.is_some() {
        errors.extend(immutable(
            &at.child("namespace"),
            &namespace(&new.namespace),
            &namespace(&old.namespace),
        ));
    }
    if old.owner.is_some() && new.owner.is_none() {
        errors.push(Error::invalid(&at.child("owner"), &subject(&None), "owner cannot be reset"));
    }
    errors
}
