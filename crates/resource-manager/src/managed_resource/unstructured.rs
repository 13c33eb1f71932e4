//! Reads and writes raw objects as leniently as Kubernetes' unstructured objects: a value of the wrong type counts as
//! absent.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::GroupKind;

/// The fields of an object.
pub type Fields = Map<String, Value>;

/// `apps/v1`; empty if missing.
#[must_use]
pub fn api_version(object: &Value) -> &str {
    text(object, &["apiVersion"])
}

/// `Deployment`; empty if missing.
#[must_use]
pub fn kind(object: &Value) -> &str {
    text(object, &["kind"])
}

/// The name; empty if missing.
#[must_use]
pub fn name(object: &Value) -> &str {
    text(object, &["metadata", "name"])
}

/// The namespace; empty if missing.
#[must_use]
pub fn namespace(object: &Value) -> &str {
    text(object, &["metadata", "namespace"])
}

/// The labels that are strings. The original drops all labels if one is not, which loses data.
#[must_use]
pub fn labels(object: &Value) -> BTreeMap<String, String> {
    texts(object, &["metadata", "labels"])
}

/// The annotations that are strings; see [`labels`].
#[must_use]
pub fn annotations(object: &Value) -> BTreeMap<String, String> {
    texts(object, &["metadata", "annotations"])
}

/// One annotation.
#[must_use]
pub fn annotation<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    at(object, &["metadata", "annotations", key])?.as_str()
}

/// One label.
#[must_use]
pub fn label<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    at(object, &["metadata", "labels", key])?.as_str()
}

/// Writes the namespace; an empty one is removed.
pub fn set_namespace(object: &mut Value, namespace: &str) {
    if namespace.is_empty() {
        if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
            metadata.remove("namespace");
        }
    } else if let Some(metadata) = fields_at(object, &["metadata"]) {
        metadata.insert("namespace".to_owned(), Value::from(namespace));
    }
}

/// Group and version of an `apiVersion`; `None` if it has more than one slash.
#[must_use]
pub fn group_version(api_version: &str) -> Option<(&str, &str)> {
    match api_version.split_once('/') {
        None => Some(("", api_version)),
        Some((_, version)) if version.contains('/') => None,
        Some(pair) => Some(pair),
    }
}

/// Group and kind of an object; both empty if its `apiVersion` is invalid.
#[must_use]
pub fn group_kind(object: &Value) -> GroupKind {
    match group_version(api_version(object)) {
        Some((group, _)) => GroupKind { group: group.to_owned(), kind: kind(object).to_owned() },
        None => GroupKind::default(),
    }
}

/// The value at a path of keys; `None` if a parent is not a map.
pub(super) fn at<'a>(object: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(object, |value, key| value.as_object()?.get(*key))
}

/// The value at a path, for changes.
pub(super) fn at_mut<'a>(object: &'a mut Value, path: &[&str]) -> Option<&'a mut Value> {
    path.iter().try_fold(object, |value, key| value.as_object_mut()?.get_mut(*key))
}

/// The string at a path; empty if missing.
pub(super) fn text<'a>(object: &'a Value, path: &[&str]) -> &'a str {
    at(object, path).and_then(Value::as_str).unwrap_or_default()
}

/// The list at a path; empty if missing.
pub(super) fn list<'a>(object: &'a Value, path: &[&str]) -> &'a [Value] {
    at(object, path).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// The entries of the map at a path that are strings.
pub(super) fn texts(object: &Value, path: &[&str]) -> BTreeMap<String, String> {
    let entries = at(object, path).and_then(Value::as_object);
    let texts = entries.into_iter().flatten();
    texts.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
}

/// The map at a path, created with its parents if absent or null; `None` if a value on the path has another type.
pub(super) fn fields_at<'a>(object: &'a mut Value, path: &[&str]) -> Option<&'a mut Fields> {
    let mut value = object;
    for key in path {
        value = value.as_object_mut()?.entry(*key).or_insert(Value::Null);
        if value.is_null() {
            *value = Value::Object(Fields::new());
        }
    }
    value.as_object_mut()
}

/// Sets or removes the value at a path; does nothing if a parent is not a map.
pub(super) fn put(object: &mut Value, path: &[&str], value: Option<Value>) {
    let Some((key, parents)) = path.split_last() else { return };
    match value {
        Some(value) => {
            if let Some(fields) = fields_at(object, parents) {
                fields.insert((*key).to_owned(), value);
            }
        }
        None => {
            if let Some(Value::Object(fields)) = at_mut(object, parents) {
                fields.remove(*key);
            }
        }
    }
}

/// A map of strings as JSON.
pub(super) fn to_value(texts: BTreeMap<String, String>) -> Value {
    Value::Object(texts.into_iter().map(|(key, text)| (key, Value::String(text))).collect())
}
