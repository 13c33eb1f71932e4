//! Canonical notations, and empty structs that Go always encodes.

use formats::quantity::Quantity;
use schema::{Shape, Type};
use serde_json::{Value, json};

/// Writes quantities in canonical form, and adds the structs that are not pointers in Go.
pub(super) fn normalize(value: &mut Value, ty: &Type) {
    match value {
        Value::Object(fields) if ty.shape() == Shape::Object => {
            for (name, _) in ty.structs() {
                // The status belongs to the server; the tables contain its defaults.
                if name != "metadata" && name != "status" {
                    fields.entry(name).or_insert_with(|| json!({}));
                }
            }
            for (name, value) in fields.iter_mut() {
                if let Some(field) = ty.field(name) {
                    normalize(value, &field.ty);
                }
            }
        }
        Value::Object(fields) => {
            let Some(ty) = ty.values() else { return };
            fields.values_mut().for_each(|value| normalize(value, &ty));
        }
        Value::Array(items) => {
            let Some(ty) = ty.items() else { return };
            for item in items {
                normalize(item, &ty);
            }
        }
        Value::String(_) | Value::Number(_) if ty.shape() == Shape::Quantity => canonical(value),
        _ => {}
    }
}

fn canonical(value: &mut Value) {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    if let Ok(quantity) = Quantity::parse(&text) {
        *value = quantity.to_string().into();
    }
}
