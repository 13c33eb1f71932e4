//! Duplicate fields of JSON objects: their paths, and what remains of them.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::{deep, number, surrogates};
use crate::depth;

/// Visits one value of the text.
struct Scan<'a> {
    path: String,
    duplicates: &'a mut Vec<String>,
}

/// The paths of duplicate fields (`spec.ports[0].port`), each once; empty if the text is not JSON.
#[must_use]
pub fn paths(text: &[u8]) -> Vec<String> {
    let mut duplicates = Vec::new();
    let text = surrogates::replace_unpaired(String::from_utf8_lossy(text));
    if !depth::fits(deep::nesting(&text)) {
        return duplicates;
    }
    let mut reader = deep::unlimited(&text);
    let scan = Scan { path: String::new(), duplicates: &mut duplicates };
    // Text that is not JSON was rejected before.
    let _ignored = scan.deserialize(&mut reader);
    duplicates
}

impl<'de> DeserializeSeed<'de> for Scan<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Scan<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen = BTreeSet::new();
        let mut reported = BTreeSet::new();
        while let Some(name) = map.next_key::<String>()? {
            let path = if self.path.is_empty() { name.clone() } else { format!("{}.{name}", self.path) };
            if !seen.insert(name.clone()) && reported.insert(name) {
                self.duplicates.push(path.clone());
            }
            map.next_value_seed(Scan { path, duplicates: self.duplicates })?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let mut index = 0_usize;
        while items
            .next_element_seed(Scan { path: format!("{}[{index}]", self.path), duplicates: self.duplicates })?
            .is_some()
        {
            index += 1;
        }
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }
}

/// Decides what an object has of two values of one field, given the names of the fields on the way to it; elements of lists have
/// no name.
pub type Merge<'a> = dyn Fn(&[String], Value, Value) -> Value + 'a;

/// Reads a text that [`super::document`] has read, with a decision about duplicate fields.
#[must_use]
pub fn merged(text: &[u8], merge: &Merge<'_>) -> Option<Value> {
    let text = surrogates::replace_unpaired(String::from_utf8_lossy(text));
    if !depth::fits(deep::nesting(&text)) {
        return None;
    }
    let text = number::without_signs_of_zero(text);
    let mut value = Merging { path: &mut Vec::new(), merge }.deserialize(&mut deep::unlimited(&text)).ok()?;
    number::limit(&mut value);
    Some(value)
}

struct Merging<'a, 'm> {
    path: &'a mut Vec<String>,
    merge: &'a Merge<'m>,
}

impl<'de> DeserializeSeed<'de> for Merging<'_, '_> {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Merging<'_, '_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut fields = serde_json::Map::new();
        while let Some(name) = map.next_key::<String>()? {
            self.path.push(name.clone());
            let new = map.next_value_seed(Merging { path: &mut *self.path, merge: self.merge })?;
            let value = match fields.remove(&name) {
                Some(old) => (self.merge)(self.path, old, new),
                None => new,
            };
            fields.insert(name, value);
            self.path.pop();
        }
        Ok(fields.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) =
            items.next_element_seed(Merging { path: &mut *self.path, merge: self.merge })?
        {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicate_fields_are_reported_once_with_their_path() {
        let text =
            br#"{"a": 1, "l": [{"b": 1, "b": "x", "b": null}], "m": {"a": {}, "a": true}, "a": [2.5]}"#;
        assert_eq!(paths(text), ["l[0].b", "m.a", "a"]);
        assert_eq!(paths(br#"{"a": {"b": 1}, "c": {"b": 1}}"#), [] as [&str; 0]);
        assert_eq!(paths(b"{"), [] as [&str; 0]);
    }

    #[test]
    fn case_59_fields_that_are_there_twice_can_be_merged() {
        let keep_first = |path: &[String], old: Value, _: Value| format!("{}={old}", path.join(".")).into();
        let text = br#"{"a": [{"b": 1, "b": 2}], "c": {"d": "x", "d": null}, "e": 1.0}"#;
        let want = serde_json::json!({"a": [{"b": "a.b=1"}], "c": {"d": "c.d=\"x\""}, "e": 1.0});
        assert_eq!(merged(text, &keep_first), Some(want));
        assert_eq!(merged(br#"{"a": -0}"#, &keep_first), Some(serde_json::json!({"a": 0})));
    }
}
