//! Removes fields that the schema does not declare.

use serde_json::{Map, Value};

use super::schema::{Additional, Schema};

/// Fields of every object, which its schema need not declare.
const OBJECT_FIELDS: &[&str] = &["apiVersion", "kind", "metadata"];

/// Prunes an object with apiVersion, kind and metadata; returns the sorted paths of the removed fields.
pub(crate) fn prune(object: &mut Value, schema: &Schema) -> Vec<String> {
    let mut dropped = Vec::new();
    if let Value::Object(fields) = object {
        prune_fields(fields, schema, true, "", &mut dropped);
    }
    dropped.sort();
    dropped
}

/// Removes null fields that are not nullable: null means absent.
pub(crate) fn drop_nulls(value: &mut Value, schema: &Schema) {
    drop_nulls_where(value, schema, &|_| true);
}

/// The same for fields without a type; validation refuses null in the others.
pub(crate) fn drop_untyped_nulls(value: &mut Value, schema: &Schema) {
    drop_nulls_where(value, schema, &|schema| schema.checks.types.is_empty());
}

fn drop_nulls_where(value: &mut Value, schema: &Schema, may_drop: &dyn Fn(&Schema) -> bool) {
    match value {
        Value::Object(fields) => fields.retain(|name, value| {
            let Some(schema) = schema.field(name) else { return true };
            drop_nulls_where(value, schema, may_drop);
            !value.is_null() || schema.nullable || !may_drop(schema)
        }),
        Value::Array(items) => {
            if let Some(schema) = &schema.items {
                for item in items {
                    drop_nulls_where(item, schema, may_drop);
                }
            }
        }
        _ => {}
    }
}

fn prune_value(value: &mut Value, schema: Option<&Schema>, path: &str, dropped: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            if let Some(schema) = schema {
                prune_fields(fields, schema, schema.embedded, path, dropped);
            } else {
                dropped.extend(fields.keys().map(|name| field_path(path, name)));
                fields.clear();
            }
        }
        Value::Array(items) => {
            // A list that preserves unknown fields and declares no elements stays unchanged.
            if schema.is_some_and(|schema| schema.preserves_unknown && schema.items.is_none()) {
                return;
            }
            let schema = schema.and_then(|schema| schema.items.as_deref());
            for (index, item) in items.iter_mut().enumerate() {
                prune_value(item, schema, &format!("{path}[{index}]"), dropped);
            }
        }
        _ => {}
    }
}

fn prune_fields(
    fields: &mut Map<String, Value>,
    schema: &Schema,
    is_object: bool,
    path: &str,
    dropped: &mut Vec<String>,
) {
    fields.retain(|name, value| {
        if is_object && OBJECT_FIELDS.contains(&name.as_str()) {
            return true;
        }
        let path = field_path(path, name);
        match (schema.properties.get(name), &schema.additional) {
            (Some(declared), _) => prune_value(value, Some(declared), &path, dropped),
            (None, Additional::Of(declared)) => prune_value(value, Some(declared), &path, dropped),
            (None, Additional::Any) => prune_value(value, None, &path, dropped),
            (None, Additional::None) if schema.preserves_unknown => {}
            (None, Additional::None) => {
                dropped.push(path);
                return false;
            }
        }
        true
    });
}

fn field_path(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn undeclared_fields_are_removed() {
        let schema = Schema::read(&json!({"type": "object", "properties": {
            "spec": {"type": "object", "properties": {
                "a": {"type": "string"},
                "list": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "string"}}}},
                "map": {"type": "object", "additionalProperties": {"type": "object", "properties": {"v": {}}}},
                "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": true,
                    "properties": {"closed": {"type": "object"}}},
                "whole": {"type": "object", "x-kubernetes-embedded-resource": true},
            }},
        }}));
        let mut object = json!({
            "apiVersion": "v1", "kind": "A", "metadata": {"name": "a"}, "extra": 1,
            "spec": {
                "a": {"deep": 1}, "b": 1, "list": [{"n": "x", "m": 1}, "text"], "map": {"k": {"v": 1, "w": 2}},
                "open": {"any": {"x": 1}, "closed": {"y": 1}},
                "whole": {"apiVersion": "v1", "kind": "B", "metadata": {"labels": {}}, "spec": 1},
            },
        });
        let dropped = prune(&mut object, &schema);
        let want = json!({
            "apiVersion": "v1", "kind": "A", "metadata": {"name": "a"},
            "spec": {
                "a": {}, "list": [{"n": "x"}, "text"], "map": {"k": {"v": 1}},
                "open": {"any": {"x": 1}, "closed": {}},
                "whole": {"apiVersion": "v1", "kind": "B", "metadata": {"labels": {}}},
            },
        });
        assert_eq!(object, want);
        let paths = [
            "extra",
            "spec.a.deep",
            "spec.b",
            "spec.list[0].m",
            "spec.map.k.w",
            "spec.open.closed.y",
            "spec.whole.spec",
        ];
        assert_eq!(dropped, paths);
    }

    #[test]
    fn null_is_removed_unless_nullable() {
        let schema = Schema::read(&json!({"properties": {
            "a": {"type": "string"}, "b": {"type": "string", "nullable": true},
            "c": {"type": "object", "properties": {"d": {"type": "string"}}},
        }}));
        let mut object = json!({"a": null, "b": null, "c": {"d": null}, "unknown": null});
        let mut mutated = object.clone();
        drop_nulls(&mut object, &schema);
        assert_eq!(object, json!({"b": null, "c": {}, "unknown": null}));
        drop_untyped_nulls(&mut mutated, &schema);
        assert_eq!(mutated, json!({"a": null, "b": null, "c": {"d": null}, "unknown": null}));
    }
}
