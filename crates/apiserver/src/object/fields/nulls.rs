//! What decoding into Go's types makes of null: a field is not set, an entry of a map or list is the zero of its type.
//! Bytes may be told by their numbers.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use schema::{Shape, Type};
use serde_json::{Map, Value};

/// Takes the nulls of the fields of an object away; where its type is unknown, all nulls.
pub(crate) fn settle(fields: &mut Map<String, Value>, ty: Option<&Type>) {
    fields.retain(|_, value| !value.is_null());
    for (name, value) in fields.iter_mut() {
        match ty {
            None => forget(value),
            Some(ty) => {
                if let Some(field) = ty.field(name) {
                    below(value, &field.ty);
                }
            }
        }
    }
}

fn below(value: &mut Value, ty: &Type) {
    match (value, ty.shape()) {
        (Value::Object(fields), Shape::Object) => settle(fields, Some(ty)),
        (Value::Object(entries), Shape::Map) => {
            let Some(ty) = ty.values() else { return };
            entries.values_mut().for_each(|entry| entry_of(entry, &ty));
            entries.retain(|_, entry| !entry.is_null());
        }
        (bytes @ Value::Array(_), Shape::Bytes) => {
            let numbers = bytes.as_array().into_iter().flatten();
            let read: Option<Vec<u8>> =
                numbers.map(|number| number.as_u64().and_then(|number| u8::try_from(number).ok())).collect();
            if let Some(read) = read {
                *bytes = STANDARD.encode(read).into();
            }
        }
        (Value::Array(items), Shape::List) => {
            let Some(ty) = ty.items() else { return };
            for item in items {
                entry_of(item, &ty);
            }
        }
        _ => {}
    }
}

fn entry_of(value: &mut Value, ty: &Type) {
    if value.is_null() {
        *value = zero(ty);
    } else {
        below(value, ty);
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

fn forget(value: &mut Value) {
    match value {
        Value::Object(fields) => settle(fields, None),
        Value::Array(items) => items.iter_mut().for_each(forget),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use schema::Kinds;
    use serde_json::json;

    use super::*;

    #[test]
    fn null_is_absence_in_a_field_and_zero_in_a_map_or_list() {
        let pod = Kinds::kubernetes().type_of("", "v1", "Pod").unwrap();
        let mut tree = json!({
            "metadata": {"labels": {"a": null, "b": "c"}, "finalizers": [null, "x"], "uid": null},
            "spec": {"nodeName": null, "containers": [null, {"name": "a", "resources": {"limits": {"cpu": null}}}]},
        });
        settle(tree.as_object_mut().unwrap(), Some(&pod));
        let want = json!({
            "metadata": {"labels": {"a": "", "b": "c"}, "finalizers": ["", "x"]},
            "spec": {"containers": [{}, {"name": "a", "resources": {"limits": {"cpu": "0"}}}]},
        });
        assert_eq!(tree, want);
    }
}
