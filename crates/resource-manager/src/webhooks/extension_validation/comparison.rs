//! Compares values as Kubernetes does: absent equals empty; quantities and times are compared by value.

use formats::duration::GoDuration;
use serde_json::{Map, Value};

use super::decoding::{bytes, quantity};
use super::shape::Shape;

/// Compares two decoded values; null counts as absent.
pub(super) fn equal(shape: Shape, a: Option<&Value>, b: Option<&Value>) -> bool {
    let (a, b) = (present(a), present(b));
    match shape {
        Shape::Text => text(a) == text(b),
        Shape::Truth => truth(a) == truth(b),
        Shape::Integer32 | Shape::Integer64 => integer(a) == integer(b),
        Shape::Bytes => bytes(a) == bytes(b),
        Shape::Quantity => quantity(a) == quantity(b),
        Shape::Duration => duration(a) == duration(b),
        Shape::Time => time(a) == time(b),
        Shape::IntegerOrText => (text(a), integer(a), is_text(a)) == (text(b), integer(b), is_text(b)),
        Shape::Any => a.filter(|value| !is_empty(value)) == b.filter(|value| !is_empty(value)),
        Shape::Pointer(_, inner) => match (a, b) {
            (None, None) => true,
            (Some(_), Some(_)) => equal(*inner, a, b),
            _ => false,
        },
        Shape::List(_, inner) => {
            let (a, b) = (items(a), items(b));
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(*inner, Some(a), Some(b)))
        }
        Shape::Map(inner) => {
            let (a, b) = (entries(a), entries(b));
            a.is_none_or(Map::is_empty) && b.is_none_or(Map::is_empty)
                || a.zip(b).is_some_and(|(a, b)| {
                    a.len() == b.len()
                        && a.iter().all(|(key, entry)| {
                            b.get(key).is_some_and(|other| equal(*inner, Some(entry), Some(other)))
                        })
                })
        }
        Shape::Struct(fields) => {
            fields.iter().all(|field| equal(field.shape, member(a, field.name), member(b, field.name)))
        }
    }
}

/// The value unless it is null.
pub(super) fn present(value: Option<&Value>) -> Option<&Value> {
    value.filter(|value| !value.is_null())
}

/// A field of an object; absent if null.
pub(super) fn member<'a>(value: Option<&'a Value>, name: &str) -> Option<&'a Value> {
    present(value?.get(name))
}

/// A string, empty if absent.
pub(super) fn text(value: Option<&Value>) -> &str {
    value.and_then(Value::as_str).unwrap_or_default()
}

/// A boolean, false if absent.
pub(super) fn truth(value: Option<&Value>) -> bool {
    value.and_then(Value::as_bool).unwrap_or_default()
}

/// An integer, 0 if absent.
pub(super) fn integer(value: Option<&Value>) -> i64 {
    value.and_then(Value::as_i64).unwrap_or_default()
}

/// A duration, zero if absent.
pub(super) fn duration(value: Option<&Value>) -> GoDuration {
    GoDuration::parse(text(value)).unwrap_or_default()
}

/// The elements of a list, empty if absent.
pub(super) fn items(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The entries of a map.
pub(super) fn entries(value: Option<&Value>) -> Option<&Map<String, Value>> {
    value.and_then(Value::as_object)
}

/// Whether an integer-or-string is a string.
pub(super) fn is_text(value: Option<&Value>) -> bool {
    value.is_some_and(Value::is_string)
}

fn time(value: Option<&Value>) -> Option<i128> {
    formats::time::nanos(text(value))
}

fn is_empty(value: &Value) -> bool {
    value.as_object().is_some_and(Map::is_empty) || value.as_array().is_some_and(Vec::is_empty)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::shape::OPTIONAL_TEXT;
    use super::*;

    #[test]
    fn values_are_compared_as_kubernetes_compares_them() {
        let texts = Shape::List("string", &Shape::Text);
        let quantities = Shape::Map(&Shape::Quantity);
        for (shape, a, b, same) in [
            (Shape::Text, json!(null), json!(""), true),
            (OPTIONAL_TEXT, json!(null), json!(""), false),
            (OPTIONAL_TEXT, json!(null), json!(null), true),
            (texts, json!(null), json!([]), true),
            (texts, json!(["a"]), json!(["b"]), false),
            (texts, json!(["a"]), json!(["a", ""]), false),
            (quantities, json!(null), json!({}), true),
            (quantities, json!({"cpu": "1"}), json!({"cpu": "1000m"}), true),
            (quantities, json!({"cpu": "1"}), json!({"cpu": "1", "gpu": "0"}), false),
            (quantities, json!({"cpu": "1"}), json!({"gpu": "1"}), false),
            (Shape::Duration, json!("60s"), json!("1m"), true),
            (Shape::Time, json!("2026-03-02T08:20:11Z"), json!("2026-03-02T09:20:11+01:00"), true),
            (Shape::IntegerOrText, json!(null), json!(0), true),
            (Shape::IntegerOrText, json!(1), json!("1"), false),
            (Shape::IntegerOrText, json!(0), json!(""), false),
            (Shape::Bytes, json!("Zm9v"), json!("Zm9v\n"), true),
            (Shape::Any, json!({}), json!(null), true),
            (Shape::Any, json!({"a": 1}), json!({"a": 2}), false),
        ] {
            assert_eq!(equal(shape, Some(&a), Some(&b)), same, "{a} {b}");
        }
    }
}
