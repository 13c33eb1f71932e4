//! JSON with more than the 128 levels of `serde_json`, as far as the stack allows.

use serde::de::DeserializeOwned;
use serde_json::{Deserializer, Error, Value};

use crate::depth;

/// Reads the only value of a text. Tries `serde_json` first, which is faster and accepts what programs write; what it refuses is
/// read as [`super::document`] reads it.
///
/// # Errors
/// If the text is not JSON, does not fit the type, or is nested too deep for the stack.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    match serde_json::from_str(text) {
        Ok(value) => Ok(value),
        Err(_) => T::deserialize(super::document(text.as_bytes())?).map_err(|error| error.to_string()),
    }
}

/// Reads the only value of a text as `serde_json` does, but as deep as the stack allows, and at most as deep as Go.
///
/// # Errors
/// If the text is not JSON, does not fit the type, or is nested too deep.
pub fn exact<T: DeserializeOwned>(text: &[u8]) -> Result<T, Error> {
    let limit = match serde_json::from_slice(text) {
        Err(error) if is_too_deep(&error) => error,
        read => return read,
    };
    let Some(text) = std::str::from_utf8(text).ok().filter(|text| depth::fits(nesting(text))) else {
        return Err(limit);
    };
    let mut values = unlimited(text);
    let value = T::deserialize(&mut values)?;
    values.end().map(|()| value)
}

/// Reads a type from the only value of a text as Go reads a struct: a field that is null is absent, and of equal fields the last
/// counts.
///
/// # Errors
/// If the text is not JSON, or does not fit the type.
pub fn typed<T: DeserializeOwned>(text: &[u8]) -> Result<T, String> {
    let mut value = super::document(text)?;
    remove_nulls(&mut value);
    T::deserialize(value).map_err(|error| error.to_string())
}

fn remove_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, field| !field.is_null());
            fields.values_mut().for_each(remove_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_nulls),
        _ => {}
    }
}

/// A deserializer without a recursion limit; check [`nesting`] first.
pub(super) fn unlimited(text: &str) -> Deserializer<serde_json::de::StrRead<'_>> {
    let mut values = Deserializer::from_str(text);
    values.disable_recursion_limit();
    values
}

/// Whether `serde_json` stopped at its limit of 128 levels.
pub(super) fn is_too_deep(error: &Error) -> bool {
    error.is_syntax() && error.to_string().starts_with("recursion limit exceeded")
}

/// The nesting depth of the first value of a text, valid or not.
pub(super) fn nesting(text: &str) -> usize {
    let (mut depth, mut deepest, mut quoted, mut escaped) = (0_usize, 0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'[' | b'{' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    break;
                }
            }
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_in_strings_do_not_count() {
        assert_eq!(nesting(r#"{"a[\"[": [1, {"b": "]"}]} [[[["#), 3);
        assert_eq!(nesting("1"), 0);
    }

    #[test]
    fn case_59_fields_may_be_null_or_there_twice() {
        let read = |text: &str| typed::<std::collections::BTreeMap<String, bool>>(text.as_bytes());
        assert_eq!(read(r#"{"a": true, "b": null, "a": false}"#), Ok([("a".to_owned(), false)].into()));
        assert!(read(r#"{"a": 1}"#).is_err_and(|why| why.starts_with("invalid type: integer `1`")));
        assert_eq!(super::read::<Value>(r#""cut \ud83d""#), Ok("cut \u{fffd}".into()));
    }

    #[test]
    fn deep_values_are_read_exactly() {
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        let read = |text: &str| exact::<Value>(text.as_bytes());
        assert_eq!(read(&nested(300)).unwrap().to_string(), nested(300));
        assert!(read(&format!("{} x", nested(300))).is_err());
        assert!(read(&nested(10_001)).is_err_and(|error| is_too_deep(&error)));
        assert!(read(r#""cut \ud83d""#).is_err());
    }

    #[test]
    fn case_04_nested_values_are_read_if_the_stack_allows() {
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert!(read::<Value>(&nested(150)).is_ok());
        assert!(read::<Value>(&format!("{} x", nested(150))).is_err());
        let deep = std::thread::Builder::new()
            .stack_size(128 << 20)
            .spawn(move || (read::<Value>(&nested(10_000)).is_ok(), read::<Value>(&nested(10_001)).is_ok()));
        assert_eq!(deep.unwrap().join().unwrap(), (true, false));
        let small = std::thread::Builder::new()
            .stack_size(256 << 10)
            .spawn(move || read::<Value>(&nested(9_000)).is_ok());
        assert!(!small.unwrap().join().unwrap());
    }
}
