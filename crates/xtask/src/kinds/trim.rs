//! Reduces an OpenAPI schema to what describes types, keys and patches; removes descriptions and validations.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

const KEPT: [&str; 12] = [
    "type",
    "format",
    "required",
    "default",
    "enum",
    "nullable",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-map-type",
    "x-kubernetes-patch-strategy",
    "x-kubernetes-patch-merge-key",
    "x-kubernetes-preserve-unknown-fields",
];

/// The schema with the needed fields only, and with references shortened to the name of the definition.
pub(crate) fn trimmed(schema: &Value) -> Value {
    let mut left = Map::new();
    for key in KEPT {
        if let Some(value) = schema.get(key).filter(|value| key != "default" || is_default(value)) {
            left.insert(key.to_owned(), value.clone());
        }
    }
    if let Some(name) = reference(schema) {
        left.insert("$ref".to_owned(), Value::from(name));
    }
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        let properties = properties.iter().map(|(name, property)| (name.clone(), trimmed(property)));
        left.insert("properties".to_owned(), Value::Object(properties.collect()));
    }
    for key in ["items", "additionalProperties"] {
        match schema.get(key) {
            Some(Value::Object(_)) => left.insert(key.to_owned(), trimmed_element(&schema[key])),
            Some(other) => left.insert(key.to_owned(), other.clone()),
            None => None,
        };
    }
    Value::Object(left)
}

/// The schema of a list's or a map's elements, without a meaningless default `{}`.
fn trimmed_element(schema: &Value) -> Value {
    let mut left = trimmed(schema);
    if let Some(fields) = left.as_object_mut().filter(|fields| fields.get("default") == Some(&json!({}))) {
        fields.remove("default");
    }
    left
}

/// The definitions that definitions with a kind refer to, directly or indirectly, and these themselves.
pub(crate) fn reachable(
    definitions: &BTreeMap<String, Value>,
    kinds: impl Iterator<Item = String>,
) -> BTreeSet<String> {
    let mut open: Vec<String> = kinds.collect();
    let mut reached = BTreeSet::new();
    while let Some(name) = open.pop() {
        if let Some(definition) = definitions.get(&name)
            && reached.insert(name)
        {
            references(definition, &mut open);
        }
    }
    reached
}

fn references(schema: &Value, found: &mut Vec<String>) {
    found.extend(reference(schema).map(str::to_owned));
    for below in schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::values) {
        references(below, found);
    }
    for below in ["items", "additionalProperties"].iter().filter_map(|key| schema.get(key)) {
        references(below, found);
    }
}

/// The definition that a schema refers to; a schema with a default or a patch strategy has the reference in `allOf`.
fn reference(schema: &Value) -> Option<&str> {
    let holder = schema.pointer("/allOf/0").unwrap_or(schema);
    let name = holder.get("$ref")?.as_str()?;
    Some(name.strip_prefix("#/components/schemas/").unwrap_or(name))
}

/// Whether a default is real: Go's types print zero values if there is none. `{}` is real: the struct always exists.
fn is_default(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Number(number) => number.as_f64() != Some(0.0),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_are_removed_but_fields_of_that_name_stay_and_references_are_shortened() {
        let schema = json!({"description": "x", "type": "object", "required": ["description"], "properties": {
            "description": {"type": "string", "default": "", "description": "y"},
            "protocol": {"type": "string", "default": "TCP"},
            "ports": {"type": "array", "x-kubernetes-list-type": "atomic",
                "items": {"default": {}, "allOf": [{"$ref": "#/components/schemas/io.k8s.Port"}]}},
            "limits": {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/io.k8s.Quantity"}},
            "spec": {"default": {}, "allOf": [{"$ref": "#/components/schemas/io.k8s.Spec"}]},
        }});
        let wanted = json!({"type": "object", "required": ["description"], "properties": {
            "description": {"type": "string"},
            "protocol": {"type": "string", "default": "TCP"},
            "ports": {"type": "array", "x-kubernetes-list-type": "atomic", "items": {"$ref": "io.k8s.Port"}},
            "limits": {"type": "object", "additionalProperties": {"$ref": "io.k8s.Quantity"}},
            "spec": {"default": {}, "$ref": "io.k8s.Spec"},
        }});
        assert_eq!(trimmed(&schema), wanted);
    }

    #[test]
    fn only_definitions_that_a_kind_refers_to_are_reachable() {
        let to = |name: &str| json!({"properties": {"x": {"items": {"$ref": name}}}});
        let definitions = [("a", to("b")), ("b", to("a")), ("c", to("a"))];
        let definitions = definitions.map(|(name, schema)| (name.to_owned(), schema)).into();
        let reached = reachable(&definitions, ["a".to_owned()].into_iter());
        assert_eq!(reached, BTreeSet::from(["a".to_owned(), "b".to_owned()]));
    }
}
