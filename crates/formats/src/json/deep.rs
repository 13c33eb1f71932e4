//! JSON with more than the 128 levels of `serde_json`, as far as the stack allows.

use serde::Deserialize;
use serde_json::{Deserializer, Error};

use crate::depth;

/// Reads the only value of a text.
///
/// # Errors
/// If the text is not JSON, does not fit the type, or is nested too deep for the stack.
pub fn read<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, Error> {
    match serde_json::from_str(text) {
        Err(error) if is_too_deep(&error) && depth::fits(nesting(text)) => {
            let mut values = unlimited(text);
            let value = T::deserialize(&mut values)?;
            values.end()?;
            Ok(value)
        }
        read => read,
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
    use serde_json::Value;

    use super::*;

    #[test]
    fn brackets_in_strings_do_not_count() {
        assert_eq!(nesting(r#"{"a[\"[": [1, {"b": "]"}]} [[[["#), 3);
        assert_eq!(nesting("1"), 0);
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
