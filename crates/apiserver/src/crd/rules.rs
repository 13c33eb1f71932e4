//! Checks that schemas are structural, with kube-apiserver's messages.

use formats::pattern::Pattern;
use serde_json::{Map, Value};
use webhook::field::{Error, ErrorKind, Shown};

use super::error;
use crate::object::structural::{self, Schema};

/// The position of a schema in its parent, which decides the message about a missing type.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    Root,
    Field,
    Element,
}

const TYPES: &[&str] = &["array", "boolean", "integer", "number", "object", "string"];
const UNSUPPORTED: &[&str] =
    &["$ref", "id", "dependencies", "patternProperties", "additionalItems", "definitions"];
/// Keywords that schemas in `allOf`, `anyOf`, `oneOf` and `not` must not have.
const NOT_IN_ALTERNATIVES: &[(&str, &str)] = &[
    ("additionalProperties", "must be undefined to be structural"),
    ("default", "must be undefined to be structural"),
    ("description", "must be empty to be structural"),
    ("nullable", "must be false to be structural"),
    ("title", "must be empty to be structural"),
    ("type", "must be empty to be structural"),
    ("x-kubernetes-embedded-resource", "must be false to be structural"),
    ("x-kubernetes-int-or-string", "must be false to be structural"),
    ("x-kubernetes-list-map-keys", "must be empty to be structural"),
    ("x-kubernetes-list-type", "must be undefined to be structural"),
    ("x-kubernetes-preserve-unknown-fields", "must be false to be structural"),
];

/// The errors of a schema at a path.
pub(super) fn check(path: &str, schema: &Value) -> Vec<Error> {
    let mut errors = Vec::new();
    walk(path, schema, Position::Root, &mut errors);
    errors
}

fn walk(path: &str, schema: &Value, position: Position, errors: &mut Vec<Error>) {
    let Some(keywords) = schema.as_object() else { return };
    unsupported(path, keywords, errors);
    check_type(path, keywords, position, errors);
    check_list(path, keywords, errors);
    check_embedded(path, keywords, position, errors);
    check_default(path, schema, position, errors);
    check_rules(path, keywords, errors);
    for (name, below) in keywords.get("properties").and_then(Value::as_object).into_iter().flatten() {
        walk(&format!("{path}.properties[{name}]"), below, Position::Field, errors);
    }
    if let Some(below @ Value::Object(_)) = keywords.get("items") {
        walk(&format!("{path}.items"), below, Position::Element, errors);
    }
    if let Some(below @ Value::Object(_)) = keywords.get("additionalProperties") {
        walk(&format!("{path}.additionalProperties"), below, Position::Field, errors);
    }
    let int_or_string = flag(keywords, "x-kubernetes-int-or-string");
    check_alternatives(path, keywords, int_or_string, errors);
}

fn unsupported(path: &str, keywords: &Map<String, Value>, errors: &mut Vec<Error>) {
    let mut report = |keyword: &str, kind, value: Option<Shown>, why: &str| {
        errors.push(error(kind, &format!("{path}.{keyword}"), value, why));
    };
    for keyword in UNSUPPORTED.iter().filter(|keyword| keywords.contains_key(**keyword)) {
        report(keyword, ErrorKind::Forbidden, None, &format!("{keyword} is not supported"));
    }
    if flag(keywords, "uniqueItems") {
        let why = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
        report("uniqueItems", ErrorKind::Forbidden, None, why);
    }
    if keywords.get("items").is_some_and(Value::is_array) {
        report("items", ErrorKind::Forbidden, None, "items must be a schema object and not an array");
    }
    let has_fields =
        keywords.get("properties").and_then(Value::as_object).is_some_and(|fields| !fields.is_empty());
    if has_fields && keywords.get("additionalProperties").is_some_and(|below| *below != Value::Bool(false)) {
        let why = "additionalProperties and properties are mutual exclusive";
        report("additionalProperties", ErrorKind::Forbidden, None, why);
    }
    if keywords.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(false)) {
        let value = Some(Shown::from(false));
        report(
            "x-kubernetes-preserve-unknown-fields",
            ErrorKind::Invalid,
            value,
            "must be true or undefined",
        );
    }
    let pattern = keywords.get("pattern").and_then(Value::as_str);
    if let Some((pattern, Err(error))) = pattern.map(|pattern| (pattern, Pattern::new(pattern))) {
        let why = format!("must be a valid regular expression, but isn't: {error}");
        report("pattern", ErrorKind::Invalid, Some(Shown::from(pattern)), &why);
    }
}

fn check_type(path: &str, keywords: &Map<String, Value>, position: Position, errors: &mut Vec<Error>) {
    let at = format!("{path}.type");
    let untyped = flag(keywords, "x-kubernetes-int-or-string")
        || flag(keywords, "x-kubernetes-preserve-unknown-fields");
    let missing = match position {
        Position::Root => "must not be empty at the root",
        Position::Field => "must not be empty for specified object fields",
        Position::Element => "must not be empty for specified array items",
    };
    match (text(keywords, "type"), position) {
        ("", Position::Root) => errors.push(error(ErrorKind::Required, &at, None, missing)),
        ("", _) if !untyped => errors.push(error(ErrorKind::Required, &at, None, missing)),
        ("" | "object", _) => {}
        (found, Position::Root) => {
            errors.push(error(
                ErrorKind::Invalid,
                &at,
                Some(Shown::from(found)),
                "must be object at the root",
            ));
        }
        (found, _) if !TYPES.contains(&found) => {
            let known: Vec<String> = TYPES.iter().map(|name| format!("{name:?}")).collect();
            let why = format!("supported values: {}", known.join(", "));
            errors.push(error(ErrorKind::NotSupported, &at, Some(Shown::from(found)), &why));
        }
        ("array", _) if keywords.get("items").is_none_or(Value::is_null) => {
            errors.push(error(ErrorKind::Required, &format!("{path}.items"), None, "must be specified"));
        }
        _ => {}
    }
}

fn check_list(path: &str, keywords: &Map<String, Value>, errors: &mut Vec<Error>) {
    let mut report = |below: &str, kind, value: Option<Shown>, why: &str| {
        errors.push(error(kind, &format!("{path}.{below}"), value, why));
    };
    let keys = keywords.get("x-kubernetes-list-map-keys").and_then(Value::as_array);
    let keys: Vec<&str> = keys.into_iter().flatten().filter_map(Value::as_str).collect();
    let list = text(keywords, "x-kubernetes-list-type");
    let kind = text(keywords, "type");
    let items = keywords.get("items").and_then(Value::as_object);
    if !list.is_empty() && kind != "array" {
        let why = "must be array if x-kubernetes-list-type is specified";
        if kind.is_empty() {
            report("type", ErrorKind::Required, None, why);
        } else {
            report("type", ErrorKind::Invalid, Some(Shown::from(kind)), why);
        }
    } else if let ("set", Some(items)) = (list, items) {
        check_items_of_set(items, &mut report);
    }
    if !matches!(list, "" | "atomic" | "set" | "map") {
        let why = "supported values: \"atomic\", \"set\", \"map\"";
        report("x-kubernetes-list-type", ErrorKind::NotSupported, Some(Shown::from(list)), why);
    }
    if !keys.is_empty() && list != "map" {
        let why = "must be map if x-kubernetes-list-map-keys is non-empty";
        if list.is_empty() {
            report("x-kubernetes-list-type", ErrorKind::Required, None, why);
        } else {
            report("x-kubernetes-list-type", ErrorKind::Invalid, Some(Shown::from(list)), why);
        }
    }
    if matches!(list, "set" | "map") && items.is_some_and(|items| flag(items, "nullable")) {
        let why = format!("cannot be nullable when x-kubernetes-list-type is {list}");
        report("items.nullable", ErrorKind::Forbidden, None, &why);
    }
    if list == "map" {
        if keys.is_empty() {
            let why = "must not be empty if x-kubernetes-list-type is map";
            report("x-kubernetes-list-map-keys", ErrorKind::Required, None, why);
        }
        match items {
            Some(items) => check_list_keys(&keys, items, &mut report),
            None if keywords.contains_key("items") => {}
            None => {
                let why = "must have a schema if x-kubernetes-list-type is map";
                report("items", ErrorKind::Required, None, why);
            }
        }
    }
}

fn check_items_of_set(
    items: &Map<String, Value>,
    report: &mut impl FnMut(&str, ErrorKind, Option<Shown>, &str),
) {
    let is_atomic = |keyword: &str| text(items, keyword) == "atomic";
    let is_list = !is_atomic("x-kubernetes-list-type") && items.contains_key("x-kubernetes-list-type");
    let kind = match text(items, "type") {
        "object" if !is_atomic("x-kubernetes-map-type") => "map",
        "array" if is_list => "list",
        _ => return,
    };
    // As the real server: it shows the type of the list, in both cases.
    let shown = items.get("x-kubernetes-list-type").cloned().unwrap_or_default();
    let why = "must be atomic as item of a list with x-kubernetes-list-type=set";
    let at = format!("items.x-kubernetes-{kind}-type");
    report(&at, ErrorKind::Invalid, Some(Shown::verbatim(shown)), why);
}

fn check_list_keys(
    keys: &[&str],
    items: &Map<String, Value>,
    report: &mut impl FnMut(&str, ErrorKind, Option<Shown>, &str),
) {
    if text(items, "type") != "object" {
        let why = "must be object if parent array's x-kubernetes-list-type is map";
        report("items.type", ErrorKind::Invalid, Some(Shown::from(text(items, "type"))), why);
        return;
    }
    let fields = items.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    let required = items.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    for (at, key) in keys.iter().enumerate() {
        let shown = || Some(Shown::verbatim(Value::from(keys.to_vec())));
        match fields.get(*key).map(|field| field.get("type").and_then(Value::as_str)) {
            Some(Some("array" | "object")) => {
                let why = "must be a scalar type if parent array's x-kubernetes-list-type is map";
                let below = format!("items.properties[{key}].type");
                report(&below, ErrorKind::Invalid, Some(Shown::from("object")), why);
            }
            Some(_) => {}
            None => {
                let why = "entries must all be names of item properties";
                report("x-kubernetes-list-map-keys", ErrorKind::Invalid, shown(), why);
            }
        }
        if keys[..at].contains(key) {
            let why = "must not contain duplicate entries";
            report("x-kubernetes-list-map-keys", ErrorKind::Invalid, shown(), why);
        }
    }
    for key in keys {
        let Some(field) = fields.get(*key).and_then(Value::as_object) else { continue };
        if field.get("default").is_none_or(Value::is_null) && !required.iter().any(|name| name == key) {
            let why = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required \
                       property";
            report(&format!("items.properties[{key}].default"), ErrorKind::Required, None, why);
        }
        if flag(field, "nullable") {
            let why = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
            report(&format!("items.properties[{key}].nullable"), ErrorKind::Forbidden, None, why);
        }
    }
}

/// Embedded resources need a type and fields, and may restrict only the names of their metadata.
fn check_embedded(path: &str, keywords: &Map<String, Value>, position: Position, errors: &mut Vec<Error>) {
    let is_embedded = flag(keywords, "x-kubernetes-embedded-resource");
    let fields = keywords.get("properties").and_then(Value::as_object);
    if is_embedded
        && fields.is_none_or(Map::is_empty)
        && !flag(keywords, "x-kubernetes-preserve-unknown-fields")
    {
        let why = "must not be empty if x-kubernetes-embedded-resource is true without \
                   x-kubernetes-preserve-unknown-fields";
        errors.push(error(ErrorKind::Required, &format!("{path}.properties"), None, why));
    }
    if is_embedded && text(keywords, "type") != "object" {
        let why = "must be object if x-kubernetes-embedded-resource is true";
        let found = Some(Shown::from(text(keywords, "type")));
        errors.push(error(ErrorKind::Invalid, &format!("{path}.type"), found, why));
    }
    if position != Position::Root && !is_embedded {
        return;
    }
    for (name, wanted) in [("apiVersion", "string"), ("kind", "string"), ("metadata", "object")] {
        let Some(field) = fields.and_then(|fields| fields.get(name)).and_then(Value::as_object) else {
            continue;
        };
        let at = format!("{path}.properties[{name}]");
        let found = text(field, "type");
        if !found.is_empty() && found != wanted {
            let why = format!("must be {wanted}");
            errors.push(error(ErrorKind::Invalid, &format!("{at}.type"), Some(Shown::from(found)), &why));
        }
        let declared = field.get("properties").and_then(Value::as_object).into_iter().flatten();
        if name == "metadata"
            && declared.map(|(name, _)| name).any(|name| name != "name" && name != "generateName")
        {
            let why = "must not specify anything other than name and generateName, but metadata is implicitly \
                       specified";
            errors.push(error(ErrorKind::Forbidden, &at, None, why));
        }
    }
}

/// A default must be valid for its own schema.
fn check_default(path: &str, json: &Value, position: Position, errors: &mut Vec<Error>) {
    let Some(default) = json.get("default").filter(|default| !default.is_null()) else { return };
    let at = format!("{path}.default");
    let schema = Schema::read(json);
    let mut pruned = serde_json::json!({"value": default});
    let holder = Schema::read(&serde_json::json!({"properties": {"value": json}}));
    if !structural::prune(&mut pruned, &holder).is_empty() {
        errors.push(error(
            ErrorKind::Invalid,
            &at,
            Some(Shown::verbatim(default)),
            "must not have unknown fields",
        ));
        return;
    }
    if position == Position::Root {
        for name in ["apiVersion", "kind"].iter().filter(|name| default.get(**name).is_none()) {
            errors.push(error(ErrorKind::Required, &format!("{at}.{name}"), None, ""));
        }
    }
    let invalid = structural::validate(default, None, &schema);
    errors.extend(invalid.into_iter().map(|invalid| Error {
        field: if invalid.field.is_empty() { at.clone() } else { format!("{at}.{}", invalid.field) },
        // kube-apiserver reports a default of the wrong type as an invalid value.
        kind: if invalid.kind == ErrorKind::TypeInvalid { ErrorKind::Invalid } else { invalid.kind },
        ..invalid
    }));
}

fn check_rules(path: &str, keywords: &Map<String, Value>, errors: &mut Vec<Error>) {
    let rules = keywords.get("x-kubernetes-validations").and_then(Value::as_array).into_iter().flatten();
    for (index, rule) in rules.enumerate() {
        let at = format!("{path}.x-kubernetes-validations[{index}]");
        let text = rule.get("rule").and_then(Value::as_str).unwrap_or_default().trim();
        if text.is_empty() {
            errors.push(error(ErrorKind::Required, &format!("{at}.rule"), None, "rule is not specified"));
        } else if let Some(why) = structural::rule_error(text) {
            let (at, shown) = (format!("{at}.rule"), Some(Shown::from(text)));
            errors.push(error(ErrorKind::Invalid, &at, shown, &format!("compilation failed: {why}")));
        }
        let text = rule.get("messageExpression").and_then(Value::as_str).unwrap_or_default();
        if let Some(why) = Some(text).filter(|text| !text.is_empty()).and_then(structural::rule_error) {
            let (at, shown) = (format!("{at}.messageExpression"), Some(Shown::from(text)));
            let why = format!("messageExpression compilation failed: {why}");
            errors.push(error(ErrorKind::Invalid, &at, shown, &why));
        }
    }
}

/// Schemas in `allOf`, `anyOf`, `oneOf` and `not` may only add constraints.
fn check_alternatives(
    path: &str,
    keywords: &Map<String, Value>,
    int_or_string: bool,
    errors: &mut Vec<Error>,
) {
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let list = keywords.get(keyword).and_then(Value::as_array).into_iter().flatten();
        for (index, below) in list.enumerate() {
            let type_allowed = int_or_string
                && keyword != "oneOf"
                && below.as_object().is_some_and(|below| below.len() == 1);
            check_alternative(&format!("{path}.{keyword}[{index}]"), below, type_allowed, errors);
        }
    }
    if let Some(not) = keywords.get("not") {
        check_alternative(&format!("{path}.not"), not, false, errors);
    }
}

fn check_alternative(path: &str, schema: &Value, type_allowed: bool, errors: &mut Vec<Error>) {
    let Some(keywords) = schema.as_object() else { return };
    for (keyword, why) in NOT_IN_ALTERNATIVES {
        let is_set = keywords.get(*keyword).is_some_and(|value| {
            !value.is_null()
                && *value != Value::Bool(false)
                && *value != ""
                && !(type_allowed && *keyword == "type")
        });
        if is_set {
            errors.push(error(ErrorKind::Forbidden, &format!("{path}.{keyword}"), None, why));
        }
    }
    for (name, below) in keywords.get("properties").and_then(Value::as_object).into_iter().flatten() {
        check_alternative(&format!("{path}.properties[{name}]"), below, false, errors);
    }
    if let Some(below @ Value::Object(_)) = keywords.get("items") {
        check_alternative(&format!("{path}.items"), below, false, errors);
    }
    check_alternatives(path, keywords, false, errors);
}

fn flag(keywords: &Map<String, Value>, key: &str) -> bool {
    keywords.get(key) == Some(&Value::Bool(true))
}

fn text<'a>(keywords: &'a Map<String, Value>, key: &str) -> &'a str {
    keywords.get(key).and_then(Value::as_str).unwrap_or_default()
}
