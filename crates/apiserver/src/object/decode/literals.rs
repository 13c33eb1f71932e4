//! Prints the result of a patch in JSON: the patch's numbers stay as they are written.

use std::io;

use formats::json;
use serde::Serialize as _;
use serde_json::Value;
use serde_json::ser::{Formatter, Serializer};

/// The text of a value; a float that occurs in `patch` is printed as it is there.
pub(super) fn text(value: &Value, patch: &[u8]) -> String {
    let mut text = Vec::new();
    // Writing to memory does not fail, and keys are texts.
    let _complete = value.serialize(&mut Serializer::with_formatter(&mut text, Literals(patch)));
    String::from_utf8_lossy(&text).into_owned()
}

struct Literals<'a>(&'a [u8]);

impl Formatter for Literals<'_> {
    fn write_f64<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        match json::literal(self.0, value) {
            Some(literal) => writer.write_all(literal.as_bytes()),
            None => writer.write_all(json::text(value).as_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_stay_as_they_are_written() {
        let result = json!({"a": [1.0, 0.5, 9_223_372_036_854_775_808.0], "b": 7, "c": 2.0});
        let patch = br#"{"a": [0.1e1, 5E-1, 9223372036854775808], "b": 7}"#;
        assert_eq!(text(&result, patch), r#"{"a":[0.1e1,5E-1,9223372036854775808],"b":7,"c":2}"#);
    }
}
