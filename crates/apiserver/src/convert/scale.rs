//! A workload as its scale shows it: an object of `autoscaling/v1`.

use schema::Scaling;
use serde_json::{Value, json};

use crate::object::meta;

/// The scale that an object shows; that of a custom resource lies where `scaling` says.
pub(crate) fn of(object: &Value, scaling: Option<&Scaling>) -> Value {
    let mut metadata = json!({});
    for field in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
        if let Some(value) = meta::of(object).get(field) {
            metadata[field] = value.clone();
        }
    }
    let (wanted, current, selector) = scaling.map_or_else(|| built_in(object), |paths| custom(object, paths));
    let mut spec = json!({});
    if let Some(replicas) = wanted.filter(|replicas| *replicas != 0) {
        spec["replicas"] = replicas.into();
    }
    let mut status = json!({"replicas": current.unwrap_or_default()});
    if !selector.is_empty() {
        status["selector"] = selector.into();
    }
    json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": metadata, "spec": spec, "status": status})
}

/// The value at a path of names.
pub(crate) fn at<'a>(object: &'a Value, path: &[String]) -> Option<&'a Value> {
    path.iter().try_fold(object, |value, step| value.get(step))
}

/// Wanted and current replicas, and the selector of their pods.
type Shown = (Option<i64>, Option<i64>, String);

fn built_in(object: &Value) -> Shown {
    let number = |pointer: &str| object.pointer(pointer).and_then(Value::as_i64);
    let labels = object.pointer("/spec/selector/matchLabels").or_else(|| object.pointer("/spec/selector"));
    let labels = labels.and_then(Value::as_object).into_iter().flatten();
    let selector: Vec<String> =
        labels.filter_map(|(key, value)| Some(format!("{key}={}", value.as_str()?))).collect();
    (number("/spec/replicas"), number("/status/replicas"), selector.join(","))
}

fn custom(object: &Value, paths: &Scaling) -> Shown {
    let number = |path: &[String]| at(object, path).and_then(Value::as_i64);
    let selector = at(object, &paths.selector).and_then(Value::as_str).unwrap_or_default();
    (number(&paths.wanted), number(&paths.current), selector.to_owned())
}
