//! Values as Go prints them with `%v`, where the output is readable.

use serde_json::{Map, Value};

use super::comparison::{duration, entries, integer, is_text, items, member, text, truth};
use super::decoding::{bytes, quantity};
use super::shape::Shape;

/// The text for a set pointer compared with nil: its type, or its value if the type has no name.
pub(super) fn pointee(name: &str, inner: Shape, value: &Value) -> String {
    if name.is_empty() { printed(inner, Some(value)) } else { name.to_owned() }
}

/// A value as Go's `%v` prints it.
pub(super) fn printed(shape: Shape, value: Option<&Value>) -> String {
    let joined = |texts: Vec<String>| texts.join(" ");
    match shape {
        Shape::Text | Shape::Time => text(value).to_owned(),
        Shape::Truth => truth(value).to_string(),
        Shape::Bytes => format!("<{} bytes>", bytes(value).len()),
        Shape::Quantity => quantity(value).to_string(),
        Shape::Duration => duration(value).to_string(),
        Shape::IntegerOrText if is_text(value) => text(value).to_owned(),
        Shape::Integer32 | Shape::Integer64 | Shape::IntegerOrText => integer(value).to_string(),
        Shape::Any => value.map_or_else(|| "<nil>".to_owned(), Value::to_string),
        Shape::Pointer(_, inner) => {
            value.map_or_else(|| "<nil>".to_owned(), |value| printed(*inner, Some(value)))
        }
        Shape::List(_, inner) => {
            format!("[{}]", joined(items(value).iter().map(|item| printed(*inner, Some(item))).collect()))
        }
        Shape::Map(inner) => {
            let entries = entries(value).into_iter().flat_map(Map::iter);
            format!(
                "map[{}]",
                joined(
                    entries.map(|(key, entry)| format!("{key}:{}", printed(*inner, Some(entry)))).collect()
                )
            )
        }
        Shape::Struct(fields) => {
            format!(
                "{{{}}}",
                joined(fields.iter().map(|field| printed(field.shape, member(value, field.name))).collect())
            )
        }
    }
}
