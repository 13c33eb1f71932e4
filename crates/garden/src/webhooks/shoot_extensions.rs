//! Extensions of a Shoot, and the objects that their configurations name.

use std::collections::BTreeSet;

use api::garden::reference::CrossVersionObjectReference;
use api::garden::shoot::ShootSpec;
use webhook::field::{Error, Path};

use super::field_errors::{FieldErrors, required};

const EMPTY: &str = "field must not be empty";

/// Types of extensions: GDN-SEX-001. In Shoots, unlike templates, no type is there twice: [`super::shoot_preparation`].
pub(super) fn validate(spec: &ShootSpec, at: &Path) -> FieldErrors {
    let types = spec.extensions.iter().map(|extension| extension.type_.as_str());
    unique(types, &at.child("extensions"), "type").into_iter().flatten().collect()
}

/// Named references: GDN-SEX-002, GDN-SEX-003.
pub(super) fn validate_resources(spec: &ShootSpec, at: &Path) -> FieldErrors {
    let at = at.child("resources");
    let names = spec.resources.iter().map(|resource| resource.name.as_str());
    let names = unique(names, &at, "name").into_iter().zip(&spec.resources).enumerate();
    let each = names.flat_map(|(index, (name, resource))| {
        let at = at.index(index).child("resourceRef");
        name.into_iter().chain(validate_reference(&resource.resource_ref, &at))
    });
    each.collect()
}

/// For each value whether it is empty, or was there before.
fn unique<'a>(values: impl Iterator<Item = &'a str>, at: &Path, field: &str) -> Vec<Option<Error>> {
    let mut seen = BTreeSet::new();
    let check = |(index, value): (usize, &'a str)| {
        let at = at.index(index).child(field);
        required(&at, value, EMPTY).or_else(|| (!seen.insert(value)).then(|| Error::duplicate(&at, value)))
    };
    values.enumerate().map(check).collect()
}

fn validate_reference(reference: &CrossVersionObjectReference, at: &Path) -> FieldErrors {
    let version = reference.api_version.as_deref().unwrap_or_default();
    let choices: [(&str, &str, &str, &[&str]); 2] = [
        ("apiVersion", version, "must provide an apiVersion", &["v1"]),
        ("kind", &reference.kind, "must provide a kind", &["Secret", "ConfigMap"]),
    ];
    let mut errors = FieldErrors::new();
    for (name, value, missing, known) in choices {
        let at = at.child(name);
        match value {
            "" => errors.push(Error::required(&at, missing)),
            value if !known.contains(&value) => errors.push(Error::not_supported(&at, value, known)),
            _ => {}
        }
    }
    errors.extend(required(&at.child("name"), &reference.name, "must provide a name"));
    errors
}
