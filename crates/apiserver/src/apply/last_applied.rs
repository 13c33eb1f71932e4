//! The configuration that client-side apply keeps in an annotation, for those who change over to server-side apply.

use serde_json::Value;

use super::compare::compare;
use super::conflict::Conflict;
use super::fields;
use super::lens::Lens;
use super::set::FieldSet;
use crate::object::meta;

const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// How large all annotations of an object may be, in bytes.
const LARGEST_ANNOTATIONS: usize = 256 * 1024;

/// The only one who changes over by itself.
pub(super) const KUBECTL: &str = "kubectl";

/// The conflicts that are left when the fields that client-side apply set before are nobody else's; absent where
/// there is no such configuration, so that all of them are.
pub(super) fn remaining(lens: &Lens<'_>, object: &Value, conflicts: &[Conflict]) -> Option<Vec<Conflict>> {
    let said = said(lens, object)?;
    Some(conflicts.iter().filter(|conflict| !said.has(&conflict.path)).cloned().collect())
}

/// Lets the annotation, if there is one, say what was applied.
pub(super) fn refresh(object: &mut Value, configuration: &Value) {
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
    if others + ANNOTATION.len() + text.len() <= LARGEST_ANNOTATIONS {
        annotations.insert(ANNOTATION.to_owned(), text.into());
    }
}

/// The fields that client-side apply set and that still have the value that it gave them.
fn said(lens: &Lens<'_>, object: &Value) -> Option<FieldSet> {
    let text = annotation(object).filter(|text| !text.is_empty())?;
    let last: Value = serde_json::from_str(text).ok()?;
    if last.get("apiVersion")? != &Value::from(lens.api_version()) {
        return None;
    }
    let place = lens.place(&lens.api_version())?;
    let change = compare(&place, &last, object);
    let said = fields::of(&place, &last);
    Some(said.difference(&change.modified).difference(&change.added).difference(&change.removed))
}

fn annotation(object: &Value) -> Option<&str> {
    meta::of(object).get("annotations")?.get(ANNOTATION)?.as_str()
}

fn annotations(object: &mut Value) -> Option<&mut serde_json::Map<String, Value>> {
    meta::of_mut(object).get_mut("annotations")?.as_object_mut()
}
