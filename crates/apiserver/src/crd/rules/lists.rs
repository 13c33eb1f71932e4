//! Checks the kinds of maps and lists that a schema declares (`x-kubernetes-map-type`, `x-kubernetes-list-type`) and the keys of
//! their elements.

use serde_json::{Map, Value};
use webhook::field::{Error, ErrorKind, Shown};

use super::Node;

const LIST: &str = "x-kubernetes-list-type";
const MAP: &str = "x-kubernetes-map-type";
const KEYS: &str = "x-kubernetes-list-map-keys";

pub(super) fn check(node: Node<'_>, errors: &mut Vec<Error>) {
    for (keyword, wanted, known) in
        [(MAP, "object", &["atomic", "granular"][..]), (LIST, "array", &["atomic", "set", "map"])]
    {
        let Some(found) = node.get(keyword).and_then(Value::as_str) else { continue };
        if node.text("type") != wanted {
            errors.push(wrong_type(node, keyword, wanted));
        } else if let ("set", Some(items)) = (found, node.below("items").filter(|_| keyword == LIST)) {
            errors.extend(items_of_set(Node { path: node.path, keywords: items }));
        }
        if !known.contains(&found) {
            let known: Vec<String> = known.iter().map(|name| format!("{name:?}")).collect();
            let why = format!("supported values: {}", known.join(", "));
            errors.push(node.error(keyword, ErrorKind::NotSupported, Some(Shown::from(found)), &why));
        }
    }
    let keys = node.get(KEYS).and_then(Value::as_array).into_iter().flatten();
    let keys: Vec<&str> = keys.filter_map(Value::as_str).collect();
    let list = node.get(LIST).and_then(Value::as_str);
    let why = "must be map if x-kubernetes-list-map-keys is non-empty";
    match list.filter(|list| *list != "map") {
        _ if keys.is_empty() => {}
        Some(list) => errors.push(node.invalid(LIST, list, why)),
        None if list.is_none() => errors.push(node.required(LIST, why)),
        None => {}
    }
    if list == Some("map") {
        check_map(node, &keys, errors);
    }
    if let (Some(list @ ("set" | "map")), Some(items)) = (list, node.below("items")) {
        check_nulls(node, list, &keys, items, errors);
    }
}

fn wrong_type(node: Node<'_>, keyword: &str, wanted: &str) -> Error {
    let why = format!("must be {wanted} if {keyword} is specified");
    match node.text("type") {
        "" => node.required("type", &why),
        found => node.invalid("type", found, &why),
    }
}

/// The error if the elements of a set may be merged.
fn items_of_set(items: Node<'_>) -> Option<Error> {
    let is_atomic = |keyword: &str| items.text(keyword) == "atomic";
    let keyword = match items.text("type") {
        "object" if !is_atomic(MAP) => MAP,
        "array" if !is_atomic(LIST) && items.get(LIST).is_some() => LIST,
        _ => return None,
    };
    // As the real server: it shows the type of the list, in both cases.
    let shown = Some(Shown::verbatim(items.get(LIST).unwrap_or(&Value::Null)));
    let why = "must be atomic as item of a list with x-kubernetes-list-type=set";
    Some(items.error(&format!("items.{keyword}"), ErrorKind::Invalid, shown, why))
}

/// Checks the keys of a list that is a map.
fn check_map(node: Node<'_>, keys: &[&str], errors: &mut Vec<Error>) {
    if keys.is_empty() {
        errors.push(node.required(KEYS, "must not be empty if x-kubernetes-list-type is map"));
    }
    let Some(items) = node.get("items") else {
        errors.push(node.required("items", "must have a schema if x-kubernetes-list-type is map"));
        return;
    };
    let Some(items) = items.as_object() else {
        let why = "must only have a single schema if x-kubernetes-list-type is map";
        errors.push(node.error("items", ErrorKind::Invalid, Some(Shown::verbatim(items)), why));
        return;
    };
    let kind = text(items, "type");
    if kind != "object" {
        let why = "must be object if parent array's x-kubernetes-list-type is map";
        errors.push(node.invalid("items.type", kind, why));
        return;
    }
    for (at, key) in keys.iter().enumerate() {
        let mut refuse = |why: &str| {
            let shown = Some(Shown::verbatim(Value::from(keys.to_vec())));
            errors.push(node.error(KEYS, ErrorKind::Invalid, shown, why));
        };
        let declared = items.get("properties").and_then(|fields| fields.get(*key)?.as_object());
        if declared.is_none() {
            refuse("entries must all be names of item properties");
        }
        if keys[..at].contains(key) {
            refuse("must not contain duplicate entries");
        }
        if declared.is_some_and(|declared| matches!(text(declared, "type"), "array" | "object")) {
            let why = "must be a scalar type if parent array's x-kubernetes-list-type is map";
            errors.push(node.invalid(&format!("items.properties[{key}].type"), kind, why));
        }
    }
}

/// Neither the elements of a set or a map nor their keys may be null, and each key must be there.
fn check_nulls(
    node: Node<'_>,
    list: &str,
    keys: &[&str],
    items: &Map<String, Value>,
    errors: &mut Vec<Error>,
) {
    let is_nullable = |schema: &Map<String, Value>| schema.get("nullable") == Some(&Value::Bool(true));
    if is_nullable(items) {
        let why = format!("cannot be nullable when x-kubernetes-list-type is {list}");
        errors.push(node.forbidden("items.nullable", &why));
    }
    if list != "map" {
        return;
    }
    let required = items.get("required").and_then(Value::as_array);
    for key in keys {
        let Some(field) = items.get("properties").and_then(|fields| fields.get(*key)?.as_object()) else {
            continue;
        };
        let is_required = required.is_some_and(|names| names.iter().any(|name| name == key));
        if !is_required && field.get("default").is_none_or(Value::is_null) {
            let why = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required \
                       property";
            errors.push(node.required(&format!("items.properties[{key}].default"), why));
        }
        if is_nullable(field) {
            let why = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
            errors.push(node.forbidden(&format!("items.properties[{key}].nullable"), why));
        }
    }
}

fn text<'a>(schema: &'a Map<String, Value>, key: &str) -> &'a str {
    schema.get(key).and_then(Value::as_str).unwrap_or_default()
}
