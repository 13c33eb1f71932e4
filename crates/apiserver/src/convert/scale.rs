//! A workload as its scale shows it: an object of `autoscaling/v1`.

use serde_json::{Value, json};

use crate::object::meta;

/// The scale that an object shows.
pub(crate) fn of(object: &Value) -> Value {
    let mut metadata = json!({});
    for field in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
        if let Some(value) = meta::of(object).get(field) {
            metadata[field] = value.clone();
        }
    }
    let number = |pointer: &str| object.pointer(pointer).and_then(Value::as_i64);
    let mut spec = json!({});
    if let Some(replicas) = number("/spec/replicas") {
        spec["replicas"] = replicas.into();
    }
    let mut status = json!({"replicas": number("/status/replicas").unwrap_or_default()});
    let labels = object.pointer("/spec/selector/matchLabels").or_else(|| object.pointer("/spec/selector"));
    let labels = labels.and_then(Value::as_object).into_iter().flatten();
    let selector: Vec<String> =
        labels.filter_map(|(key, value)| Some(format!("{key}={}", value.as_str()?))).collect();
    if !selector.is_empty() {
        status["selector"] = selector.join(",").into();
    }
    json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": metadata, "spec": spec, "status": status})
}
