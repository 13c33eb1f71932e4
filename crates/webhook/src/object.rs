//! Typed access to raw objects. Fields are read and written in place, so that unknown fields are kept.

use serde_json::{Map, Value};

/// A field has the wrong JSON type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: expected {expected}, found {found}")]
pub struct WrongType {
    /// Dotted path from the object's root.
    pub path: String,
    /// Expected JSON type.
    pub expected: &'static str,
    /// JSON type found.
    pub found: &'static str,
}

/// The field at `path`; `None` if it or a parent is absent or null.
///
/// # Errors
/// When a parent is not an object.
pub fn get<'a>(object: &'a Value, path: &[&str]) -> Result<Option<&'a Value>, WrongType> {
    let mut at = object;
    for (depth, name) in path.iter().enumerate() {
        match at {
            Value::Object(fields) => match fields.get(*name) {
                None | Some(Value::Null) => return Ok(None),
                Some(child) => at = child,
            },
            other => return Err(wrong_type(&path[..depth], "object", other)),
        }
    }
    Ok(Some(at))
}

/// The text at `path`; empty if absent, as in Go.
///
/// # Errors
/// When the field is not a string.
pub fn text<'a>(object: &'a Value, path: &[&str]) -> Result<&'a str, WrongType> {
    match get(object, path)? {
        None => Ok(""),
        Some(Value::String(text)) => Ok(text),
        Some(other) => Err(wrong_type(path, "string", other)),
    }
}

/// The integer at `path`; `None` if absent.
///
/// # Errors
/// When the field is not an integer.
pub fn integer(object: &Value, path: &[&str]) -> Result<Option<i64>, WrongType> {
    match get(object, path)? {
        None => Ok(None),
        Some(value) => value.as_i64().map(Some).ok_or_else(|| wrong_type(path, "integer", value)),
    }
}

/// The boolean at `path`; `None` if absent.
///
/// # Errors
/// When the field is not a boolean.
pub fn boolean(object: &Value, path: &[&str]) -> Result<Option<bool>, WrongType> {
    match get(object, path)? {
        None => Ok(None),
        Some(Value::Bool(value)) => Ok(Some(*value)),
        Some(other) => Err(wrong_type(path, "boolean", other)),
    }
}

/// The list at `path`; empty if absent.
///
/// # Errors
/// When the field is not a list.
pub fn list<'a>(object: &'a Value, path: &[&str]) -> Result<&'a [Value], WrongType> {
    match get(object, path)? {
        None => Ok(&[]),
        Some(Value::Array(items)) => Ok(items),
        Some(other) => Err(wrong_type(path, "list", other)),
    }
}

/// The map at `path`; `None` if absent.
///
/// # Errors
/// When the field is not a map.
pub fn map<'a>(object: &'a Value, path: &[&str]) -> Result<Option<&'a Map<String, Value>>, WrongType> {
    match get(object, path)? {
        None => Ok(None),
        Some(Value::Object(fields)) => Ok(Some(fields)),
        Some(other) => Err(wrong_type(path, "object", other)),
    }
}

/// The map at `path`; it and its parents are created if absent.
///
/// # Errors
/// When the field or a parent is not a map.
pub fn map_mut<'a>(object: &'a mut Value, path: &[&str]) -> Result<&'a mut Map<String, Value>, WrongType> {
    match get_or_create(object, path, || Value::Object(Map::new()))? {
        Value::Object(fields) => Ok(fields),
        other => Err(wrong_type(path, "object", other)),
    }
}

/// The list at `path`; it and its parents are created if absent.
///
/// # Errors
/// When the field is not a list or a parent is not a map.
pub fn list_mut<'a>(object: &'a mut Value, path: &[&str]) -> Result<&'a mut Vec<Value>, WrongType> {
    match get_or_create(object, path, || Value::Array(Vec::new()))? {
        Value::Array(items) => Ok(items),
        other => Err(wrong_type(path, "list", other)),
    }
}

/// Sets the field at `path`; parents are created if absent.
///
/// # Errors
/// When a parent is not a map.
pub fn set(object: &mut Value, path: &[&str], value: impl Into<Value>) -> Result<(), WrongType> {
    *get_or_create(object, path, || Value::Null)? = value.into();
    Ok(())
}

/// The value of a label of the object.
///
/// # Errors
/// When `metadata` or the label has the wrong type.
pub fn label<'a>(object: &'a Value, key: &str) -> Result<Option<&'a str>, WrongType> {
    metadata_entry(object, "labels", key)
}

/// The value of an annotation of the object.
///
/// # Errors
/// When `metadata` or the annotation has the wrong type.
pub fn annotation<'a>(object: &'a Value, key: &str) -> Result<Option<&'a str>, WrongType> {
    metadata_entry(object, "annotations", key)
}

fn metadata_entry<'a>(object: &'a Value, field: &str, key: &str) -> Result<Option<&'a str>, WrongType> {
    let path = ["metadata", field, key];
    match get(object, &path)? {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(wrong_type(&path, "string", other)),
    }
}

fn get_or_create<'a>(
    object: &'a mut Value,
    path: &[&str],
    empty: impl Fn() -> Value,
) -> Result<&'a mut Value, WrongType> {
    let mut at = object;
    for (depth, name) in path.iter().enumerate() {
        if at.is_null() {
            *at = Value::Object(Map::new());
        }
        match at {
            Value::Object(fields) => at = fields.entry((*name).to_owned()).or_insert(Value::Null),
            other => return Err(wrong_type(&path[..depth], "object", other)),
        }
    }
    if at.is_null() {
        *at = empty();
    }
    Ok(at)
}

fn wrong_type(path: &[&str], expected: &'static str, found: &Value) -> WrongType {
    let found = match found {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
    };
    WrongType { path: path.join("."), expected, found }
}
