//! When an update raises the generation of an object: spec, deletion, operations that annotations request.

use api::gardener::OPERATION;
use serde::de::DeserializeOwned;
use serde_json::Value;
use webhook::rejection::Rejection;
use webhook::strategy::Generation;

use crate::webhooks::reading;

/// Raised by a change of the spec, and by the beginning of a deletion.
pub(super) fn of_spec<T: DeserializeOwned, P: PartialEq>(
    kind: &str,
    (old, new): (&Value, &Value),
    spec: impl Fn(&T) -> &P,
) -> Result<Generation, Rejection> {
    Ok(Generation::raised_if(differs(kind, (old, new), spec)? || begins_deletion(old, new)))
}

/// Whether a part of an object differs from the old one. As in Go's semantic equality, an empty list or map is as good as none.
pub(super) fn differs<T: DeserializeOwned, P: PartialEq>(
    kind: &str,
    (old, new): (&Value, &Value),
    part: impl Fn(&T) -> &P,
) -> Result<bool, Rejection> {
    let (old, new): (T, T) = (reading::read(kind, old)?, reading::read(kind, new)?);
    Ok(part(&old) != part(&new))
}

/// Whether an update sets the time of the deletion, which the old object does not have.
pub(super) fn begins_deletion(old: &Value, new: &Value) -> bool {
    let is_deleted = |object: &Value| object.pointer("/metadata/deletionTimestamp").is_some();
    is_deleted(new) && !is_deleted(old)
}

/// The value of an annotation; empty if it is absent.
pub(super) fn annotation<'a>(object: &'a Value, name: &str) -> &'a str {
    object["metadata"]["annotations"][name].as_str().unwrap_or_default()
}

/// The operation that an object requests; empty if there is none.
pub(super) fn operation(object: &Value) -> &str {
    annotation(object, OPERATION)
}

/// Removes the requested operation.
pub(super) fn remove_operation(object: &mut Value) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) else { return };
    annotations.remove(OPERATION);
    if annotations.is_empty() {
        metadata.remove("annotations");
    }
}

/// Raised by a request of this operation, which is removed.
pub(super) fn of_consumed(object: &mut Value, wanted: &str) -> Generation {
    let requested = operation(object) == wanted;
    if requested {
        remove_operation(object);
    }
    Generation::raised_if(requested)
}

/// Whether a text is one of Go's spellings of `true`.
pub(crate) fn is_true(text: &str) -> bool {
    matches!(text, "1" | "t" | "T" | "TRUE" | "true" | "True")
}
