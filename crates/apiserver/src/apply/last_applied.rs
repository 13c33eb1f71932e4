//! The annotation of client-side apply, which lets kubectl migrate to server-side apply without conflicts.

use serde_json::Value;

use super::compare::compare;
use super::conflict::Conflict;
use super::fields;
use super::lens::Lens;
use super::set::FieldSet;
use crate::object::meta;

const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Largest total size of an object's annotations, in bytes.
const MAX_ANNOTATIONS_SIZE: usize = 256 * 1024;

/// The manager that migrates from client-side apply automatically.
pub(super) const KUBECTL: &str = "kubectl";

/// The conflicts about fields that client-side apply did not set. `None` if the object has no usable annotation: then
/// all conflicts remain.
pub(super) fn remaining_conflicts(
    lens: &Lens<'_>,
    object: &Value,
    conflicts: &[Conflict],
) -> Option<Vec<Conflict>> {
    let own = fields_still_applied(lens, object)?;
    Some(conflicts.iter().filter(|conflict| !own.has(&conflict.path)).cloned().collect())
}

/// Writes the configuration into the annotation, if the object has one.
pub(super) fn update_annotation(object: &mut Value, configuration: &Value) {
    if annotation(object).is_none_or(str::is_empty) {
        return;
    }
    let mut configuration = configuration.clone();
    if let Some(annotations) = annotations(&mut configuration) {
        annotations.remove(ANNOTATION);
    }
    let text = format!("{configuration}\n");
    let Some(annotations) = annotations(object) else { return };
    annotations.remove(ANNOTATION);
    let size = |text: &Value| text.as_str().map_or(0, str::len);
    let others: usize = annotations.iter().map(|(name, value)| name.len() + size(value)).sum();
    if others + ANNOTATION.len() + text.len() <= MAX_ANNOTATIONS_SIZE {
        annotations.insert(ANNOTATION.to_owned(), text.into());
    }
}

/// The fields that client-side apply set and that still have the value that it set.
fn fields_still_applied(lens: &Lens<'_>, object: &Value) -> Option<FieldSet> {
    let text = annotation(object).filter(|text| !text.is_empty())?;
    let mut last = formats::json::document(text.as_bytes()).ok()?;
    formats::json::reread(&mut last);
    if last.get("apiVersion")? != &Value::from(lens.api_version()) {
        return None;
    }
    let node = lens.schema_node(&lens.api_version())?;
    let change = compare(&node, &last, object);
    let applied = fields::of(&node, &last);
    Some(applied.difference(&change.modified).difference(&change.added).difference(&change.removed))
}

fn annotation(object: &Value) -> Option<&str> {
    meta::of(object).get("annotations")?.get(ANNOTATION)?.as_str()
}

fn annotations(object: &mut Value) -> Option<&mut serde_json::Map<String, Value>> {
    meta::of_mut(object).get_mut("annotations")?.as_object_mut()
}
