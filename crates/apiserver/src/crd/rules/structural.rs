//! Whether a schema is structural: it says of each value what it is, and keywords such as `anyOf` only restrict that.
//!
//! Source: k8s.io/apiextensions-apiserver/pkg/apiserver/schema (validation.go, complete.go, convert.go).

use std::sync::LazyLock;

use formats::pattern::Pattern;
use serde_json::{Map, Value, json};
use webhook::field::{Error, ErrorKind, Shown};

use super::super::field_error::error;
use super::Node;

/// The position of a schema in its parent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    Root,
    Field,
    Element,
}

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
    ("x-kubernetes-map-type", "must be undefined to be structural"),
    ("x-kubernetes-preserve-unknown-fields", "must be false to be structural"),
    ("x-kubernetes-validations", "must be empty to be structural"),
];
/// Keywords with lists of alternatives.
const ALTERNATIVES: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// What a value that is an integer or a string may say although it is an alternative.
static INT_OR_STRING: LazyLock<Value> = LazyLock::new(|| json!([{"type": "integer"}, {"type": "string"}]));

/// Why a schema cannot be read as structural: a keyword in it that no structural schema has.
pub(super) fn unreadable(keywords: &Map<String, Value>) -> Option<String> {
    let node = Node { path: "", keywords };
    let is_set = |keyword: &&&str| match keywords.get(**keyword) {
        None | Some(Value::Null) => false,
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Object(map)) => !map.is_empty() || **keyword == "dependencies",
        Some(_) => true,
    };
    let unsupported =
        ["id", "$schema", "$ref", "patternProperties", "dependencies", "additionalItems", "definitions"];
    if let Some(keyword) = unsupported.iter().find(is_set) {
        return Some(format!(
            "'{}' is not supported",
            if *keyword == "$schema" { "schema" } else { *keyword }
        ));
    }
    if node.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(false)) {
        return Some("'x-kubernetes-preserve-unknown-fields' must be true or undefined".to_owned());
    }
    if node.get("items").and_then(Value::as_array).is_some_and(|items| !items.is_empty()) {
        return Some("'items' must be a schema, but is an array".to_owned());
    }
    let single =
        ["not", "items", "additionalProperties"].into_iter().filter_map(|keyword| node.below(keyword));
    let lists = ALTERNATIVES.into_iter().flat_map(|keyword| node.elements(keyword));
    let fields = node.entries("properties").map(|(_, below)| below);
    single.chain(lists).chain(fields).find_map(unreadable)
}

/// The errors of a schema that is not structural, sorted.
pub(super) fn check(root: Node<'_>) -> Vec<Error> {
    let mut errors = Vec::new();
    walk(root, Position::Root, &mut errors);
    complete_alternatives(root, Some(root), &mut errors);
    errors.sort_by_cached_key(ToString::to_string);
    errors
}

fn walk(node: Node<'_>, position: Position, errors: &mut Vec<Error>) {
    if node.text("type") == "array" && node.below("items").is_none() {
        errors.push(node.required("items", "must be specified"));
    }
    if let Some(keywords) = node.below("items") {
        walk(Node { path: &node.at("items"), keywords }, Position::Element, errors);
    }
    for (name, keywords) in node.entries("properties") {
        walk(Node { path: &node.at(&format!("properties[{name}]")), keywords }, Position::Field, errors);
    }
    let has_additional = node.get("additionalProperties").is_some();
    if has_additional && position == Position::Root {
        errors.push(node.forbidden("additionalProperties", "must not be used at the root"));
    }
    if let Some(keywords) = node.below("additionalProperties") {
        walk(Node { path: &node.at("additionalProperties"), keywords }, Position::Field, errors);
    }
    check_extensions(node, errors);
    check_values(node, node.get("anyOf") == Some(&INT_OR_STRING), errors);
    check_type(node, position, errors);
    let is_embedded = node.flag("x-kubernetes-embedded-resource");
    if is_embedded && has_additional {
        let why = "must not be used if x-kubernetes-embedded-resource is set";
        errors.push(node.forbidden("additionalProperties", why));
    }
    check_object_fields(node, position, errors);
    let fields = node.below("properties");
    let preserves = node.flag("x-kubernetes-preserve-unknown-fields");
    if is_embedded && !preserves && fields.is_none_or(Map::is_empty) {
        let why = "must not be empty if x-kubernetes-embedded-resource is true without \
                   x-kubernetes-preserve-unknown-fields";
        errors.push(node.required("properties", why));
    }
}

fn check_extensions(node: Node<'_>, errors: &mut Vec<Error>) {
    let extensions = ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"];
    let wrong = |keyword: &&str| node.flag("x-kubernetes-int-or-string") && node.flag(keyword);
    let why = "must be false if x-kubernetes-int-or-string is true";
    let error = |keyword: &str| node.error(keyword, ErrorKind::Invalid, Some(Shown::from(true)), why);
    errors.extend(extensions.into_iter().filter(wrong).map(error));
}

fn check_type(node: Node<'_>, position: Position, errors: &mut Vec<Error>) {
    const EMBEDDED: &str = "must be object if x-kubernetes-embedded-resource is true";
    let missing = match position {
        Position::Root => "must not be empty at the root",
        Position::Field => "must not be empty for specified object fields",
        Position::Element => "must not be empty for specified array items",
    };
    let untyped = ["x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields"];
    let untyped = untyped.into_iter().any(|keyword| node.flag(keyword));
    let found = node.text("type");
    if node.flag("x-kubernetes-embedded-resource") && found != "object" {
        errors.push(if found.is_empty() {
            node.required("type", EMBEDDED)
        } else {
            node.invalid("type", found, EMBEDDED)
        });
    } else if found.is_empty() && !untyped {
        errors.push(node.required("type", missing));
    }
    if position == Position::Root && !matches!(found, "" | "object") {
        errors.push(node.invalid("type", found, "must be object at the root"));
    }
}

/// Checks the schemas of apiVersion, kind and metadata. That of metadata at the root may only restrict names.
fn check_object_fields(node: Node<'_>, position: Position, errors: &mut Vec<Error>) {
    if position != Position::Root && !node.flag("x-kubernetes-embedded-resource") {
        return;
    }
    for (name, wanted) in [("apiVersion", "string"), ("kind", "string"), ("metadata", "object")] {
        let Some(keywords) = node.below("properties").and_then(|fields| fields.get(name)?.as_object()) else {
            continue;
        };
        let field = Node { path: &node.at(&format!("properties[{name}]")), keywords };
        if field.text("type") != wanted {
            errors.push(field.invalid("type", field.text("type"), &format!("must be {wanted}")));
        }
        if name == "metadata" && position == Position::Root && restricts_more_than_names(field) {
            let why = "must not specify anything other than name and generateName, but metadata is implicitly \
                       specified";
            errors.push(error(ErrorKind::Forbidden, field.path, None, why));
        }
    }
}

fn restricts_more_than_names(metadata: Node<'_>) -> bool {
    let fields = metadata.below("properties").into_iter().flatten();
    let others = fields.map(|(name, _)| name.as_str()).any(|name| !["name", "generateName"].contains(&name));
    let known = ["type", "default", "properties"];
    let is_more = |(keyword, value): (&String, &Value)| !known.contains(&keyword.as_str()) && is_given(value);
    others || metadata.keywords.iter().any(is_more)
}

/// Checks `pattern` and the alternatives of a schema.
fn check_values(node: Node<'_>, is_int_or_string: bool, errors: &mut Vec<Error>) {
    for keyword in ALTERNATIVES.into_iter().filter(|keyword| *keyword != "anyOf" || !is_int_or_string) {
        for (index, keywords) in node.elements(keyword).enumerate() {
            let skips = keyword == "allOf" && index == 0 && keywords.get("anyOf") == Some(&INT_OR_STRING);
            let path = node.at(&format!("{keyword}[{index}]"));
            check_alternative(Node { path: &path, keywords }, skips, errors);
        }
    }
    if let Some(keywords) = node.below("not") {
        check_alternative(Node { path: &node.at("not"), keywords }, false, errors);
    }
    let pattern = node.text("pattern");
    if let Err(error) = Pattern::new(pattern) {
        let why = format!("must be a valid regular expression, but isn't: {error}");
        errors.push(node.invalid("pattern", pattern, &why));
    }
}

fn check_alternative(node: Node<'_>, is_int_or_string: bool, errors: &mut Vec<Error>) {
    check_values(node, is_int_or_string, errors);
    if let Some(keywords) = node.below("items") {
        check_alternative(Node { path: &node.at("items"), keywords }, false, errors);
    }
    for (name, keywords) in node.entries("properties") {
        let path = node.at(&format!("properties[{name}]"));
        check_alternative(Node { path: &path, keywords }, false, errors);
        if name == "metadata" {
            errors.push(error(
                ErrorKind::Forbidden,
                &path,
                None,
                "must not be specified in a nested context",
            ));
        }
    }
    let is_wrong = |(keyword, _): &&(&str, &str)| node.keywords.get(*keyword).is_some_and(is_given);
    errors.extend(
        NOT_IN_ALTERNATIVES.iter().filter(is_wrong).map(|(keyword, why)| node.forbidden(keyword, why)),
    );
}

/// Whether a value differs from the zero of its type.
pub(super) fn is_given(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => true,
    }
}

/// Reports the fields and elements that alternatives restrict and the schema itself does not have.
fn complete_alternatives(node: Node<'_>, schema: Option<Node<'_>>, errors: &mut Vec<Error>) {
    if let Some(keywords) = node.below("not") {
        complete_alternative(Node { path: &node.at("not"), keywords }, schema, errors);
    }
    for keyword in ALTERNATIVES {
        for (index, keywords) in node.elements(keyword).enumerate() {
            let path = node.at(&format!("{keyword}[{index}]"));
            complete_alternative(Node { path: &path, keywords }, schema, errors);
        }
    }
}

fn complete_alternative(node: Node<'_>, schema: Option<Node<'_>>, errors: &mut Vec<Error>) {
    complete_alternatives(node, schema, errors);
    let Some(schema) = schema else { return };
    if let Some(keywords) = node.below("items") {
        let below = Node { path: &node.at("items"), keywords };
        complete_below(below, &schema.at("items"), schema.below("items"), errors);
    }
    for (name, keywords) in node.entries("properties") {
        let step = format!("properties[{name}]");
        let below = Node { path: &node.at(&step), keywords };
        let own = schema.below("properties").and_then(|fields| fields.get(name)?.as_object());
        complete_below(below, &schema.at(&step), own, errors);
    }
}

fn complete_below(node: Node<'_>, path: &str, own: Option<&Map<String, Value>>, errors: &mut Vec<Error>) {
    if let Some(keywords) = own {
        complete_alternative(node, Some(Node { path, keywords }), errors);
    } else {
        let why = format!("because it is defined in {}", node.path);
        errors.push(error(ErrorKind::Required, path, None, &why));
    }
}
