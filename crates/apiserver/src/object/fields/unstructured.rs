//! Checks trees against Go types, with the messages of the unstructured converter, which reads the result of a
//! strategic merge patch.

use schema::{Encoding, IntegerWidth, Message, MessageField, Shape, Type};
use serde_json::{Number, Value};

use super::types::{self, ScalarError};

/// Checks a tree against a type; `message` gives the order of the fields.
///
/// # Errors
/// `unrecognized type: int32`, `cannot restore slice from string`
pub(super) fn check(found: &Value, ty: &Type, message: Option<&'static Message>) -> Result<(), String> {
    let check = |found: &Value, ty: &Type| check(found, ty, ty.definition().and_then(Message::named));
    match (found, ty.shape()) {
        (Value::Null, _) | (_, Shape::Any) => Ok(()),
        (Value::Object(fields), Shape::Object) => {
            let mut fields: Vec<(&String, &Value)> = fields.iter().collect();
            if let Some(message) = message {
                let order = field_order(message);
                fields.sort_by_key(|(name, _)| order.iter().position(|other| other == name));
            }
            fields.into_iter().try_for_each(|(name, below)| {
                let field = ty.field(name);
                field.map_or(Ok(()), |field| check(below, &field.ty))
            })
        }
        (found, Shape::Object) => Err(format!("cannot restore struct from: {}", reflect_kind(found))),
        (Value::Object(fields), Shape::Map) => {
            let Some(ty) = ty.values() else { return Ok(()) };
            fields.values().try_for_each(|below| check(below, &ty))
        }
        (found, Shape::Map) => Err(format!("cannot restore map from {}", reflect_kind(found))),
        (Value::Array(items), Shape::List) => {
            let Some(ty) = ty.items() else { return Ok(()) };
            items.iter().try_for_each(|below| check(below, &ty))
        }
        (found, Shape::List) => Err(format!("cannot restore slice from {}", reflect_kind(found))),
        (found, shape) => check_scalar(found, shape, ty),
    }
}

/// Converts the numbers of a tree that [`check`] accepts to the integers of its type: like Go's conversion, this cuts off high
/// bits, and a float that no integer holds becomes the least one.
pub(super) fn convert_integers(found: &mut Value, ty: &Type) {
    match (&mut *found, ty.shape()) {
        (Value::Object(fields), Shape::Object) => {
            for (name, below) in fields {
                if let Some(field) = ty.field(name) {
                    convert_integers(below, &field.ty);
                }
            }
        }
        (Value::Object(fields), Shape::Map) => {
            let Some(ty) = ty.values() else { return };
            fields.values_mut().for_each(|below| convert_integers(below, &ty));
        }
        (Value::Array(items), Shape::List) => {
            let Some(ty) = ty.items() else { return };
            for below in items.iter_mut() {
                convert_integers(below, &ty);
            }
        }
        (Value::Number(number), Shape::IntOrString) if is_whole_int32(number) => {
            *found = to_i64(number.as_f64().unwrap_or_default()).into();
        }
        (Value::Number(number), Shape::Integer(width)) => {
            let whole = number.as_i64().unwrap_or_else(|| to_i64(number.as_f64().unwrap_or_default()));
            *found = match width {
                IntegerWidth::Int32 => cut_off(whole).into(),
                IntegerWidth::Int64 => whole.into(),
            };
        }
        _ => {}
    }
}

fn is_whole_int32(number: &Number) -> bool {
    let bounds = f64::from(i32::MIN)..=f64::from(i32::MAX);
    number.as_f64().is_some_and(|float| float.fract() == 0.0 && bounds.contains(&float))
}

#[expect(clippy::cast_possible_truncation, reason = "this is what the conversion does")]
fn to_i64(float: f64) -> i64 {
    let holds = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&float);
    if holds { float as i64 } else { i64::MIN }
}

#[expect(clippy::cast_possible_truncation, reason = "this is what the conversion does")]
fn cut_off(whole: i64) -> i32 {
    whole as i32
}

/// The names of a struct's fields in Go's order.
fn field_order(message: &'static Message) -> Vec<&'static str> {
    let below = |field: &MessageField| match field.encoding {
        Encoding::Message(name) => Message::named(name),
        _ => None,
    };
    message
        .fields
        .iter()
        .flat_map(|field| match below(field) {
            Some(inlined) if field.name.is_empty() => field_order(inlined),
            _ => vec![field.name],
        })
        .collect()
}

fn check_scalar(found: &Value, shape: Shape, ty: &Type) -> Result<(), String> {
    let unrecognized = |of: &str| Err(format!("unrecognized type: {of}"));
    match (found, shape) {
        (Value::String(_), Shape::String)
        | (Value::Bool(_), Shape::Boolean)
        | (Value::Number(_), Shape::Number) => Ok(()),
        (Value::Number(number), Shape::Integer(_)) if number.as_f64().is_some_and(|n| n.fract() == 0.0) => {
            Ok(())
        }
        // The decoder of this type reads the number as Go prints it: without a fraction that is zero.
        (Value::Number(number), Shape::IntOrString) if is_whole_int32(number) => Ok(()),
        (Value::Number(_), Shape::Integer(width)) => {
            Err(format!("cannot convert float64 to {}", integer_type(width)))
        }
        // Go converts an integer to a string as a character code, so its converter rejects that separately.
        (Value::Number(number), Shape::String) if number.is_i64() => {
            Err("cannot convert int64 to string".to_owned())
        }
        (_, Shape::String) => unrecognized("string"),
        (_, Shape::Boolean) => unrecognized("bool"),
        (_, Shape::Number) => unrecognized("float64"),
        (_, Shape::Integer(width)) => unrecognized(integer_type(width)),
        (Value::String(text), Shape::Bytes) => {
            types::decoded(text).map_err(|why| format!("error decoding from json: {why}"))
        }
        (Value::Array(numbers), Shape::Bytes) => {
            let fits = |number: &Value| number.as_u64().is_some_and(|number| number < 256);
            if numbers.iter().all(fits) { Ok(()) } else { unrecognized("uint8") }
        }
        (found, Shape::Bytes) => Err(format!("cannot restore slice from {}", reflect_kind(found))),
        // These types have their own JSON decoder.
        (found, shape) => types::check_scalar(found, shape).map_err(|why| match why {
            ScalarError::Message(message) => message,
            ScalarError::Type(found) => {
                format!("json: cannot unmarshal {found} into Go value of type {}", types::go_type(ty))
            }
        }),
    }
}

fn integer_type(width: IntegerWidth) -> &'static str {
    match width {
        IntegerWidth::Int32 => "int32",
        IntegerWidth::Int64 => "int64",
    }
}

/// Go's `reflect.Kind` of a JSON value.
fn reflect_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "invalid",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "slice",
        Value::Object(_) => "map",
    }
}

#[cfg(test)]
mod tests {
    use schema::Kinds;
    use serde_json::json;

    use super::*;

    #[test]
    fn type_errors_name_the_kinds_of_go() {
        let deployment = Kinds::kubernetes().type_of("apps", "v1", "Deployment").unwrap();
        let table = [
            (json!({"spec": {"replicas": 2}}), None),
            (json!({"spec": {"replicas": 2.0}}), None),
            (json!({"spec": {"replicas": 1.5}}), Some("cannot convert float64 to int32")),
            (json!({"spec": {"replicas": "3"}}), Some("unrecognized type: int32")),
            (json!({"spec": {"paused": 1}}), Some("unrecognized type: bool")),
            (json!({"spec": []}), Some("cannot restore struct from: slice")),
            (json!({"metadata": {"labels": "text"}}), Some("cannot restore map from string")),
            (json!({"metadata": {"labels": {"a": 1}}}), Some("cannot convert int64 to string")),
            (json!({"metadata": {"labels": {"a": true}}}), Some("unrecognized type: string")),
            (json!({"metadata": {"finalizers": "a"}}), Some("cannot restore slice from string")),
            (json!({"metadata": {"finalizers": {}}}), Some("cannot restore slice from map")),
            (
                json!({"metadata": {"creationTimestamp": 7}}),
                Some("json: cannot unmarshal number into Go value of type string"),
            ),
            (json!({"kind": "Other", "nothing": 1}), None),
        ];
        for (tree, want) in table {
            assert_eq!(check(&tree, &deployment, None).err().as_deref(), want, "{tree}");
        }
    }

    #[test]
    fn case_57_numbers_become_integers_as_in_go() {
        let deployment = Kinds::kubernetes().type_of("apps", "v1", "Deployment").unwrap();
        let table = [
            (json!(3.0), json!(3)),
            (json!(2_147_483_648_i64), json!(-2_147_483_648)),
            (json!(1e20), json!(0)),
            (json!(7), json!(7)),
        ];
        for (sent, want) in table {
            let mut tree = json!({"spec": {"replicas": sent}, "metadata": {"generation": sent}});
            convert_integers(&mut tree, &deployment);
            assert_eq!(tree["spec"]["replicas"], want, "{sent}");
        }
    }

    #[test]
    fn errors_follow_the_field_order_of_go() {
        let secret = Kinds::kubernetes().type_of("", "v1", "Secret").unwrap();
        let tree = json!({"data": {"a": 5}, "metadata": {"labels": {"a": 1.5}}});
        let result = check(&tree, &secret, Message::of_kind("", "v1", "Secret"));
        assert_eq!(result, Err("unrecognized type: string".to_owned()));
    }
}
