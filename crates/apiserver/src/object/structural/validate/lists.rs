//! Sets and keyed lists: an element is there once.

use serde_json::{Map, Value};
use webhook::field::{Error, ErrorKind};

use super::json;
use crate::object::structural::schema::{List, Schema};

/// The elements that are there more than once, each told once.
pub(super) fn duplicates(object: &Value, schema: &Schema) -> Vec<Error> {
    let mut errors = Vec::new();
    walk("", object, schema, &mut errors);
    errors
}

fn walk(path: &str, value: &Value, schema: &Schema, errors: &mut Vec<Error>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let Some(below) = schema.field(name) else { continue };
                // An entry of a map is told in brackets, a field with a dot.
                let path = match (path, schema.properties.contains_key(name)) {
                    ("", _) => name.clone(),
                    (path, true) => format!("{path}.{name}"),
                    (path, false) => format!("{path}[{name}]"),
                };
                walk(&path, value, below, errors);
            }
        }
        Value::Array(items) => {
            repeated(path, items, &schema.list, errors);
            let Some(below) = &schema.items else { return };
            for (index, item) in items.iter().enumerate() {
                walk(&format!("{path}[{index}]"), item, below, errors);
            }
        }
        _ => {}
    }
}

fn repeated(path: &str, items: &[Value], list: &List, errors: &mut Vec<Error>) {
    let identities: Vec<Value> = match list {
        List::Atomic => return,
        List::Set => items.to_vec(),
        List::Map(keys) => items.iter().map(|item| identity(item, keys)).collect(),
    };
    let mut told: Vec<&Value> = Vec::new();
    for (index, identity) in identities.iter().enumerate() {
        if identities[..index].contains(identity) && !told.contains(&identity) {
            told.push(identity);
            errors.push(Error {
                kind: ErrorKind::Duplicate,
                field: format!("{path}[{index}]"),
                value: Some(json(identity)),
                detail: String::new(),
            });
        }
    }
}

fn identity(item: &Value, keys: &[String]) -> Value {
    let parts = keys.iter().filter_map(|key| Some((key.clone(), item.get(key)?.clone())));
    Value::Object(parts.collect::<Map<_, _>>())
}
