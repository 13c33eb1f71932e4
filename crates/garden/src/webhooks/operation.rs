//! The operation that an object requests with its annotation.

use api::gardener::OPERATION;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use webhook::field::{Error, Path};

use super::field_errors::supported;

/// An operation must be one of the supported ones.
pub(super) fn validate(metadata: &ObjectMeta, operations: &[&str]) -> Option<Error> {
    let operation = of(metadata);
    if operation.is_empty() { None } else { supported(&path(), operation, operations) }
}

/// An operation is not replaced by another one, but by `reconcile` if nothing else is new; the original removes that
/// annotation before it compares.
pub(super) fn overwritten(new: &ObjectMeta, old: &ObjectMeta, has_new_spec: bool) -> Option<Error> {
    let is_deleted = new.deletion_timestamp.is_some() && old.deletion_timestamp.is_none();
    let (new, old) = (of(new), of(old));
    let is_removed = new == "reconcile" && !has_new_spec && !is_deleted;
    (!new.is_empty() && !old.is_empty() && new != old && !is_removed)
        .then(|| Error::forbidden(&path(), &format!("must not overwrite operation \"{old}\" with \"{new}\"")))
}

/// The operation; empty if there is none.
fn of(metadata: &ObjectMeta) -> &str {
    let annotations = metadata.annotations.as_ref();
    annotations.and_then(|annotations| annotations.get(OPERATION)).map_or("", String::as_str)
}

fn path() -> Path {
    Path::new("metadata").child("annotations").key(OPERATION)
}
