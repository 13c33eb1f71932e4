//! JSON patches (RFC 6902) as kube-apiserver applies them for clients and webhooks. Differences from the RFC: indices may be
//! negative, `replace` may set an absent field of a map, an absent value equals null, and the whole document can be replaced
//! and tested, but not added. The size that copies add and the depth of the result are limited.

use std::fmt;
use std::io;

use serde_json::Value;

use crate::depth;

/// An operation that cannot be applied to the object; the message is that of Go's library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfit(String);

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unfit {}

/// The message of Go's library for a path that does not exist.
const MISSING: &str = "missing value";
/// Number of bytes of JSON that all copies of a patch may add; kube-apiserver's limit.
const MOST_COPIED: usize = 3 << 20;

/// Reads a list of operations; null is an empty list. [`apply`] validates the operations themselves.
///
/// # Errors
/// If the text is not a list of maps, with the message of Go's decoder.
pub fn read(text: &[u8]) -> Result<Vec<Value>, String> {
    let type_error = |found: &Value, wanted: &str| {
        format!("json: cannot unmarshal {} into Go value of type {wanted}", type_name(found))
    };
    let operations = match crate::json::document(text)? {
        Value::Array(operations) => operations,
        Value::Null => Vec::new(),
        other => return Err(type_error(&other, "jsonpatch.Patch")),
    };
    match operations.iter().find(|operation| !operation.is_object() && !operation.is_null()) {
        Some(other) => Err(type_error(other, "jsonpatch.Operation")),
        None => Ok(operations),
    }
}

/// Applies operations to an object in order.
///
/// # Errors
/// At the first operation that cannot be applied, brings the copies beyond 3 MiB, or makes the object deeper than it can
/// be read. The earlier operations stay applied.
pub fn apply(object: &mut Value, operations: &[Value]) -> Result<(), Unfit> {
    let mut copied = 0;
    operations.iter().try_for_each(|operation| apply_one(object, operation, &mut copied))
}

/// The length of a value as JSON; 0 for null.
fn json_length(value: &Value) -> usize {
    struct Length(usize);
    impl io::Write for Length {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut length = Length(0);
    let written = if value.is_null() { Ok(()) } else { serde_json::to_writer(&mut length, value) };
    // Serializing a value into a counter cannot fail.
    written.map_or(usize::MAX, |()| length.0)
}

/// Rejects a value that would make the object too deep.
fn check_depth(path: PatchPath<'_>, value: &Value) -> Result<(), Unfit> {
    let levels = path.text.matches('/').count() + depth::levels(value);
    if depth::fits(levels) { Ok(()) } else { Err(unfit(depth::TOO_DEEP)) }
}

/// The name of Go's decoder for the type of a value.
fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn unfit(message: impl Into<String>) -> Unfit {
    Unfit(message.into())
}

fn apply_one(object: &mut Value, operation: &Value, copied: &mut usize) -> Result<(), Unfit> {
    let kind = operation.get("op").and_then(Value::as_str).unwrap_or("unknown");
    let text = |field: &str| {
        let found = operation.get(field).and_then(Value::as_str);
        found.ok_or_else(|| {
            let why = match (kind, field) {
                ("add" | "remove" | "copy", "path") => String::new(),
                (_, "from") => "operation, missing from field: ".to_owned(),
                _ => "operation missing path field: ".to_owned(),
            };
            unfit(format!("{kind} operation failed to decode {field}: {why}{MISSING}"))
        })
    };
    let value = || operation.get("value").cloned().unwrap_or_default();
    match kind {
        "add" => add(object, PatchPath::new(kind, text("path")?), value()),
        "remove" => remove(object, PatchPath::new(kind, text("path")?)).map(drop),
        "replace" => replace(object, text("path")?, value()),
        "move" => {
            let moved = remove(object, PatchPath::from(kind, text("from")?))?;
            add(object, PatchPath::to(kind, text("path")?), moved)
        }
        "copy" => {
            let value = get(object, PatchPath::from(kind, text("from")?))?;
            let to = PatchPath::to(kind, text("path")?);
            to.container(object)?;
            *copied += json_length(&value);
            if *copied > MOST_COPIED {
                return Err(unfit(format!(
                    "Unable to complete the copy, the accumulated size increase of copy is {copied}, exceeding the limit {MOST_COPIED}"
                )));
            }
            add(object, to, value)
        }
        "test" => {
            let path = text("path")?;
            let found = if path.is_empty() { object.clone() } else { get(object, PatchPath::test(path))? };
            let is_equal = found == value();
            if is_equal { Ok(()) } else { Err(unfit(format!("testing value {path} failed: test failed"))) }
        }
        kind => Err(unfit(format!("Unexpected kind: {kind}"))),
    }
}

/// A path of an operation, with the form of the error message for a path that does not exist.
#[derive(Clone, Copy)]
struct PatchPath<'a> {
    kind: &'a str,
    text: &'a str,
    not_found: &'a str,
    quoted: bool,
}

impl<'a> PatchPath<'a> {
    fn new(kind: &'a str, text: &'a str) -> Self {
        Self { kind, text, not_found: "does not apply: doc is missing path", quoted: true }
    }

    fn from(kind: &'a str, text: &'a str) -> Self {
        Self { kind, text, not_found: "does not apply: doc is missing from path", quoted: false }
    }

    fn to(kind: &'a str, text: &'a str) -> Self {
        Self { kind, text, not_found: "does not apply: doc is missing destination path", quoted: false }
    }

    fn test(text: &'a str) -> Self {
        Self { kind: "test", text, not_found: "does not apply: is missing path", quoted: false }
    }

    fn missing(self) -> Unfit {
        let Self { kind, text, not_found, quoted } = self;
        let quote = if quoted { "\"" } else { "" };
        unfit(format!("{kind} operation {not_found}: {quote}{text}{quote}: {MISSING}"))
    }

    fn error(self, why: &str) -> Unfit {
        let Self { kind, text, not_found, .. } = self;
        let last = text.rsplit('/').next().unwrap_or_default();
        unfit(match (kind, not_found.contains("from path")) {
            ("copy", true) => format!("error in copy for from: '{text}': {why}"),
            ("copy", false) => format!("error while adding value during copy: {why}"),
            ("move", true) => format!("error in move for path: '{last}': {why}"),
            _ => format!("error in {kind} for path: '{text}': {why}"),
        })
    }

    /// The list or map that contains the last step of the path, and that step.
    fn container(self, object: &mut Value) -> Result<(&mut Value, String), Unfit> {
        let step = |step: &str| step.replace("~1", "/").replace("~0", "~");
        let steps: Vec<&str> = self.text.split('/').skip(1).collect();
        let (last, steps) = steps.split_last().ok_or_else(|| self.missing())?;
        let mut at = object;
        for part in steps {
            let next = match at {
                Value::Object(map) => map.get_mut(&step(part)),
                Value::Array(items) => {
                    let found = index(&step(part), items.len(), items.len());
                    found.ok().and_then(|index| items.get_mut(index))
                }
                _ => None,
            };
            at = next.ok_or_else(|| self.missing())?;
        }
        if at.is_object() || at.is_array() { Ok((at, step(last))) } else { Err(self.missing()) }
    }
}

/// Parses an index into a list of `length`; a negative index counts from the end.
fn index(step: &str, length: usize, end: usize) -> Result<usize, String> {
    let number: i64 = step.parse().map_err(|_| format!("strconv.Atoi: parsing {step:?}: invalid syntax"))?;
    let invalid_index = || format!("Unable to access invalid index: {number}: invalid index referenced");
    let length = i64::try_from(length).map_err(|_| invalid_index())?;
    let index =
        usize::try_from(if number < 0 { number + length } else { number }).map_err(|_| invalid_index())?;
    if index < end { Ok(index) } else { Err(invalid_index()) }
}

fn get(object: &mut Value, path: PatchPath<'_>) -> Result<Value, Unfit> {
    let (at, last) = path.container(object)?;
    match at {
        Value::Array(items) => {
            let index = index(&last, items.len(), items.len()).map_err(|why| path.error(&why))?;
            Ok(items[index].clone())
        }
        other => Ok(other.get(&last).cloned().unwrap_or_default()),
    }
}

fn add(object: &mut Value, path: PatchPath<'_>, value: Value) -> Result<(), Unfit> {
    check_depth(path, &value)?;
    let (at, last) = path.container(object)?;
    match at {
        Value::Array(items) if last == "-" => items.push(value),
        Value::Array(items) => {
            let places = items.len() + 1;
            let index_error = |why: String| match last.parse::<i64>() {
                Ok(_) => path.error(&why),
                Err(_) => path.error(&format!("value was not a proper array index: '{last}': {why}")),
            };
            items.insert(index(&last, places, places).map_err(index_error)?, value);
        }
        other => other[last.as_str()] = value,
    }
    Ok(())
}

fn replace(object: &mut Value, path: &str, value: Value) -> Result<(), Unfit> {
    if path.is_empty() {
        if !value.is_object() && !value.is_array() {
            return Err(unfit("replace operation value must be object or array"));
        }
        *object = value;
        return Ok(());
    }
    let path = PatchPath { quoted: false, ..PatchPath::new("replace", path) };
    check_depth(path, &value)?;
    let (at, last) = path.container(object)?;
    match at {
        Value::Array(items) => {
            let missing = |_| {
                unfit(format!(
                    "replace operation does not apply: doc is missing key: {}: {MISSING}",
                    path.text
                ))
            };
            let index = index(&last, items.len(), items.len()).map_err(missing)?;
            items[index] = value;
        }
        other => other[last.as_str()] = value,
    }
    Ok(())
}

fn remove(object: &mut Value, path: PatchPath<'_>) -> Result<Value, Unfit> {
    let (at, last) = path.container(object)?;
    match at {
        Value::Array(items) => {
            let index = index(&last, items.len(), items.len()).map_err(|why| path.error(&why))?;
            Ok(items.remove(index))
        }
        Value::Object(map) => {
            let absent = || path.error(&format!("Unable to remove nonexistent key: {last}: {MISSING}"));
            map.remove(&last).ok_or_else(absent)
        }
        _ => Err(path.missing()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn operations_are_applied_or_rejected() {
        let table = [
            (
                json!({"op": "add", "path": "/a/x", "value": 1}),
                Some(json!({"a": {"b": 1, "x": 1}, "l": [1, 2]})),
            ),
            (json!({"op": "add", "path": "/l/-", "value": 3}), Some(json!({"a": {"b": 1}, "l": [1, 2, 3]}))),
            (json!({"op": "add", "path": "/l/-1", "value": 3}), Some(json!({"a": {"b": 1}, "l": [1, 2, 3]}))),
            (json!({"op": "add", "path": "/l/3", "value": 3}), None),
            (json!({"op": "add", "path": "/none/x", "value": 3}), None),
            (
                json!({"op": "replace", "path": "/a/none", "value": 1}),
                Some(json!({"a": {"b": 1, "none": 1}, "l": [1, 2]})),
            ),
            (json!({"op": "replace", "path": "/l/2", "value": 1}), None),
            (json!({"op": "remove", "path": "/l/-1"}), Some(json!({"a": {"b": 1}, "l": [1]}))),
            (json!({"op": "remove", "path": "/a/none"}), None),
            (
                json!({"op": "copy", "from": "/a/none", "path": "/c"}),
                Some(json!({"a": {"b": 1}, "c": null, "l": [1, 2]})),
            ),
            (json!({"op": "move", "from": "/a/b", "path": "/l/0"}), Some(json!({"a": {}, "l": [1, 1, 2]}))),
            (
                json!({"op": "test", "path": "/a/none", "value": null}),
                Some(json!({"a": {"b": 1}, "l": [1, 2]})),
            ),
            (json!({"op": "test", "path": "/a/none"}), Some(json!({"a": {"b": 1}, "l": [1, 2]}))),
            (json!({"op": "test", "path": "/a/b", "value": 2}), None),
            (json!({"op": "test", "path": "/a/b"}), None),
            (
                json!({"op": "test", "path": "", "value": {"a": {"b": 1}, "l": [1, 2]}}),
                Some(json!({"a": {"b": 1}, "l": [1, 2]})),
            ),
            (json!({"op": "test", "path": "", "value": {}}), None),
            (json!({"op": "test", "path": ""}), None),
            (json!({"op": "replace", "path": "", "value": {"c": 1}}), Some(json!({"c": 1}))),
            (json!({"op": "replace", "path": "", "value": [1]}), Some(json!([1]))),
            (json!({"op": "replace", "path": "", "value": "text"}), None),
            (json!({"op": "replace", "path": ""}), None),
            (json!({"op": "add", "path": "", "value": {"c": 1}}), None),
            (json!({"op": "remove", "path": ""}), None),
            (json!({"op": "copy", "from": "", "path": "/c"}), None),
            (json!({"op": "move", "from": "/a", "path": ""}), None),
            (json!({"op": "odd", "path": "/a"}), None),
            (json!({"op": "add"}), None),
        ];
        for (operation, want) in table {
            let mut object = json!({"a": {"b": 1}, "l": [1, 2]});
            let done = apply(&mut object, std::slice::from_ref(&operation)).ok().map(|()| object);
            assert_eq!(done, want, "{operation}");
        }
    }

    #[test]
    fn copies_add_at_most_three_mebibytes() {
        let copy = |from: &str, to: usize| json!({"op": "copy", "from": from, "path": format!("/c{to}")});
        let object = json!({"a": "x".repeat((1 << 20) - 2), "b": 1});
        let mut operations: Vec<Value> = (0..3).map(|to| copy("/a", to)).collect();
        operations.push(copy("/none", 4));
        assert_eq!(apply(&mut object.clone(), &operations), Ok(()));
        operations.push(copy("/b", 5));
        let why = "Unable to complete the copy, the accumulated size increase of copy is 3145729, exceeding the limit 3145728";
        assert_eq!(apply(&mut object.clone(), &operations), Err(unfit(why)));
    }

    #[test]
    fn the_depth_of_the_path_and_of_the_value_add_up() {
        let all = std::thread::Builder::new().stack_size(256 << 20).spawn(|| {
            let around = |value, _| Value::Object([("a".to_owned(), value)].into_iter().collect());
            let nested = |levels: usize| (0..levels).fold(json!(1), around);
            let way = |steps: usize| "/a".repeat(steps) + "/b";
            let change = |operation: Value| {
                let mut object = nested(9_000);
                let done = apply(&mut object, &[operation]);
                (done, depth::levels(&object))
            };
            let table = [
                json!({"op": "copy", "from": "/a", "path": way(1_000)}),
                json!({"op": "add", "path": way(1_000), "value": nested(8_999)}),
                json!({"op": "add", "path": way(8_999), "value": nested(1_000)}),
                json!({"op": "replace", "path": way(1_000), "value": nested(8_999)}),
            ];
            for operation in table {
                assert_eq!(change(operation.clone()), (Ok(()), 10_000));
                let mut deeper = operation;
                deeper["path"] = format!("/a{}", deeper["path"].as_str().unwrap()).into();
                assert_eq!(change(deeper), (Err(unfit(depth::TOO_DEEP)), 9_000));
            }
        });
        all.unwrap().join().unwrap();
    }

    #[test]
    fn case_50_patches_of_webhooks_follow_the_same_rules() {
        let object = json!({"kind": "ConfigMap", "metadata": {"labels": {"a": "b"}, "finalizers": ["a", "b"]}, "data": {"a": "1"}});
        let outcome = |operation: Value| {
            let mut object = object.clone();
            apply(&mut object, &[operation]).map(|()| object).map_err(|error| error.to_string())
        };
        let with = |pointer: &str, value: Value| {
            let mut object = object.clone();
            *object.pointer_mut(pointer).unwrap() = value;
            Ok(object)
        };
        let table = [
            (json!({"op": "replace", "path": "/metadata/labels/x", "value": "y"}), with("/metadata/labels", json!({"a": "b", "x": "y"}))),
            (json!({"op": "test", "path": "/metadata/annotations", "value": null}), Ok(object.clone())),
            (json!({"op": "remove", "path": "/metadata/finalizers/-1"}), with("/metadata/finalizers", json!(["a"]))),
            (json!({"op": "add", "path": "/data/z"}), with("/data", json!({"a": "1", "z": null}))),
            (json!({"op": "copy", "from": "/data/none", "path": "/data/z"}), with("/data", json!({"a": "1", "z": null}))),
            (
                json!({"op": "add", "path": "", "value": {}}),
                Err("add operation does not apply: doc is missing path: \"\": missing value".to_owned()),
            ),
            (json!({"op": "frob", "path": "/data/z"}), Err("Unexpected kind: frob".to_owned())),
            (
                json!({"op": "remove", "path": "/data/none"}),
                Err("error in remove for path: '/data/none': Unable to remove nonexistent key: none: missing value".to_owned()),
            ),
            (
                json!({"op": "replace", "path": "/none/x", "value": 1}),
                Err("replace operation does not apply: doc is missing path: /none/x: missing value".to_owned()),
            ),
        ];
        for (operation, want) in table {
            assert_eq!(outcome(operation.clone()), want, "{operation}");
        }
        assert_eq!(read(b"null"), Ok(Vec::new()));
        let message = |text: &str| read(text.as_bytes()).unwrap_err();
        assert_eq!(message("{}"), "json: cannot unmarshal object into Go value of type jsonpatch.Patch");
        assert_eq!(message("[1]"), "json: cannot unmarshal number into Go value of type jsonpatch.Operation");
    }
}
