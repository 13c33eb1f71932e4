//! Visits all values of an object, with their path and schema.

use serde_json::Value;

use crate::object::structural::schema::Schema;

/// Visits each value that the schema declares, parents before children. Paths have keys of maps in brackets, fields
/// after a dot.
pub(super) fn walk(object: &Value, schema: &Schema, visit: &mut dyn FnMut(&str, &Value, &Schema)) {
    walk_value("", object, schema, visit);
}

fn walk_value(path: &str, value: &Value, schema: &Schema, visit: &mut dyn FnMut(&str, &Value, &Schema)) {
    visit(path, value, schema);
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let Some(below) = schema.field(name) else { continue };
                let path = match (path, schema.properties.contains_key(name)) {
                    ("", _) => name.clone(),
                    (path, true) => format!("{path}.{name}"),
                    (path, false) => format!("{path}[{name}]"),
                };
                walk_value(&path, value, below, visit);
            }
        }
        Value::Array(items) => {
            let Some(below) = &schema.items else { return };
            for (index, item) in items.iter().enumerate() {
                walk_value(&format!("{path}[{index}]"), item, below, visit);
            }
        }
        _ => {}
    }
}
