//! Texts in JSON as Go's encoder writes them: what is special in HTML, and the line breaks of Unicode, are escapes.
//!
//! Source: package encoding/json of Go 1.26 (appendString).

use std::fmt::Write as _;

use serde_json::Value;

/// A text in quotes.
#[must_use]
pub fn quoted(text: &str) -> String {
    html_safe(&Value::from(text).to_string())
}

/// JSON without characters that are special in HTML, which occur only in strings.
#[must_use]
pub fn html_safe(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for letter in json.chars() {
        match letter {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                write!(safe, "\\u{:04x}", u32::from(letter)).expect("writing to memory does not fail");
            }
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_as_go_encodes_them() {
        let table = [
            ("a\"b\\c", r#""a\"b\\c""#),
            ("\u{7f}\u{85}", "\"\u{7f}\u{85}\""),
            ("<&>", r#""\u003c\u0026\u003e""#),
            ("\u{2028}", r#""\u2028""#),
            ("\0\u{7}\u{8}\u{c}\u{b}\n", r#""\u0000\u0007\b\f\u000b\n""#),
            ("\u{ffff}", "\"\u{ffff}\""),
        ];
        for (text, want) in table {
            assert_eq!(quoted(text), want);
        }
    }
}
