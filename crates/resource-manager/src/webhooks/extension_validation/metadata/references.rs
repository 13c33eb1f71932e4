//! Owner references and managed fields.

use serde_json::Value;
use webhook::field::{Error, Path, Shown};

use super::super::comparison::{items, member, text, truth};
use super::super::shape::{OPTIONAL_TRUTH, Shape, field};

/// The fields of `metav1.OwnerReference`.
pub(super) const OWNER: Shape = Shape::Struct(&[
    field("apiVersion", "APIVersion", Shape::Text),
    field("kind", "Kind", Shape::Text),
    field("name", "Name", Shape::Text),
    field("uid", "UID", Shape::Text),
    field("controller", "Controller", OPTIONAL_TRUTH),
    field("blockOwnerDeletion", "BlockOwnerDeletion", OPTIONAL_TRUTH),
]);

/// The fields of `metav1.ManagedFieldsEntry`.
pub(super) const ENTRY: Shape = Shape::Struct(&[
    field("manager", "Manager", Shape::Text),
    field("operation", "Operation", Shape::Text),
    field("apiVersion", "APIVersion", Shape::Text),
    field("time", "Time", Shape::Pointer("v1.Time", &Shape::Time)),
    field("fieldsType", "FieldsType", Shape::Text),
    field("fieldsV1", "FieldsV1", Shape::Pointer("v1.FieldsV1", &Shape::Any)),
    field("subresource", "Subresource", Shape::Text),
]);

const MANAGER_LIMIT: usize = 128;
const SUBRESOURCE_LIMIT: usize = 256;

/// Validates the owner references (GRM-EXV-300, GRM-EXV-301).
pub(super) fn owners(metadata: Option<&Value>, at: &Path, errors: &mut Vec<Error>) {
    let references = items(member(metadata, "ownerReferences"));
    let mut controller: Option<String> = None;
    for reference in references {
        owner(reference, at, errors);
        if truth(member(Some(reference), "controller")) {
            let part = |name| text(member(Some(reference), name));
            let this = format!("{}/{}", part("kind"), part("name"));
            match &controller {
                Some(first) => {
                    let detail = format!(
                        "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {this}"
                    );
                    let shown = member(metadata, "ownerReferences").map(Value::to_string);
                    errors.push(Error::invalid(at, Shown::verbatim(shown.unwrap_or_default()), &detail));
                }
                None => controller = Some(this),
            }
        }
    }
}

/// Validates the managed fields (GRM-EXV-303, GRM-EXV-323, GRM-EXV-324).
pub(super) fn managers(metadata: Option<&Value>, at: &Path, errors: &mut Vec<Error>) {
    for (index, entry) in items(member(metadata, "managedFields")).iter().enumerate() {
        let at = at.index(index);
        let part = |name| text(member(Some(entry), name));
        if !matches!(part("operation"), "Apply" | "Update") {
            errors.push(Error::invalid(
                &at.child("operation"),
                part("operation"),
                "must be `Apply` or `Update`",
            ));
        }
        if !matches!(part("fieldsType"), "" | "FieldsV1") {
            errors.push(Error::invalid(&at.child("fieldsType"), part("fieldsType"), "must be `FieldsV1`"));
        }
        manager(part("manager"), &at.child("manager"), errors);
        if part("subresource").len() > SUBRESOURCE_LIMIT {
            errors.push(Error::too_long(&at.child("subresource"), SUBRESOURCE_LIMIT));
        }
    }
}

fn owner(reference: &Value, at: &Path, errors: &mut Vec<Error>) {
    let part = |name| text(member(Some(reference), name));
    let version = part("apiVersion").rsplit_once('/').map_or(part("apiVersion"), |(_, version)| version);
    if version.is_empty() {
        errors.push(Error::invalid(&at.child("apiVersion"), part("apiVersion"), "version must not be empty"));
    }
    for name in ["kind", "name", "uid"] {
        if part(name).is_empty() {
            errors.push(Error::invalid(&at.child(name), "", &format!("{name} must not be empty")));
        }
    }
    if part("apiVersion") == "v1" && part("kind") == "Event" {
        let detail = "/v1, Kind=Event is disallowed from being an owner";
        errors.push(Error::invalid(at, Shown::verbatim(reference), detail));
    }
}

fn manager(manager: &str, at: &Path, errors: &mut Vec<Error>) {
    if manager.len() > MANAGER_LIMIT {
        errors.push(Error::too_long(at, MANAGER_LIMIT));
    }
    for (position, character) in manager.char_indices() {
        if character.is_control() || (character.is_whitespace() && character != ' ') {
            let detail = format!("invalid character U+{:04X} (at position {position})", u32::from(character));
            errors.push(Error::invalid(at, manager, &detail));
        }
    }
}
