//! Validates updates of metadata: `contracts/resource-manager/webhooks/extension-validation/metadata-update.yaml`.

use serde_json::Value;
use webhook::field::{Error, Path};

use super::super::comparison::{integer, items, member, text};
use super::super::immutable;
use super::super::shape::{Field, Shape, field};
use super::{PERIOD, annotations, labels, references};

const FIXED: [Field; 6] = [
    field("name", "Name", Shape::Text),
    field("namespace", "Namespace", Shape::Text),
    field("uid", "UID", Shape::Text),
    field("creationTimestamp", "CreationTimestamp", Shape::Time),
    field("deletionTimestamp", "DeletionTimestamp", Shape::Pointer("v1.Time", &Shape::Time)),
    PERIOD,
];

/// Validates the change from `old` to `new` metadata (GRM-EXV-304 to -311).
pub(in super::super) fn validate_update(new: Option<&Value>, old: Option<&Value>, errors: &mut Vec<Error>) {
    let at = Path::new("metadata");
    if member(old, "deletionTimestamp").is_some() {
        no_new_finalizers(new, old, &at.child("finalizers"), errors);
    }
    if text(member(new, "resourceVersion")).is_empty() {
        errors.push(Error::invalid(&at.child("resourceVersion"), "", "must be specified for an update"));
    }
    let generation = integer(member(new, "generation"));
    if generation < integer(member(old, "generation")) {
        errors.push(Error::invalid(&at.child("generation"), generation, "must not be decremented"));
    }
    for field in &FIXED {
        immutable::check(
            field.shape,
            member(new, field.name),
            member(old, field.name),
            &at.child(field.name),
            errors,
        );
    }
    labels(new, &at.child("labels"), errors);
    annotations(new, &at.child("annotations"), errors);
    references::owners(new, &at.child("ownerReferences"), errors);
    references::managers(new, &at.child("managedFields"), errors);
}

/// GRM-EXV-310, GRM-EXV-311.
fn no_new_finalizers(new: Option<&Value>, old: Option<&Value>, at: &Path, errors: &mut Vec<Error>) {
    let before = items(member(old, "finalizers"));
    let mut added: Vec<String> = items(member(new, "finalizers"))
        .iter()
        .filter(|finalizer| !before.contains(finalizer))
        .map(|finalizer| webhook::field::quote(text(Some(finalizer))))
        .collect();
    added.sort();
    added.dedup();
    if !added.is_empty() {
        let detail = "no new finalizers can be added if the object is being deleted, found new finalizers";
        errors.push(Error::forbidden(at, &format!("{detail} []string{{{}}}", added.join(", "))));
    }
}
