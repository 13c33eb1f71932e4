//! JSON with the fields of its objects in the order of the text, each as often as it is there.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::{deep, number, surrogates};
use crate::depth;

/// A JSON value whose objects keep the order of their fields, and those that are there twice.
#[derive(Clone, Debug, PartialEq)]
pub enum Ordered {
    /// An object.
    Object(Vec<(String, Self)>),
    /// A list.
    List(Vec<Self>),
    /// A string, a number, a boolean or null.
    Scalar(Value),
}

impl Ordered {
    /// Reads a text that [`super::typed_document`] reads, with the same numbers; `None` for other texts.
    #[must_use]
    pub fn read(text: &[u8]) -> Option<Self> {
        let text = number::within_range(text);
        let text = surrogates::replace_unpaired(String::from_utf8_lossy(&text));
        if !depth::fits(deep::nesting(&text)) {
            return None;
        }
        let text = number::without_signs_of_zero(text);
        Self::deserialize(&mut deep::unlimited(&text)).ok()
    }

    /// The value without order; of equal fields the last counts.
    #[must_use]
    pub fn to_value(&self) -> Value {
        match self {
            Self::Object(fields) => {
                let fields = fields.iter().map(|(name, below)| (name.clone(), below.to_value()));
                Value::Object(fields.collect())
            }
            Self::List(items) => items.iter().map(Self::to_value).collect(),
            Self::Scalar(value) => value.clone(),
        }
    }
}

/// The values of the fields of an object that have one of these names, in the order of the text and each as often as it is there;
/// none if the text is no object. The rest of the text is skipped.
#[must_use]
pub fn occurrences(text: &[u8], names: &[&str]) -> Vec<(String, Value)> {
    let text = surrogates::replace_unpaired(String::from_utf8_lossy(text));
    let mut reader = serde_json::Deserializer::from_str(&text);
    reader.deserialize_map(OccurrenceVisitor(names)).unwrap_or_default()
}

impl From<&Value> for Ordered {
    fn from(value: &Value) -> Self {
        match value {
            Value::Object(fields) => {
                Self::Object(fields.iter().map(|(name, below)| (name.clone(), Self::from(below))).collect())
            }
            Value::Array(items) => Self::List(items.iter().map(Self::from).collect()),
            scalar => Self::Scalar(scalar.clone()),
        }
    }
}

impl<'de> Deserialize<'de> for Ordered {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OrderedVisitor)
    }
}

struct OrderedVisitor;

impl<'de> Visitor<'de> for OrderedVisitor {
    type Value = Ordered;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Ordered, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(Ordered::Object(fields))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Ordered, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Ordered::List(list))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Ordered, E> {
        Ok(Ordered::Scalar(value.into()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Ordered, E> {
        Ok(Ordered::Scalar(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Ordered, E> {
        let mut value = Value::from(value);
        number::limit(&mut value);
        Ok(Ordered::Scalar(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Ordered, E> {
        Ok(Ordered::Scalar(value.into()))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Ordered, E> {
        Ok(Ordered::Scalar(value.into()))
    }

    fn visit_unit<E: Error>(self) -> Result<Ordered, E> {
        Ok(Ordered::Scalar(Value::Null))
    }
}

struct OccurrenceVisitor<'a>(&'a [&'a str]);

impl<'de> Visitor<'de> for OccurrenceVisitor<'_> {
    type Value = Vec<(String, Value)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<(String, Value)>, A::Error> {
        let mut found = Vec::new();
        while let Some(name) = map.next_key::<String>()? {
            if self.0.contains(&name.as_str()) {
                found.push((name, map.next_value()?));
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn case_59_fields_keep_their_order_and_their_duplicates() {
        let scalar = |value: Value| Ordered::Scalar(value);
        let field = |name: &str, value: Ordered| (name.to_owned(), value);
        let read = Ordered::read(br#"{"b": [1, null], "a": {"c": "x", "c": true}, "b": 0.5}"#);
        let twice = Ordered::Object(vec![field("c", scalar(json!("x"))), field("c", scalar(json!(true)))]);
        let list = Ordered::List(vec![scalar(json!(1)), scalar(Value::Null)]);
        let want = Ordered::Object(vec![field("b", list), field("a", twice), field("b", scalar(json!(0.5)))]);
        assert_eq!(read.as_ref(), Some(&want));
        assert_eq!(want.to_value(), json!({"a": {"c": true}, "b": 0.5}));
        let value = json!({"a": [{"b": 1}], "c": null});
        assert_eq!(Ordered::from(&value).to_value(), value);
        assert_eq!(Ordered::read(b"{"), None);
    }

    #[test]
    fn case_59_fields_are_found_by_their_names() {
        let found = |text: &str| occurrences(text.as_bytes(), &["a", "b"]);
        let field = |name: &str, value: Value| (name.to_owned(), value);
        let text = r#"{"b": 1, "c": {"a": [1e400, "\ud83d"]}, "a": null, "b": "x"}"#;
        assert_eq!(found(text), [field("b", json!(1)), field("a", Value::Null), field("b", json!("x"))]);
        for text in ["[]", "1", "", r#"{"a": 1"#] {
            assert!(found(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn case_57_numbers_are_those_of_a_typed_document() {
        for text in ["-0", "-0.0", "9223372036854775807", "9223372036854775808", "1e400", "-1e400", "80.0"] {
            let read = Ordered::read(text.as_bytes()).map(|read| read.to_value());
            assert_eq!(read, super::super::typed_document(text.as_bytes()).ok(), "{text}");
        }
        assert_eq!(Ordered::read(br#""cut \ud83d""#), Some(Ordered::Scalar("cut \u{fffd}".into())));
    }
}
