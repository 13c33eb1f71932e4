//! Checks whether JSON decodes to a Go type; if not, the answer is 400, as in the original.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use formats::duration::GoDuration;
use formats::quantity::Quantity;
use serde_json::Value;
use webhook::rejection::Rejection;

use super::shape::Shape;

/// Checks that `value` and its parts have the JSON types for `shape`; null counts as absent.
///
/// `path` names the value in the message.
///
/// # Errors
/// 400 with the path of the first value that cannot be decoded.
pub(super) fn check(shape: Shape, value: &Value, path: &str) -> Result<(), Rejection> {
    match (shape, value) {
        (_, Value::Null)
        | (Shape::Any, _)
        | (Shape::Text, Value::String(_))
        | (Shape::Truth, Value::Bool(_)) => Ok(()),
        (Shape::Pointer(_, inner), _) => check(*inner, value, path),
        (Shape::List(_, inner), Value::Array(items)) => items
            .iter()
            .enumerate()
            .try_for_each(|(index, item)| check(*inner, item, &format!("{path}[{index}]"))),
        (Shape::Map(inner), Value::Object(entries)) => {
            entries.iter().try_for_each(|(key, entry)| check(*inner, entry, &format!("{path}[{key}]")))
        }
        (Shape::Struct(fields), Value::Object(entries)) => fields.iter().try_for_each(|field| {
            entries
                .get(field.name)
                .map_or(Ok(()), |entry| check(field.shape, entry, &format!("{path}.{}", field.name)))
        }),
        _ if is_scalar(shape, value) => Ok(()),
        _ => Err(Rejection::undecodable(format!("{path}: {value} is not of type {}", name(shape)))),
    }
}

/// The bytes of a base64 string; empty for anything else.
pub(super) fn bytes(value: Option<&Value>) -> Vec<u8> {
    value.and_then(Value::as_str).and_then(decode).unwrap_or_default()
}

/// The quantity in a string or number; 0 for anything else.
pub(super) fn quantity(value: Option<&Value>) -> Quantity {
    value.and_then(parse_quantity).unwrap_or_else(|| Quantity::from_integer(0))
}

fn is_scalar(shape: Shape, value: &Value) -> bool {
    match shape {
        Shape::Integer32 => value.as_i64().is_some_and(|number| i32::try_from(number).is_ok()),
        Shape::Integer64 => value.is_i64(),
        Shape::Bytes => value.as_str().is_some_and(|text| decode(text).is_some()),
        Shape::Quantity => parse_quantity(value).is_some(),
        Shape::Duration => value.as_str().is_some_and(|text| GoDuration::parse(text).is_ok()),
        Shape::Time => value.as_str().is_some_and(|text| formats::time::nanos(text).is_some()),
        Shape::IntegerOrText => {
            value.is_string() || value.as_i64().is_some_and(|number| i32::try_from(number).is_ok())
        }
        _ => false,
    }
}

/// Go's decoder skips line ends.
fn decode(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text.replace(['\r', '\n'], "")).ok()
}

fn parse_quantity(value: &Value) -> Option<Quantity> {
    match value {
        Value::String(text) => Quantity::parse(text.trim()).ok(),
        Value::Number(number) => Quantity::parse(&number.to_string()).ok(),
        _ => None,
    }
}

fn name(shape: Shape) -> &'static str {
    match shape {
        Shape::Text => "string",
        Shape::Truth => "bool",
        Shape::Integer32 => "int32",
        Shape::Integer64 => "int64",
        Shape::Bytes => "base64 text",
        Shape::Quantity => "quantity",
        Shape::Duration => "duration",
        Shape::Time => "time",
        Shape::IntegerOrText => "int32 or string",
        Shape::List(..) => "list",
        Shape::Map(_) | Shape::Struct(_) | Shape::Any | Shape::Pointer(..) => "object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::shape::{OPTIONAL_TEXT, field};
    use super::*;

    const ALL: Shape = Shape::Struct(&[
        field("text", "Text", Shape::Text),
        field("optional", "Optional", OPTIONAL_TEXT),
        field("truth", "Truth", Shape::Truth),
        field("small", "Small", Shape::Integer32),
        field("large", "Large", Shape::Integer64),
        field("bytes", "Bytes", Shape::Bytes),
        field("quantity", "Quantity", Shape::Quantity),
        field("duration", "Duration", Shape::Duration),
        field("time", "Time", Shape::Time),
        field("either", "Either", Shape::IntegerOrText),
        field("list", "List", Shape::List("string", &Shape::Text)),
        field("map", "Map", Shape::Map(&Shape::Text)),
        field("any", "Any", Shape::Any),
    ]);

    #[test]
    fn values_that_go_decodes_are_accepted() {
        for value in [
            json!({}),
            json!({"text": null, "list": null, "map": null, "bytes": null, "other": 5}),
            json!({"text": "a", "optional": "", "truth": true, "small": -5, "large": 5_000_000_000_i64}),
            json!({"bytes": "Zm9v\n", "quantity": 5, "duration": "1h", "time": "2026-03-02T08:20:11Z"}),
            json!({"quantity": " 1.5Gi ", "either": "10%", "list": ["a", null], "map": {"a": null}, "any": [1]}),
            json!({"either": 5}),
        ] {
            assert_eq!(check(ALL, &value, "spec"), Ok(()), "{value}");
        }
    }

    #[test]
    fn the_first_value_of_the_wrong_type_is_named() {
        for (value, message) in [
            (json!([]), "spec: [] is not of type object"),
            (json!({"text": 5}), "spec.text: 5 is not of type string"),
            (json!({"optional": true}), "spec.optional: true is not of type string"),
            (json!({"truth": "yes"}), "spec.truth: \"yes\" is not of type bool"),
            (json!({"small": 5_000_000_000_i64}), "spec.small: 5000000000 is not of type int32"),
            (json!({"large": 1.5}), "spec.large: 1.5 is not of type int64"),
            (json!({"bytes": "?"}), "spec.bytes: \"?\" is not of type base64 text"),
            (json!({"quantity": "many"}), "spec.quantity: \"many\" is not of type quantity"),
            (json!({"duration": "5"}), "spec.duration: \"5\" is not of type duration"),
            (json!({"time": "now"}), "spec.time: \"now\" is not of type time"),
            (json!({"either": 1.5}), "spec.either: 1.5 is not of type int32 or string"),
            (json!({"list": {}}), "spec.list: {} is not of type list"),
            (json!({"list": ["a", 5]}), "spec.list[1]: 5 is not of type string"),
            (json!({"map": {"a": {}}}), "spec.map[a]: {} is not of type string"),
        ] {
            assert_eq!(check(ALL, &value, "spec"), Err(Rejection::undecodable(message)), "{value}");
        }
    }
}
