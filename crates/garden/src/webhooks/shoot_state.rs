//! Validation of a created or updated ShootState.

use std::collections::BTreeSet;

use api::garden::ShootState;
use api::garden::reference::NamedResourceReference;
use api::garden::shoot_state::ShootStateSpec;
use serde_json::Value;
use webhook::field::{Error, Path};
use webhook::rejection::Rejection;

use super::field_errors::{self, FieldErrors, required, supported};
use super::{metadata, names, reading};

const KIND: &str = "ShootState";

/// Validates a ShootState, of which all may change: GDN-STA-001.
///
/// # Errors
/// 422 with all errors; 400 when it is not a ShootState.
pub fn validate(_: Option<&Value>, new: &Value) -> Result<(), Rejection> {
    let state: ShootState = reading::read(KIND, new)?;
    let mut errors = metadata::validate(&state.metadata, names::dns_label);
    errors.extend(specification(&state.spec));
    field_errors::invalid(KIND, &state.metadata.name.unwrap_or_default(), &errors)
}

/// GDN-STA-002 to -005.
fn specification(spec: &ShootStateSpec) -> FieldErrors {
    let at = Path::new("spec");
    let mut errors = FieldErrors::new();
    for (index, data) in spec.gardener.iter().enumerate() {
        let at = at.child("gardener").index(index).child("name");
        let why = "name of data required to generate resources cannot be empty";
        errors.extend(data.name.is_empty().then(|| Error::invalid(&at, "", why)));
    }
    for (index, extension) in spec.extensions.iter().enumerate() {
        let of_extension = at.child("extensions").index(index);
        if extension.kind.is_empty() {
            let why = "extension resource kind cannot be empty";
            errors.push(Error::invalid(&of_extension.child("kind"), "", why));
        }
        if extension.purpose.as_ref().is_some_and(String::is_empty) {
            let why = "extension resource purpose cannot be empty";
            errors.push(Error::invalid(&of_extension.child("purpose"), "", why));
        }
        // As in the original, the path is that of the resources of the spec.
        errors.extend(resources(&extension.resources, &at.child("resources")));
    }
    for (index, resource) in spec.resources.iter().enumerate() {
        let version = resource.api_version.as_deref().unwrap_or_default();
        let at = at.child("resources").index(index);
        errors.extend(reference(version, &resource.kind, &resource.name, &at));
    }
    errors
}

/// Resources have names of their own.
fn resources(resources: &[NamedResourceReference], at: &Path) -> FieldErrors {
    let (mut errors, mut seen) = (FieldErrors::new(), BTreeSet::new());
    for (index, resource) in resources.iter().enumerate() {
        let at = at.index(index);
        if resource.name.is_empty() {
            errors.push(Error::required(&at.child("name"), "field must not be empty"));
        } else if !seen.insert(&resource.name) {
            errors.push(Error::duplicate(&at.child("name"), &resource.name));
        }
        let of = &resource.resource_ref;
        let version = of.api_version.as_deref().unwrap_or_default();
        errors.extend(reference(version, &of.kind, &of.name, &at.child("resourceRef")));
    }
    errors
}

/// A Secret or a ConfigMap.
fn reference(version: &str, kind: &str, name: &str, at: &Path) -> FieldErrors {
    let one_of = |field: &str, value: &str, missing: &str, known: &[&str]| {
        let at = at.child(field);
        required(&at, value, missing).or_else(|| supported(&at, value, known))
    };
    let mut errors = FieldErrors::new();
    errors.extend(one_of("apiVersion", version, "must provide an apiVersion", &["v1"]));
    errors.extend(one_of("kind", kind, "must provide a kind", &["Secret", "ConfigMap"]));
    errors.extend(required(&at.child("name"), name, "must provide a name"));
    errors
}
