//! What is wrong in any schema: keywords that no server supports, defaults where none are allowed, contradictions.
//!
//! Source: k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation (validation.go,
//! ValidateCustomResourceDefinitionOpenAPISchema).

use serde_json::Value;
use webhook::field::{Error, ErrorKind, Shown};

use super::{Node, expressions, lists};

const TYPES: &[&str] = &["array", "boolean", "integer", "number", "object", "string"];
/// The fields of every object, whose schemas at the root must not have defaults.
const OBJECT_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// What the schemas around a schema say about it.
#[derive(Clone, Debug, Default)]
struct SchemaContext {
    /// Why defaults are forbidden; `None` if they are allowed.
    without_defaults: Option<String>,
    /// Whether it belongs to the metadata of a resource.
    in_metadata: bool,
    /// Whether it is the schema of the whole resource.
    is_root: bool,
}

/// Errors of schemas, and those of rules, which come after all others.
#[derive(Default)]
struct Errors {
    schemas: Vec<Error>,
    rules: Vec<Error>,
}

/// The errors of a schema; rules are only compiled if it `is_sound`.
pub(super) fn check(root: Node<'_>, is_sound: bool) -> Vec<Error> {
    let mut errors = Errors::default();
    walk(root, &SchemaContext { is_root: true, ..SchemaContext::default() }, is_sound, &mut errors);
    errors.schemas.append(&mut errors.rules);
    errors.schemas
}

fn walk(node: Node<'_>, context: &SchemaContext, compiles: bool, all: &mut Errors) {
    let before = all.schemas.len();
    unsupported(node, context, &mut all.schemas);
    let inner = SchemaContext { is_root: false, ..context.clone() };
    if let Some(additional) = node.get("additionalProperties") {
        check_additional(node, additional, &inner, compiles, all);
    }
    let is_resource = context.is_root || node.flag("x-kubernetes-embedded-resource");
    for (name, keywords) in node.entries("properties") {
        let mut inner = inner.clone();
        if is_resource && OBJECT_FIELDS.contains(&name.as_str()) {
            inner.in_metadata = true;
            if context.is_root {
                inner.without_defaults = Some(format!("in top-level {name}"));
            }
        }
        walk(Node { path: &node.at(&format!("properties[{name}]")), keywords }, &inner, compiles, all);
    }
    // Rules in alternatives are never compiled.
    if let Some(keywords) = node.below("not") {
        walk(Node { path: &node.at("not"), keywords }, &inner, false, all);
    }
    for keyword in ["allOf", "oneOf", "anyOf"] {
        for (index, keywords) in node.elements(keyword).enumerate() {
            walk(Node { path: &node.at(&format!("{keyword}[{index}]")), keywords }, &inner, false, all);
        }
    }
    for keyword in ["definitions", "dependencies"] {
        for (name, keywords) in node.entries(keyword) {
            walk(Node { path: &node.at(&format!("{keyword}[{name}]")), keywords }, &inner, false, all);
        }
    }
    if let Some(keywords) = node.below("items") {
        walk(Node { path: &node.at("items"), keywords }, &inner, compiles, all);
    }
    for (index, keywords) in node.elements("items").enumerate() {
        walk(Node { path: &node.at(&format!("items[{index}]")), keywords }, &inner, compiles, all);
    }
    if node.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(false)) {
        let (keyword, shown) = ("x-kubernetes-preserve-unknown-fields", Some(Shown::from(false)));
        all.schemas.push(node.error(keyword, ErrorKind::Invalid, shown, "must be true or undefined"));
    }
    lists::check(node, &mut all.schemas);
    expressions::check(node, &mut all.schemas);
    if compiles && all.schemas.len() == before {
        expressions::compile(node, &mut all.rules);
    }
}

fn unsupported(node: Node<'_>, context: &SchemaContext, errors: &mut Vec<Error>) {
    let found = node.text("type");
    if !found.is_empty() && !TYPES.contains(&found) {
        let known: Vec<String> = TYPES.iter().map(|name| format!("{name:?}")).collect();
        let why = format!("supported values: {}", known.join(", "));
        errors.push(node.error("type", ErrorKind::NotSupported, Some(Shown::from(found)), &why));
    }
    if let Some(reason) = context.without_defaults.as_ref().filter(|_| node.get("default").is_some()) {
        errors.push(node.forbidden("default", &format!("must not be set {reason}")));
    }
    for keyword in ["id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"] {
        let is_empty = match node.get(keyword) {
            None => true,
            Some(Value::String(text)) => text.is_empty() && keyword == "id",
            Some(Value::Object(map)) => {
                map.is_empty() && matches!(keyword, "patternProperties" | "definitions")
            }
            Some(_) => false,
        };
        if !is_empty {
            errors.push(node.forbidden(keyword, &format!("{keyword} is not supported")));
        }
    }
    if found == "null" {
        let why = "type cannot be set to null, use nullable as an alternative";
        errors.push(node.forbidden("type", why));
    }
    if node.get("items").and_then(Value::as_array).is_some_and(|items| !items.is_empty()) {
        errors.push(node.forbidden("items", "items must be a schema object and not an array"));
    }
    if context.in_metadata && node.flag("x-kubernetes-embedded-resource") {
        let why = "must not be used inside of resource meta";
        errors.push(node.forbidden("x-kubernetes-embedded-resource", why));
    }
    if node.flag("uniqueItems") {
        let why = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
        errors.push(node.forbidden("uniqueItems", why));
    }
}

fn check_additional(
    node: Node<'_>,
    additional: &Value,
    context: &SchemaContext,
    compiles: bool,
    all: &mut Errors,
) {
    let has_fields = node.below("properties").is_some_and(|fields| !fields.is_empty());
    // Where there are fields, only `true` is allowed.
    if has_fields && *additional != Value::Bool(true) {
        let why = "additionalProperties and properties are mutual exclusive";
        all.schemas.push(node.forbidden("additionalProperties", why));
    }
    let mut context = context.clone();
    if context.in_metadata {
        let why = "inside additionalProperties applying to object metadata";
        context.without_defaults = Some(why.to_owned());
    }
    if let Some(keywords) = additional.as_object() {
        walk(Node { path: &node.at("additionalProperties"), keywords }, &context, compiles, all);
    }
}
