//! The scale of a workload: an object of `autoscaling/v1`.

use schema::Scaling;
use serde_json::{Value, json};
use webhook::field::{Error, Path};

use crate::object::go_text::go_text;
use crate::object::meta;

/// The scale of an object. `scaling` has the paths of a custom resource's scale subresource.
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

/// The path of the desired replicas.
pub(crate) fn path(scaling: Option<&Scaling>) -> Vec<String> {
    scaling.map_or_else(|| ["spec", "replicas"].map(str::to_owned).to_vec(), |paths| paths.wanted.clone())
}

/// Checks that the scale of a custom resource can be read.
///
/// # Errors
/// The message of Go's accessors: `.spec.size accessor error: x is of the type string, expected int64`.
pub(crate) fn check(object: &Value, paths: &Scaling) -> Result<(), String> {
    for (path, text) in [(&paths.wanted, false), (&paths.current, false), (&paths.selector, true)] {
        match value_at(object, path)? {
            Some(found) if text && !path.is_empty() && !found.is_string() => {
                return Err(accessor_error(path, found, "string"));
            }
            Some(found) if !text && !found.is_i64() => return Err(accessor_error(path, found, "int64")),
            _ => {}
        }
    }
    Ok(())
}

/// The errors of the replicas at a path of a custom resource, and of its selector.
pub(crate) fn errors(object: &Value, paths: &Scaling, with_spec: bool) -> Vec<Error> {
    let replicas = |path: &Vec<String>| {
        let found = value_at(object, path);
        let number = found.as_ref().ok().and_then(|found| found.and_then(Value::as_i64)).unwrap_or_default();
        let why = match found {
            Err(why) => why,
            Ok(Some(found)) if !found.is_i64() => accessor_error(path, found, "int64"),
            Ok(_) if number < 0 => "should be a non-negative integer".to_owned(),
            Ok(_) if number > i64::from(i32::MAX) => format!("should be less than or equal to {}", i32::MAX),
            Ok(_) => return None,
        };
        Some(Error::invalid(&Path::new(&format_path(path)), number, &why))
    };
    let selector = || {
        let why = match value_at(object, &paths.selector) {
            Err(why) => why,
            Ok(Some(found)) if !found.is_string() => accessor_error(&paths.selector, found, "string"),
            Ok(_) => return None,
        };
        Some(Error::invalid(&Path::new(&format_path(&paths.selector)), "", &why))
    };
    let spec = with_spec.then(|| replicas(&paths.wanted)).flatten();
    let selector = if paths.selector.is_empty() { None } else { selector() };
    spec.into_iter().chain(replicas(&paths.current)).chain(selector).collect()
}

/// Sets the value at a path, and creates missing maps.
///
/// # Errors
/// The message of Go's accessors if a value on the path is not a map.
pub(crate) fn put(object: &mut Value, path: &[String], value: Value) -> Result<(), String> {
    let mut at = object;
    for (index, step) in path.iter().enumerate() {
        let Value::Object(fields) = at else {
            let path = format_path(&path[..index]);
            return Err(format!("value cannot be set because {path} is not a map[string]interface{{}}"));
        };
        at = fields
            .entry(step.as_str())
            .or_insert_with(|| if index + 1 < path.len() { json!({}) } else { Value::Null });
    }
    *at = value;
    Ok(())
}

/// The value at a path.
pub(crate) fn at<'a>(object: &'a Value, path: &[String]) -> Option<&'a Value> {
    path.iter().try_fold(object, |value, step| value.get(step))
}

/// The value at a path whose other values must be maps.
fn value_at<'a>(object: &'a Value, path: &[String]) -> Result<Option<&'a Value>, String> {
    let mut at = object;
    for (index, step) in path.iter().enumerate() {
        let below = match at {
            Value::Null => None,
            Value::Object(fields) => fields.get(step),
            other => return Err(accessor_error(&path[..=index], other, "map[string]interface{}")),
        };
        let Some(below) = below else { return Ok(None) };
        at = below;
    }
    Ok(Some(at))
}

fn accessor_error(path: &[String], found: &Value, wanted: &str) -> String {
    let ty = match found {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_i64() => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    };
    format!("{} accessor error: {} is of the type {ty}, expected {wanted}", format_path(path), go_text(found))
}

fn format_path(path: &[String]) -> String {
    format!(".{}", path.join("."))
}

/// Desired and current replicas, and the selector of the pods.
type ScaleValues = (Option<i64>, Option<i64>, String);

fn built_in(object: &Value) -> ScaleValues {
    let number = |pointer: &str| object.pointer(pointer).and_then(Value::as_i64);
    let labels = object.pointer("/spec/selector/matchLabels").or_else(|| object.pointer("/spec/selector"));
    let labels = labels.and_then(Value::as_object).into_iter().flatten();
    let selector: Vec<String> =
        labels.filter_map(|(key, value)| Some(format!("{key}={}", value.as_str()?))).collect();
    (number("/spec/replicas"), number("/status/replicas"), selector.join(","))
}

fn custom(object: &Value, paths: &Scaling) -> ScaleValues {
    let number = |path: &[String]| at(object, path).and_then(Value::as_i64);
    let selector = at(object, &paths.selector).and_then(Value::as_str).unwrap_or_default();
    (number(&paths.wanted), number(&paths.current), selector.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Vec<String> {
        text.split('.').filter(|step| !step.is_empty()).map(str::to_owned).collect()
    }

    #[test]
    fn unreadable_scales_have_the_message_of_go() {
        let paths = Scaling {
            wanted: path("spec.a.size"),
            current: path("status.size"),
            selector: path("status.of"),
        };
        let wrong = |at: &str, found: &str, wanted: &str| {
            Some(format!("{at} accessor error: {found}, expected {wanted}"))
        };
        let map = "map[string]interface{}";
        let table = [
            (json!({}), None),
            (json!({"spec": {"a": {"size": 3}}, "status": {"size": 2, "of": "x=y"}}), None),
            (json!({"spec": null}), None),
            (json!({"spec": "x"}), wrong(".spec.a", "x is of the type string", map)),
            (
                json!({"spec": {"a": [1, 2]}}),
                wrong(".spec.a.size", "[1 2] is of the type []interface {}", map),
            ),
            (
                json!({"spec": {"a": {"size": null}}}),
                wrong(".spec.a.size", "<nil> is of the type <nil>", "int64"),
            ),
            (
                json!({"spec": {"a": {"size": 1.5}}}),
                wrong(".spec.a.size", "1.5 is of the type float64", "int64"),
            ),
            (json!({"status": {"size": true}}), wrong(".status.size", "true is of the type bool", "int64")),
            (
                json!({"status": {"of": {"x": "y"}}}),
                wrong(".status.of", "map[x:y] is of the type map[string]interface {}", "string"),
            ),
        ];
        for (object, want) in table {
            assert_eq!(check(&object, &paths).err(), want, "{object}");
        }
    }

    #[test]
    fn replicas_are_set_below_maps() {
        let table = [
            (json!({}), Ok(json!({"spec": {"size": 1}}))),
            (json!({"spec": {"size": 3, "a": 1}}), Ok(json!({"spec": {"size": 1, "a": 1}}))),
            (
                json!({"spec": null}),
                Err("value cannot be set because .spec is not a map[string]interface{}".to_owned()),
            ),
        ];
        for (mut object, want) in table {
            let before = object.to_string();
            let result = put(&mut object, &path("spec.size"), 1.into());
            assert_eq!(result.map(|()| object), want, "{before}");
        }
    }
}
