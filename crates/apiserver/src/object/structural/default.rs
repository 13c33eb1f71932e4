//! Sets the defaults of a schema.

use serde_json::Value;

use super::schema::Schema;

/// Sets absent fields that have a default, and null ones that are not nullable.
pub(crate) fn default(value: &mut Value, schema: &Schema) {
    match value {
        Value::Object(fields) => {
            for (name, schema) in &schema.properties {
                let Some(default) = &schema.default else { continue };
                if fields.get(name).is_none_or(|value| value.is_null() && !schema.nullable) {
                    fields.insert(name.clone(), default.clone());
                }
            }
            for (name, value) in fields.iter_mut() {
                let Some(below) = schema.field(name) else { continue };
                replace_null(value, below);
                default(value, below);
            }
        }
        Value::Array(items) => {
            let Some(schema) = &schema.items else { return };
            for item in items {
                replace_null(item, schema);
                default(item, schema);
            }
        }
        _ => {}
    }
}

/// Whether [`default`] would change the value.
pub(crate) fn lacks_defaults(value: &Value, schema: &Schema) -> bool {
    let null =
        |value: &Value, schema: &Schema| value.is_null() && !schema.nullable && schema.default.is_some();
    let below = |value: &Value, schema: &Schema| null(value, schema) || lacks_defaults(value, schema);
    match value {
        Value::Object(fields) => {
            let unset =
                |(name, schema): (&String, &Schema)| schema.default.is_some() && !fields.contains_key(name);
            schema.properties.iter().any(unset)
                || fields
                    .iter()
                    .any(|(name, value)| schema.field(name).is_some_and(|schema| below(value, schema)))
        }
        Value::Array(items) => {
            schema.items.as_ref().is_some_and(|schema| items.iter().any(|item| below(item, schema)))
        }
        _ => false,
    }
}

fn replace_null(value: &mut Value, schema: &Schema) {
    if value.is_null()
        && !schema.nullable
        && let Some(default) = &schema.default
    {
        *value = default.clone();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn defaults_apply_to_existing_values_and_to_other_defaults() {
        let schema = Schema::read(&json!({"properties": {
            "a": {"type": "string", "default": "x"},
            "n": {"type": "string", "nullable": true, "default": "x"},
            "o": {"type": "object", "default": {}, "properties": {"p": {"type": "integer", "default": 1}}},
            "q": {"type": "object", "properties": {"r": {"type": "integer", "default": 2}}},
            "l": {"type": "array", "items": {"type": "object", "properties": {"s": {"default": 3}}}},
            "m": {"type": "object", "additionalProperties": {"type": "integer", "default": 4}},
        }}));
        let table = [
            (json!({}), json!({"a": "x", "n": "x", "o": {"p": 1}})),
            (json!({"a": null, "n": null}), json!({"a": "x", "n": null, "o": {"p": 1}})),
            (
                json!({"q": {}, "l": [{}, {"s": 0}]}),
                json!({
                    "a": "x", "n": "x", "o": {"p": 1}, "q": {"r": 2}, "l": [{"s": 3}, {"s": 0}],
                }),
            ),
            (
                json!({"m": {"k": null, "j": 1}}),
                json!({"a": "x", "n": "x", "o": {"p": 1}, "m": {"k": 4, "j": 1}}),
            ),
        ];
        for (mut given, want) in table {
            default(&mut given, &schema);
            assert_eq!(given, want);
        }
    }
}
