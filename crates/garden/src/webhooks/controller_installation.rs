//! Validation of a created or updated ControllerInstallation.

use api::garden::ControllerInstallation;
use api::garden::controller_installation::ControllerInstallationSpec;
use serde_json::Value;
use webhook::field::Path;
use webhook::rejection::Rejection;

use super::field_errors::{self, FieldErrors, immutable, required};
use super::go_value::GoValue;
use super::{differences, metadata, names, reading, references};

const KIND: &str = "ControllerInstallation";

/// Validates a ControllerInstallation: GDN-CIN-001.
///
/// # Errors
/// 422 with all errors; 400 when it is not a ControllerInstallation.
pub fn validate(old: Option<&Value>, new: &Value) -> Result<(), Rejection> {
    let installation: ControllerInstallation = reading::read(KIND, new)?;
    let mut errors = FieldErrors::new();
    if let Some(old) = old {
        errors.extend(unchanged(&installation, &reading::read(KIND, old)?));
    }
    errors.extend(metadata::validate(&installation.metadata, names::dns_label));
    errors.extend(required_names(&installation.spec));
    field_errors::invalid(KIND, &installation.metadata.name.unwrap_or_default(), &errors)
}

/// GDN-CIN-002.
fn required_names(spec: &ControllerInstallationSpec) -> FieldErrors {
    let at = Path::new("spec");
    let references = [("registrationRef", &spec.registration_ref), ("seedRef", &spec.seed_ref)];
    let missing = references.into_iter().filter_map(|(field, reference)| {
        let name = reference.name.as_deref().unwrap_or_default();
        required(&at.child(field).child("name"), name, "field is required")
    });
    missing.collect()
}

/// The names of registration and Seed stay; while the installation is being deleted, its whole spec. GDN-CIN-003,
/// GDN-CIN-004.
fn unchanged(new: &ControllerInstallation, old: &ControllerInstallation) -> FieldErrors {
    let at = Path::new("spec");
    if new.metadata.deletion_timestamp.is_some() {
        let (spec, old_spec) = (specification(&new.spec), specification(&old.spec));
        if spec != old_spec {
            return vec![differences::forbidden(&at, &spec, &old_spec)];
        }
    }
    let references = [
        ("registrationRef", &new.spec.registration_ref, &old.spec.registration_ref),
        ("seedRef", &new.spec.seed_ref, &old.spec.seed_ref),
    ];
    let changed = references.into_iter().filter_map(|(field, new, old)| {
        let name = |name: &Option<String>| GoValue::text_or_empty(name.as_ref());
        immutable(&at.child(field).child("name"), &name(&new.name), &name(&old.name))
    });
    changed.collect()
}

fn specification(spec: &ControllerInstallationSpec) -> GoValue {
    let deployment = spec.deployment_ref.as_ref().map(references::object);
    let fields = vec![
        ("RegistrationRef", references::object(&spec.registration_ref)),
        ("SeedRef", references::object(&spec.seed_ref)),
        ("DeploymentRef", GoValue::pointer("v1.ObjectReference", deployment)),
    ];
    GoValue::Struct("core.ControllerInstallationSpec", fields)
}
