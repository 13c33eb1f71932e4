//! The rules that make a schema structural, in the words of Kubernetes.

use formats::pattern::Pattern;
use serde_json::{Map, Value};
use webhook::field::{Error, ErrorKind, Shown};

use super::error;
use crate::object::structural::{self, Schema};

/// Where in the schema a place stands: what is said if it has no type.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Root,
    Field,
    Element,
}

const TYPES: &[&str] = &["array", "boolean", "integer", "number", "object", "string"];
const UNSUPPORTED: &[&str] =
    &["$ref", "id", "dependencies", "patternProperties", "additionalItems", "definitions"];
/// What an alternative may not say: the place it belongs to says it.
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

/// What is wrong with the schema of a version, whose path is given.
pub(super) fn check(path: &str, schema: &Value) -> Vec<Error> {
    let mut errors = Vec::new();
    walk(path, schema, Place::Root, &mut errors);
    errors
}

fn walk(path: &str, schema: &Value, place: Place, errors: &mut Vec<Error>) {
    let Some(words) = schema.as_object() else { return };
    unsupported(path, words, errors);
    typed(path, words, place, errors);
    listed(path, words, errors);
    embedded(path, words, place, errors);
    defaulted(path, schema, place, errors);
    rules(path, words, errors);
    for (name, below) in words.get("properties").and_then(Value::as_object).into_iter().flatten() {
        walk(&format!("{path}.properties[{name}]"), below, Place::Field, errors);
    }
    if let Some(below @ Value::Object(_)) = words.get("items") {
        walk(&format!("{path}.items"), below, Place::Element, errors);
    }
    if let Some(below @ Value::Object(_)) = words.get("additionalProperties") {
        walk(&format!("{path}.additionalProperties"), below, Place::Field, errors);
    }
    let either = flag(words, "x-kubernetes-int-or-string");
    alternatives(path, words, either, errors);
}

fn unsupported(path: &str, words: &Map<String, Value>, errors: &mut Vec<Error>) {
    let mut refuse = |word: &str, kind, value: Option<Shown>, why: &str| {
        errors.push(error(kind, &format!("{path}.{word}"), value, why));
    };
    for word in UNSUPPORTED.iter().filter(|word| words.contains_key(**word)) {
        refuse(word, ErrorKind::Forbidden, None, &format!("{word} is not supported"));
    }
    if flag(words, "uniqueItems") {
        let why = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
        refuse("uniqueItems", ErrorKind::Forbidden, None, why);
    }
    if words.get("items").is_some_and(Value::is_array) {
        refuse("items", ErrorKind::Forbidden, None, "items must be a schema object and not an array");
    }
    let named = words.get("properties").and_then(Value::as_object).is_some_and(|fields| !fields.is_empty());
    if named && words.get("additionalProperties").is_some_and(|below| *below != Value::Bool(false)) {
        let why = "additionalProperties and properties are mutual exclusive";
        refuse("additionalProperties", ErrorKind::Forbidden, None, why);
    }
    if words.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(false)) {
        let value = Some(Shown::from(false));
        refuse(
            "x-kubernetes-preserve-unknown-fields",
            ErrorKind::Invalid,
            value,
            "must be true or undefined",
        );
    }
    let pattern = words.get("pattern").and_then(Value::as_str);
    if let Some((pattern, Err(error))) = pattern.map(|pattern| (pattern, Pattern::new(pattern))) {
        let why = format!("must be a valid regular expression, but isn't: {error}");
        refuse("pattern", ErrorKind::Invalid, Some(Shown::from(pattern)), &why);
    }
}

fn typed(path: &str, words: &Map<String, Value>, place: Place, errors: &mut Vec<Error>) {
    let at = format!("{path}.type");
    let open =
        flag(words, "x-kubernetes-int-or-string") || flag(words, "x-kubernetes-preserve-unknown-fields");
    let missing = match place {
        Place::Root => "must not be empty at the root",
        Place::Field => "must not be empty for specified object fields",
        Place::Element => "must not be empty for specified array items",
    };
    match (text(words, "type"), place) {
        ("", Place::Root) => errors.push(error(ErrorKind::Required, &at, None, missing)),
        ("", _) if !open => errors.push(error(ErrorKind::Required, &at, None, missing)),
        ("" | "object", _) => {}
        (found, Place::Root) => {
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
        ("array", _) if words.get("items").is_none_or(Value::is_null) => {
            errors.push(error(ErrorKind::Required, &format!("{path}.items"), None, "must be specified"));
        }
        _ => {}
    }
}

fn listed(path: &str, words: &Map<String, Value>, errors: &mut Vec<Error>) {
    let mut refuse = |below: &str, kind, value: Option<Shown>, why: &str| {
        errors.push(error(kind, &format!("{path}.{below}"), value, why));
    };
    let keys: Vec<&str> = words
        .get("x-kubernetes-list-map-keys")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let list = text(words, "x-kubernetes-list-type");
    if !list.is_empty() && text(words, "type") != "array" {
        let why = "must be array if x-kubernetes-list-type is specified";
        refuse("type", ErrorKind::Invalid, Some(Shown::from(text(words, "type"))), why);
        return;
    }
    let items = words.get("items").and_then(Value::as_object).cloned().unwrap_or_default();
    match list {
        "" if !keys.is_empty() => {
            let why = "must be map if x-kubernetes-list-map-keys is non-empty";
            refuse("x-kubernetes-list-type", ErrorKind::Required, None, why);
        }
        "" | "atomic" => {}
        "set" => {
            let compound = matches!(text(&items, "type"), "object" | "array");
            let whole = text(&items, "x-kubernetes-map-type") == "atomic"
                || text(&items, "x-kubernetes-list-type") == "atomic";
            if compound && !whole {
                let word = if text(&items, "type") == "object" { "map" } else { "list" };
                let at = format!("items.x-kubernetes-{word}-type");
                let why = "must be atomic as item of a list with x-kubernetes-list-type=set";
                refuse(&at, ErrorKind::Invalid, Some(Shown::verbatim("null")), why);
            }
        }
        "map" if keys.is_empty() => {
            let why = "must not be empty if x-kubernetes-list-type is map";
            refuse("x-kubernetes-list-map-keys", ErrorKind::Required, None, why);
        }
        "map" => keyed(&keys, &items, &mut refuse),
        other => {
            let why = "supported values: \"atomic\", \"set\", \"map\"";
            refuse("x-kubernetes-list-type", ErrorKind::NotSupported, Some(Shown::from(other)), why);
        }
    }
}

fn keyed(
    keys: &[&str],
    items: &Map<String, Value>,
    refuse: &mut impl FnMut(&str, ErrorKind, Option<Shown>, &str),
) {
    if text(items, "type") != "object" {
        let why = "must be object if parent array's x-kubernetes-list-type is map";
        refuse("items.type", ErrorKind::Invalid, Some(Shown::from(text(items, "type"))), why);
        return;
    }
    let fields = items.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    let required = items.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    if keys.iter().any(|key| !fields.contains_key(*key)) {
        let shown = Shown::verbatim(Value::from(keys.to_vec()));
        let why = "entries must all be names of item properties";
        refuse("x-kubernetes-list-map-keys", ErrorKind::Invalid, Some(shown), why);
    }
    for key in keys {
        let Some(field) = fields.get(*key) else { continue };
        if field.get("default").is_none_or(Value::is_null) && !required.iter().any(|name| name == key) {
            let why = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required \
                       property";
            refuse(&format!("items.properties[{key}].default"), ErrorKind::Required, None, why);
        }
    }
}

/// What every object has is implied, and may be told closer for its name only.
fn embedded(path: &str, words: &Map<String, Value>, place: Place, errors: &mut Vec<Error>) {
    let whole = flag(words, "x-kubernetes-embedded-resource");
    let fields = words.get("properties").and_then(Value::as_object);
    if whole && fields.is_none_or(Map::is_empty) && !flag(words, "x-kubernetes-preserve-unknown-fields") {
        let why = "must not be empty if x-kubernetes-embedded-resource is true without \
                   x-kubernetes-preserve-unknown-fields";
        errors.push(error(ErrorKind::Required, &format!("{path}.properties"), None, why));
    }
    if whole && text(words, "type") != "object" {
        let why = "must be object if x-kubernetes-embedded-resource is true";
        let found = Some(Shown::from(text(words, "type")));
        errors.push(error(ErrorKind::Invalid, &format!("{path}.type"), found, why));
    }
    if place != Place::Root && !whole {
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
        let told = field.get("properties").and_then(Value::as_object).into_iter().flatten();
        if name == "metadata"
            && told.map(|(name, _)| name).any(|name| name != "name" && name != "generateName")
        {
            let why = "must not specify anything other than name and generateName, but metadata is implicitly \
                       specified";
            errors.push(error(ErrorKind::Forbidden, &at, None, why));
        }
    }
}

/// A default is a value of its place.
fn defaulted(path: &str, json: &Value, place: Place, errors: &mut Vec<Error>) {
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
    if place == Place::Root {
        for name in ["apiVersion", "kind"].iter().filter(|name| default.get(**name).is_none()) {
            errors.push(error(ErrorKind::Required, &format!("{at}.{name}"), None, ""));
        }
    }
    let wrong = structural::validate(default, None, &schema);
    errors.extend(wrong.into_iter().map(|wrong| Error {
        field: if wrong.field.is_empty() { at.clone() } else { format!("{at}.{}", wrong.field) },
        // A default of another type is told as any invalid value.
        kind: if wrong.kind == ErrorKind::TypeInvalid { ErrorKind::Invalid } else { wrong.kind },
        ..wrong
    }));
}

fn rules(path: &str, words: &Map<String, Value>, errors: &mut Vec<Error>) {
    let rules = words.get("x-kubernetes-validations").and_then(Value::as_array).into_iter().flatten();
    for (index, rule) in rules.enumerate() {
        let at = format!("{path}.x-kubernetes-validations[{index}]");
        let text = rule.get("rule").and_then(Value::as_str).unwrap_or_default().trim();
        if text.is_empty() {
            errors.push(error(ErrorKind::Required, &format!("{at}.rule"), None, "rule is not specified"));
        } else if let Some(why) = structural::unreadable(text) {
            let (at, shown) = (format!("{at}.rule"), Some(Shown::from(text)));
            errors.push(error(ErrorKind::Invalid, &at, shown, &format!("compilation failed: {why}")));
        }
        let text = rule.get("messageExpression").and_then(Value::as_str).unwrap_or_default();
        if let Some(why) = Some(text).filter(|text| !text.is_empty()).and_then(structural::unreadable) {
            let (at, shown) = (format!("{at}.messageExpression"), Some(Shown::from(text)));
            let why = format!("messageExpression compilation failed: {why}");
            errors.push(error(ErrorKind::Invalid, &at, shown, &why));
        }
    }
}

/// Alternatives only say what holds; what is there says the place they stand at.
fn alternatives(path: &str, words: &Map<String, Value>, either: bool, errors: &mut Vec<Error>) {
    for word in ["allOf", "anyOf", "oneOf"] {
        let list = words.get(word).and_then(Value::as_array).into_iter().flatten();
        for (index, below) in list.enumerate() {
            let typed = either && word != "oneOf" && below.as_object().is_some_and(|below| below.len() == 1);
            alternative(&format!("{path}.{word}[{index}]"), below, typed, errors);
        }
    }
    if let Some(not) = words.get("not") {
        alternative(&format!("{path}.not"), not, false, errors);
    }
}

fn alternative(path: &str, schema: &Value, typed: bool, errors: &mut Vec<Error>) {
    let Some(words) = schema.as_object() else { return };
    for (word, why) in NOT_IN_ALTERNATIVES {
        let said = words.get(*word).is_some_and(|value| {
            !value.is_null() && *value != Value::Bool(false) && *value != "" && !(typed && *word == "type")
        });
        if said {
            errors.push(error(ErrorKind::Forbidden, &format!("{path}.{word}"), None, why));
        }
    }
    for (name, below) in words.get("properties").and_then(Value::as_object).into_iter().flatten() {
        alternative(&format!("{path}.properties[{name}]"), below, false, errors);
    }
    if let Some(below @ Value::Object(_)) = words.get("items") {
        alternative(&format!("{path}.items"), below, false, errors);
    }
    alternatives(path, words, false, errors);
}

fn flag(words: &Map<String, Value>, key: &str) -> bool {
    words.get(key) == Some(&Value::Bool(true))
}

fn text<'a>(words: &'a Map<String, Value>, key: &str) -> &'a str {
    words.get(key).and_then(Value::as_str).unwrap_or_default()
}
