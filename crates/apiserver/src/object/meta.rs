//! Reads and writes `metadata` in place.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

/// The generation of a daemon set's template.
pub(crate) const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

static NONE: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

/// The object's `metadata`; empty if it has none.
pub(crate) fn of(object: &Value) -> &Map<String, Value> {
    object.get("metadata").and_then(Value::as_object).unwrap_or(&NONE)
}

/// The object's `metadata`, created if it is missing.
pub(crate) fn of_mut(object: &mut Value) -> &mut Map<String, Value> {
    if !object.get("metadata").is_some_and(Value::is_object) {
        object["metadata"] = Value::Object(Map::new());
    }
    object["metadata"].as_object_mut().expect("it was made an object above")
}

/// A string field of the metadata; empty if absent.
pub(crate) fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    of(object).get(field).and_then(Value::as_str).unwrap_or_default()
}

/// `metadata.name`.
pub(crate) fn name(object: &Value) -> &str {
    text(object, "name")
}

/// `metadata.namespace`.
pub(crate) fn namespace(object: &Value) -> &str {
    text(object, "namespace")
}

/// Sets the label of a namespace that contains its name.
pub(crate) fn label_namespace(object: &mut Value) {
    let name = name(object).to_owned();
    if name.is_empty() {
        return;
    }
    let labels = of_mut(object).entry("labels").or_insert_with(|| json!({}));
    labels["kubernetes.io/metadata.name"] = name.into();
}

/// The value of a label.
pub(crate) fn label<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    of(object).get("labels")?.get(key)?.as_str()
}

/// The finalizers; empty if none.
pub(crate) fn finalizers(object: &Value) -> Vec<&str> {
    let list = of(object).get("finalizers").and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Whether a deletion has begun.
pub(crate) fn is_terminating(object: &Value) -> bool {
    of(object).get("deletionTimestamp").is_some_and(|time| !time.is_null())
}

/// `metadata.generation`; 0 if absent.
pub(crate) fn generation(object: &Value) -> i64 {
    of(object).get("generation").and_then(Value::as_i64).unwrap_or_default()
}

/// Sets a field of the metadata.
pub(crate) fn set(object: &mut Value, field: &str, value: impl Into<Value>) {
    of_mut(object).insert(field.to_owned(), value.into());
}

/// Copies a metadata field from another object, or removes it if that has none.
pub(crate) fn keep(object: &mut Value, old: &Value, field: &str) {
    match of(old).get(field) {
        Some(value) => set(object, field, value.clone()),
        None => {
            of_mut(object).remove(field);
        }
    }
}

/// A partial object with only the metadata, as another kind.
pub(crate) fn partial(object: &Value, api_version: &str, kind: &str) -> Value {
    let mut metadata = object.get("metadata").cloned().unwrap_or_default();
    if object["kind"] == "DaemonSet" {
        // kube-apiserver stores this annotation as a field, which partial objects do not contain.
        let emptied = metadata
            .get_mut("annotations")
            .and_then(Value::as_object_mut)
            .is_some_and(|all| all.remove(TEMPLATE_GENERATION).is_some() && all.is_empty());
        if emptied && let Some(fields) = metadata.as_object_mut() {
            fields.remove("annotations");
        }
    }
    json!({"apiVersion": api_version, "kind": kind, "metadata": metadata})
}
