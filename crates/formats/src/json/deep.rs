//! JSON of more than the library's 128 levels, as far as it fits on the stack.

use serde::Deserialize;
use serde_json::{Deserializer, Error};

use crate::depth;

/// Reads one value, and what else stands in the text.
///
/// # Errors
/// Where it is no JSON, does not fit the type, or is nested deeper than fits on the stack.
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

/// A reader that goes down as deep as the text does; [`nesting`] says how deep that is.
pub(super) fn unlimited(text: &str) -> Deserializer<serde_json::de::StrRead<'_>> {
    let mut values = Deserializer::from_str(text);
    values.disable_recursion_limit();
    values
}

/// Whether the library stopped where 128 levels ended.
pub(super) fn is_too_deep(error: &Error) -> bool {
    error.is_syntax() && error.to_string().starts_with("recursion limit exceeded")
}

/// How deep the first value of a text is nested, whatever else is wrong with it.
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
    fn brackets_in_texts_do_not_nest() {
        assert_eq!(nesting(r#"{"a[\"[": [1, {"b": "]"}]} [[[["#), 3);
        assert_eq!(nesting("1"), 0);
    }

    #[test]
    fn case_04_what_fits_is_read() {
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
