//! Duplicate fields of JSON objects.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};

/// Visits one value of the text.
struct Scan<'a> {
    path: String,
    duplicates: &'a mut Vec<String>,
}

/// The paths of duplicate fields, each once; empty if the text is not JSON.
pub(super) fn of(text: &[u8]) -> Vec<String> {
    let mut duplicates = Vec::new();
    let mut reader = serde_json::Deserializer::from_slice(text);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicate_fields_are_reported_once_with_their_path() {
        let text =
            br#"{"a": 1, "l": [{"b": 1, "b": "x", "b": null}], "m": {"a": {}, "a": true}, "a": [2.5]}"#;
        assert_eq!(of(text), ["l[0].b", "m.a", "a"]);
        assert_eq!(of(br#"{"a": {"b": 1}, "c": {"b": 1}}"#), [] as [&str; 0]);
        assert_eq!(of(b"{"), [] as [&str; 0]);
    }
}
