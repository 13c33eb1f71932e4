//! Lists of operations (RFC 6902) as kube-apiserver carries them out: indices may be negative, what is absent can be
//! replaced in a map, an absent value is the same as null, and the whole can be replaced and compared.

use serde_json::Value;

/// An operation that does not fit the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unfit;

/// What a body must be to be operations.
///
/// # Errors
/// With the words of Go's decoder.
pub(crate) fn read(body: &[u8], strict: bool) -> Result<Vec<Value>, String> {
    // Who looks for unknown fields reads it before whoever carries it out.
    let (many, one, head) = if strict {
        ("[]handlers.jsonPatchOp", "handlers.jsonPatchOp", "error decoding patch: ")
    } else {
        ("jsonpatch.Patch", "jsonpatch.Operation", "")
    };
    let read = formats::json::document(body).and_then(|tree| match tree {
        Value::Array(operations) => Ok(operations),
        Value::Null => Ok(Vec::new()),
        other => Err(wrong(&other, many)),
    });
    let operations = read.map_err(|why| format!("{head}{why}"))?;
    match operations.iter().find(|operation| !operation.is_object() && !operation.is_null()) {
        Some(other) => Err(format!("{head}{}", wrong(other, one))),
        None => Ok(operations),
    }
}

/// Changes an object by operations, one after the other.
pub(crate) fn apply(object: &mut Value, operations: &[Value]) -> Result<(), Unfit> {
    operations.iter().try_for_each(|operation| carry_out(object, operation))
}

fn wrong(found: &Value, wanted: &str) -> String {
    let found = crate::object::fields::type_name(found);
    format!("json: cannot unmarshal {found} into Go value of type {wanted}")
}

fn carry_out(object: &mut Value, operation: &Value) -> Result<(), Unfit> {
    let text = |field: &str| operation.get(field).and_then(Value::as_str);
    let path = text("path").ok_or(Unfit)?;
    let value = || operation.get("value").cloned().unwrap_or_default();
    match text("op").ok_or(Unfit)? {
        "add" => add(object, path, value()),
        "remove" => remove(object, path).map(|_| ()),
        "replace" if path.is_empty() => whole(object, value()),
        "replace" => replace(object, path, value()),
        "move" => {
            let moved = remove(object, text("from").ok_or(Unfit)?)?;
            add(object, path, moved)
        }
        "copy" => {
            let copied = get(object, text("from").ok_or(Unfit)?)?;
            add(object, path, copied)
        }
        "test" => {
            let found = if path.is_empty() { object.clone() } else { get(object, path)? };
            if found == value() { Ok(()) } else { Err(Unfit) }
        }
        _ => Err(Unfit),
    }
}

/// What holds the last step of a path, and that step.
fn container<'a>(object: &'a mut Value, path: &str) -> Result<(&'a mut Value, String), Unfit> {
    let steps: Vec<String> =
        path.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~")).collect();
    let (last, parents) = steps.split_last().ok_or(Unfit)?;
    let mut at = object;
    for step in parents {
        at = match at {
            Value::Object(map) => map.get_mut(step).ok_or(Unfit)?,
            Value::Array(items) => {
                let index = index(step, items.len(), items.len())?;
                items.get_mut(index).ok_or(Unfit)?
            }
            _ => return Err(Unfit),
        };
    }
    if at.is_object() || at.is_array() { Ok((at, last.clone())) } else { Err(Unfit) }
}

/// The place that a step names in a list; below 0 from `from` backwards.
fn index(step: &str, from: usize, end: usize) -> Result<usize, Unfit> {
    let number: i64 = step.parse().map_err(|_| Unfit)?;
    let from = i64::try_from(from).map_err(|_| Unfit)?;
    let index = usize::try_from(if number < 0 { number + from } else { number }).map_err(|_| Unfit)?;
    if index < end { Ok(index) } else { Err(Unfit) }
}

fn get(object: &mut Value, path: &str) -> Result<Value, Unfit> {
    let (at, last) = container(object, path)?;
    match at {
        Value::Array(items) => Ok(items[index(&last, items.len(), items.len())?].clone()),
        other => Ok(other.get(&last).cloned().unwrap_or_default()),
    }
}

fn add(object: &mut Value, path: &str, value: Value) -> Result<(), Unfit> {
    let (at, last) = container(object, path)?;
    match at {
        Value::Array(items) if last == "-" => items.push(value),
        Value::Array(items) => {
            let places = items.len() + 1;
            items.insert(index(&last, places, places)?, value);
        }
        other => other[last.as_str()] = value,
    }
    Ok(())
}

fn whole(object: &mut Value, value: Value) -> Result<(), Unfit> {
    if !value.is_object() && !value.is_array() {
        return Err(Unfit);
    }
    *object = value;
    Ok(())
}

fn replace(object: &mut Value, path: &str, value: Value) -> Result<(), Unfit> {
    let (at, last) = container(object, path)?;
    match at {
        Value::Array(items) => {
            let index = index(&last, items.len(), items.len())?;
            items[index] = value;
        }
        other => other[last.as_str()] = value,
    }
    Ok(())
}

fn remove(object: &mut Value, path: &str) -> Result<Value, Unfit> {
    let (at, last) = container(object, path)?;
    match at {
        Value::Array(items) => Ok(items.remove(index(&last, items.len(), items.len())?)),
        Value::Object(map) => map.remove(&last).ok_or(Unfit),
        _ => Err(Unfit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn operations_change_what_they_fit() {
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
    fn what_is_no_list_of_operations_is_told_as_go_tells_it() {
        let table = [
            ("{}", "json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"),
            ("[1]", "json: cannot unmarshal number into Go value of type handlers.jsonPatchOp"),
            ("", "unexpected end of JSON input"),
        ];
        for (body, want) in table {
            assert_eq!(read(body.as_bytes(), true), Err(format!("error decoding patch: {want}")), "{body}");
        }
        assert_eq!(read(b"null", true), Ok(Vec::new()));
    }
}
