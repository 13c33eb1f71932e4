//! Sets and keyed lists: an element is there once.

use serde_json::{Map, Value};
use webhook::field::{Error, ErrorKind};

use super::json;
use super::walk::walk;
use crate::object::structural::schema::{List, Schema};

/// The elements that are there more than once, each told once.
pub(super) fn duplicates(object: &Value, schema: &Schema) -> Vec<Error> {
    let mut errors = Vec::new();
    walk(object, schema, &mut |path, value, schema| {
        if let Value::Array(items) = value {
            repeated(path, items, &schema.list, &mut errors);
        }
    });
    errors
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
