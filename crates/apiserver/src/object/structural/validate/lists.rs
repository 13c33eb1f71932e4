//! Finds duplicates in sets and keyed lists, and elements of keyed lists that have no keys.

use serde_json::{Map, Value};
use webhook::field::{Error, ErrorKind};

use super::show;
use super::walk::walk;
use crate::object::structural::schema::{ListType, Schema};

/// The duplicate elements, one error for each key.
pub(super) fn duplicates(object: &Value, schema: &Schema) -> Vec<Error> {
    let mut errors = Vec::new();
    walk(object, schema, &mut |path, value, schema| {
        if let Value::Array(items) = value {
            check_duplicates(path, items, &schema.list, &mut errors);
        }
    });
    errors
}

fn check_duplicates(path: &str, items: &[Value], list: &ListType, errors: &mut Vec<Error>) {
    if let ListType::Map(_) = list
        && let Some(index) = items.iter().position(|item| !item.is_object() && !item.is_null())
    {
        errors.push(Error {
            kind: ErrorKind::Invalid,
            field: format!("{path}[{index}]"),
            value: Some(show(&items[index])),
            detail: "must be an object for an array of list-type map".to_owned(),
        });
        return;
    }
    let identities: Vec<Value> = match list {
        ListType::Atomic => return,
        ListType::Set => items.to_vec(),
        ListType::Map(keys) => items.iter().map(|item| identity(item, keys)).collect(),
    };
    let mut reported: Vec<&Value> = Vec::new();
    for (index, identity) in identities.iter().enumerate() {
        if identities[..index].contains(identity) && !reported.contains(&identity) {
            reported.push(identity);
            errors.push(Error {
                kind: ErrorKind::Duplicate,
                field: format!("{path}[{index}]"),
                value: Some(show(identity)),
                detail: String::new(),
            });
        }
    }
}

fn identity(item: &Value, keys: &[String]) -> Value {
    let parts = keys.iter().filter_map(|key| Some((key.clone(), item.get(key)?.clone())));
    let mut identity = Value::Object(parts.collect::<Map<_, _>>());
    // Several keys are equal if their texts are, unlike a single one or an element of a set.
    if keys.len() > 1 {
        formats::json::reread(&mut identity);
    }
    identity
}
