//! Every value within an object, with its path and what the schema says there.

use serde_json::Value;

use crate::object::structural::schema::Schema;

/// Shows each value that the schema knows, the outer before the inner. An entry of a map is told in brackets, a field with
/// a dot.
pub(super) fn walk(object: &Value, schema: &Schema, see: &mut dyn FnMut(&str, &Value, &Schema)) {
    at("", object, schema, see);
}

fn at(path: &str, value: &Value, schema: &Schema, see: &mut dyn FnMut(&str, &Value, &Schema)) {
    see(path, value, schema);
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let Some(below) = schema.field(name) else { continue };
                let path = match (path, schema.properties.contains_key(name)) {
                    ("", _) => name.clone(),
                    (path, true) => format!("{path}.{name}"),
                    (path, false) => format!("{path}[{name}]"),
                };
                at(&path, value, below, see);
            }
        }
        Value::Array(items) => {
            let Some(below) = &schema.items else { return };
            for (index, item) in items.iter().enumerate() {
                at(&format!("{path}[{index}]"), item, below, see);
            }
        }
        _ => {}
    }
}
