//! Converts OpenAPI schemas to types: structural schemas of CRDs and the reduced schemas of Kubernetes.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::kubernetes_version::NEWEST;
use crate::types::{Field, IntegerWidth, ListKind, PatchStrategy, Shape, Type, TypeForm, TypeNode};

const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.";
/// Beginning of the pattern that controller-gen writes for a quantity, up to the suffixes.
const QUANTITY_PATTERN: &str = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))((";

/// The type that a schema describes; its references are to definitions of this minor of Kubernetes.
pub(crate) fn parse(minor: u8, schema: &Value) -> Type {
    let (strategy, retain_keys) = patch_strategy(schema);
    Type(Arc::new(TypeNode {
        form: form(minor, schema),
        default: schema.get("default").cloned(),
        list: list_kind(schema),
        strategy,
        retain_keys,
        merge_key: text(schema, "x-kubernetes-patch-merge-key").map(str::to_owned),
        atomic: text(schema, "x-kubernetes-map-type") == Some("atomic") || is_raw(schema),
        open: flag(schema, "x-kubernetes-preserve-unknown-fields"),
        nullable: flag(schema, "nullable"),
        embedded: flag(schema, "x-kubernetes-embedded-resource"),
        object: text(schema, "type") == Some("object"),
        allowed: schema.get("enum").and_then(Value::as_array).cloned().unwrap_or_default(),
    }))
}

/// The type of a custom resource: its schema and the fields that every object has.
pub(crate) fn custom_object(schema: &Value) -> Type {
    let mut fields = properties(NEWEST, schema);
    add_object_fields(&mut fields);
    let open = flag(schema, "x-kubernetes-preserve-unknown-fields") || schema.is_null();
    Type(Arc::new(TypeNode { form: TypeForm::Object(fields), open, ..TypeNode::default() }))
}

/// The type of a list of objects.
pub(crate) fn list_of(items: Type) -> Type {
    let list = Type(Arc::new(TypeNode { form: TypeForm::List(items), ..TypeNode::default() }));
    let fields = [
        field("apiVersion", scalar(Shape::String)),
        field("kind", scalar(Shape::String)),
        field("metadata", reference("ListMeta")),
        Field { required: true, ..field("items", list) },
    ];
    let fields = fields.into_iter().map(|field| (field.name.clone(), field)).collect();
    Type(Arc::new(TypeNode { form: TypeForm::Object(fields), ..TypeNode::default() }))
}

fn form(minor: u8, schema: &Value) -> TypeForm {
    let first = schema.pointer("/allOf/0").unwrap_or(schema);
    if let Some(name) = text(first, "$ref") {
        return definition(minor, name.strip_prefix("#/components/schemas/").unwrap_or(name));
    }
    if flag(schema, "x-kubernetes-int-or-string") || text(schema, "format") == Some("int-or-string") {
        let quantity = text(schema, "pattern").is_some_and(|pattern| pattern.starts_with(QUANTITY_PATTERN));
        return TypeForm::Scalar(if quantity { Shape::Quantity } else { Shape::IntOrString });
    }
    match text(schema, "type") {
        Some("object") => object(minor, schema),
        Some("array") => {
            TypeForm::List(schema.get("items").map_or_else(Type::any, |items| parse(minor, items)))
        }
        Some(name) => primitive(name, text(schema, "format")),
        None if schema.get("properties").is_some() => object(minor, schema),
        None => TypeForm::Any,
    }
}

/// The form of a reference. Definitions that are scalars with a notation of their own are recognized by name.
fn definition(minor: u8, name: &str) -> TypeForm {
    let shape = match name.strip_prefix("io.k8s.apimachinery.pkg.").unwrap_or(name) {
        "api.resource.Quantity" => Shape::Quantity,
        "apis.meta.v1.Time" => Shape::Time,
        "apis.meta.v1.MicroTime" => Shape::MicroTime,
        "apis.meta.v1.Duration" => Shape::Duration,
        "util.intstr.IntOrString" => Shape::IntOrString,
        "apis.meta.v1.FieldsV1" | "apis.meta.v1.Patch" | "runtime.RawExtension" => return TypeForm::Any,
        _ => return TypeForm::Reference(minor, name.to_owned()),
    };
    TypeForm::Scalar(shape)
}

fn primitive(name: &str, format: Option<&str>) -> TypeForm {
    TypeForm::Scalar(match (name, format) {
        ("string", Some("byte")) => Shape::Bytes,
        ("string", Some("date-time")) => Shape::Time,
        ("string", Some("duration")) => Shape::Duration,
        ("string", _) => Shape::String,
        ("integer", Some("int32")) => Shape::Integer(IntegerWidth::Int32),
        ("integer", _) => Shape::Integer(IntegerWidth::Int64),
        ("number", _) => Shape::Number,
        ("boolean", _) => Shape::Boolean,
        _ => return TypeForm::Any,
    })
}

fn object(minor: u8, schema: &Value) -> TypeForm {
    let mut fields = properties(minor, schema);
    if flag(schema, "x-kubernetes-embedded-resource") {
        add_object_fields(&mut fields);
    }
    match schema.get("additionalProperties") {
        Some(values @ Value::Object(_)) if fields.is_empty() => TypeForm::Map(parse(minor, values)),
        Some(Value::Bool(true)) if fields.is_empty() => TypeForm::Map(Type::any()),
        _ if fields.is_empty() && flag(schema, "x-kubernetes-preserve-unknown-fields") => TypeForm::Any,
        _ => TypeForm::Object(fields),
    }
}

fn properties(minor: u8, schema: &Value) -> BTreeMap<String, Field> {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let declared = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    declared
        .map(|(name, property)| {
            let required = required.contains(&name.as_str());
            (name.clone(), Field { name: name.clone(), required, ty: parse(minor, property) })
        })
        .collect()
}

/// Adds the fields that every object has. A schema declares them only for validation.
fn add_object_fields(fields: &mut BTreeMap<String, Field>) {
    for (name, ty) in [
        ("apiVersion", scalar(Shape::String)),
        ("kind", scalar(Shape::String)),
        ("metadata", reference("ObjectMeta")),
    ] {
        fields.insert(name.to_owned(), field(name, ty));
    }
}

fn field(name: &str, ty: Type) -> Field {
    Field { name: name.to_owned(), required: false, ty }
}

fn scalar(shape: Shape) -> Type {
    Type(Arc::new(TypeNode { form: TypeForm::Scalar(shape), ..TypeNode::default() }))
}

fn reference(name: &str) -> Type {
    Type(Arc::new(TypeNode {
        form: TypeForm::Reference(NEWEST, format!("{META}{name}")),
        ..TypeNode::default()
    }))
}

/// Whether a field is a RawExtension: an object of any kind, which has one field owner as a whole.
fn is_raw(schema: &Value) -> bool {
    let first = schema.pointer("/allOf/0").unwrap_or(schema);
    text(first, "$ref").is_some_and(|name| name.ends_with("io.k8s.apimachinery.pkg.runtime.RawExtension"))
}

fn list_kind(schema: &Value) -> Option<ListKind> {
    match text(schema, "x-kubernetes-list-type")? {
        "map" => {
            let keys =
                schema.get("x-kubernetes-list-map-keys").and_then(Value::as_array).into_iter().flatten();
            Some(ListKind::Map(keys.filter_map(Value::as_str).map(str::to_owned).collect()))
        }
        "set" => Some(ListKind::Set),
        _ => Some(ListKind::Atomic),
    }
}

fn patch_strategy(schema: &Value) -> (Option<PatchStrategy>, bool) {
    let strategies = text(schema, "x-kubernetes-patch-strategy").unwrap_or_default();
    let mut words = strategies.split(',');
    let strategy = words.clone().find_map(|word| match word {
        "merge" => Some(PatchStrategy::Merge),
        "replace" => Some(PatchStrategy::Replace),
        _ => None,
    });
    (strategy, words.any(|word| word == "retainKeys"))
}

fn text<'a>(schema: &'a Value, key: &str) -> Option<&'a str> {
    schema.get(key).and_then(Value::as_str)
}

fn flag(schema: &Value, key: &str) -> bool {
    schema.get(key).and_then(Value::as_bool).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn structural_schemas_have_lists_maps_and_open_objects() {
        let ty = Type::from_openapi(&json!({"type": "object", "required": ["pools"], "properties": {
            "pools": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                "items": {"type": "object", "properties": {"name": {"type": "string"}}}},
            "zones": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "providerConfig": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": true,
                "properties": {"known": {"type": "integer", "format": "int32", "default": 3}}},
            "empty": {"type": "object"},
        }}));
        assert!(ty.field("pools").expect("declared").required);
        assert!(!ty.is_open());
        assert_eq!(ty.at("pools").and_then(|list| list.list_keys()), Some(vec!["name".to_owned()]));
        assert_eq!(ty.at("zones").and_then(|list| list.list_kind()), Some(ListKind::Set));
        assert_eq!(ty.at("labels[a.b/c]").map(|value| value.shape()), Some(Shape::String));
        assert_eq!(ty.at("providerConfig.any.depth[3]").map(|any| any.shape()), Some(Shape::Any));
        assert!(ty.at("open").expect("declared").is_open());
        assert_eq!(ty.at("open.known").expect("declared").default(), Some(&json!(3)));
        assert!(ty.at("open.unknown").is_none());
        assert!(ty.at("empty.unknown").is_none());
        assert!(ty.at("pools.name").is_none());
    }

    #[test]
    fn notations_are_recognized_by_format_and_pattern() {
        let shape = |schema: Value| Type::from_openapi(&schema).shape();
        assert_eq!(shape(json!({"x-kubernetes-int-or-string": true})), Shape::IntOrString);
        let pattern = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE])?$";
        assert_eq!(shape(json!({"x-kubernetes-int-or-string": true, "pattern": pattern})), Shape::Quantity);
        assert_eq!(shape(json!({"type": "string", "format": "date-time"})), Shape::Time);
        assert_eq!(shape(json!({"type": "string", "format": "duration"})), Shape::Duration);
        assert_eq!(shape(json!({"type": "string", "format": "byte"})), Shape::Bytes);
        assert_eq!(shape(json!({"type": "integer"})), Shape::Integer(IntegerWidth::Int64));
        assert_eq!(shape(json!({"type": "number"})), Shape::Number);
        assert_eq!(shape(json!({"x-kubernetes-preserve-unknown-fields": true})), Shape::Any);
    }

    #[test]
    fn an_embedded_resource_has_the_fields_of_every_object() {
        let ty = Type::from_openapi(&json!({"type": "object", "x-kubernetes-embedded-resource": true,
            "x-kubernetes-preserve-unknown-fields": true}));
        assert_eq!(ty.at("metadata.labels.x").map(|value| value.shape()), Some(Shape::String));
        assert!(ty.is_open() && ty.is_embedded_resource());
    }
}
