//! Pruning: fields that the schema does not know are dropped.

use serde_json::{Map, Value};

use super::schema::{Additional, Schema};

/// What every object has beside its schema.
const OBJECT_FIELDS: &[&str] = &["apiVersion", "kind", "metadata"];

/// Drops what the schema does not know from an object with apiVersion, kind and metadata; gives the paths, in order.
pub(crate) fn prune(object: &mut Value, schema: &Schema) -> Vec<String> {
    let mut dropped = Vec::new();
    if let Value::Object(fields) = object {
        fields_of(fields, schema, true, "", &mut dropped);
    }
    dropped.sort();
    dropped
}

/// Drops `null` where the schema allows none: it stands for absence.
pub(crate) fn drop_nulls(value: &mut Value, schema: &Schema) {
    match value {
        Value::Object(fields) => fields.retain(|name, value| {
            let Some(schema) = schema.field(name) else { return true };
            drop_nulls(value, schema);
            !value.is_null() || schema.nullable
        }),
        Value::Array(items) => {
            if let Some(schema) = &schema.items {
                for item in items {
                    drop_nulls(item, schema);
                }
            }
        }
        _ => {}
    }
}

fn below(value: &mut Value, schema: Option<&Schema>, path: &str, dropped: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            if let Some(schema) = schema {
                fields_of(fields, schema, schema.embedded, path, dropped);
            } else {
                dropped.extend(fields.keys().map(|name| joined(path, name)));
                fields.clear();
            }
        }
        Value::Array(items) => {
            // An open list keeps its elements, known or not.
            if schema.is_some_and(|schema| schema.preserves && schema.items.is_none()) {
                return;
            }
            let schema = schema.and_then(|schema| schema.items.as_deref());
            for (index, item) in items.iter_mut().enumerate() {
                below(item, schema, &format!("{path}[{index}]"), dropped);
            }
        }
        _ => {}
    }
}

fn fields_of(
    fields: &mut Map<String, Value>,
    schema: &Schema,
    whole: bool,
    path: &str,
    dropped: &mut Vec<String>,
) {
    fields.retain(|name, value| {
        if whole && OBJECT_FIELDS.contains(&name.as_str()) {
            return true;
        }
        let path = joined(path, name);
        match (schema.properties.get(name), &schema.additional) {
            (Some(known), _) => below(value, Some(known), &path, dropped),
            (None, Additional::Of(known)) => below(value, Some(known), &path, dropped),
            (None, Additional::Any) => below(value, None, &path, dropped),
            (None, Additional::None) if schema.preserves => {}
            (None, Additional::None) => {
                dropped.push(path);
                return false;
            }
        }
        true
    });
}

fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_the_schema_knows_stays() {
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
    fn null_goes_where_it_is_no_value() {
        let schema = Schema::read(&json!({"properties": {
            "a": {"type": "string"}, "b": {"type": "string", "nullable": true},
            "c": {"type": "object", "properties": {"d": {"type": "string"}}},
        }}));
        let mut object = json!({"a": null, "b": null, "c": {"d": null}, "unknown": null});
        drop_nulls(&mut object, &schema);
        assert_eq!(object, json!({"b": null, "c": {}, "unknown": null}));
    }
}
