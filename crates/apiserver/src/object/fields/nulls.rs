//! How decoding into Go types treats null: a field stays unset, an entry of a map or list becomes the zero of its
//! type. Also decodes bytes that are given as a list of numbers.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use schema::{Shape, Type};
use serde_json::{Map, Value};

/// Removes null fields and replaces null entries; without a type, removes all nulls.
pub(crate) fn resolve(fields: &mut Map<String, Value>, ty: Option<&Type>) {
    // Unknown fields stay, so that they are reported.
    let is_unknown = |name: &str| ty.is_some_and(|ty| !ty.is_open() && ty.field(name).is_none());
    fields.retain(|name, value| !value.is_null() || is_unknown(name));
    for (name, value) in fields.iter_mut() {
        match ty {
            None => remove_all(value),
            Some(ty) => {
                if let Some(field) = ty.field(name) {
                    resolve_value(value, &field.ty);
                }
            }
        }
    }
}

fn resolve_value(value: &mut Value, ty: &Type) {
    match (value, ty.shape()) {
        (Value::Object(fields), Shape::Object) => resolve(fields, Some(ty)),
        (Value::Object(entries), Shape::Map) => {
            let Some(ty) = ty.values() else { return };
            entries.values_mut().for_each(|entry| resolve_entry(entry, &ty));
            entries.retain(|_, entry| !entry.is_null());
        }
        (bytes @ Value::Array(_), Shape::Bytes) => {
            let numbers = bytes.as_array().into_iter().flatten();
            let decoded: Option<Vec<u8>> =
                numbers.map(|number| number.as_u64().and_then(|number| u8::try_from(number).ok())).collect();
            if let Some(decoded) = decoded {
                *bytes = STANDARD.encode(decoded).into();
            }
        }
        (Value::Array(items), Shape::List) => {
            let Some(ty) = ty.items() else { return };
            for item in items {
                resolve_entry(item, &ty);
            }
        }
        _ => {}
    }
}

fn resolve_entry(value: &mut Value, ty: &Type) {
    if value.is_null() {
        *value = zero(ty);
    } else {
        resolve_value(value, ty);
    }
}

fn zero(ty: &Type) -> Value {
    match ty.shape() {
        Shape::String | Shape::Bytes => "".into(),
        Shape::Boolean => false.into(),
        Shape::Integer(_) | Shape::Number | Shape::IntOrString => 0.into(),
        Shape::Quantity => "0".into(),
        Shape::Object => Value::Object(Map::new()),
        Shape::Map | Shape::List | Shape::Time | Shape::MicroTime | Shape::Duration | Shape::Any => {
            Value::Null
        }
    }
}

fn remove_all(value: &mut Value) {
    match value {
        Value::Object(fields) => resolve(fields, None),
        Value::Array(items) => items.iter_mut().for_each(remove_all),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use schema::Kinds;
    use serde_json::json;

    use super::*;

    #[test]
    fn null_is_absent_in_a_field_and_zero_in_a_map_or_list() {
        let pod = Kinds::kubernetes().type_of("", "v1", "Pod").unwrap();
        let mut tree = json!({
            "metadata": {"labels": {"a": null, "b": "c"}, "finalizers": [null, "x"], "uid": null, "unknown": null},
            "spec": {"nodeName": null, "containers": [null, {"name": "a", "resources": {"limits": {"cpu": null}}}]},
        });
        resolve(tree.as_object_mut().unwrap(), Some(&pod));
        let want = json!({
            "metadata": {"labels": {"a": "", "b": "c"}, "finalizers": ["", "x"], "unknown": null},
            "spec": {"containers": [{}, {"name": "a", "resources": {"limits": {"cpu": "0"}}}]},
        });
        assert_eq!(tree, want);
    }
}
