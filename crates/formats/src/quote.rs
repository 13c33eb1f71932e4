//! Texts in quotes, as messages of Go show them.
//!
//! Source: package strconv of Go 1.26 (Quote).

use std::fmt::Write as _;

/// Quotes a text like Go's `%q`.
#[must_use]
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\x07' => out.push_str("\\a"),
            '\x08' => out.push_str("\\b"),
            '\x0c' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\x0b' => out.push_str("\\v"),
            ' ' => out.push(' '),
            c if c.is_ascii_control() => {
                write!(out, "\\x{:02x}", u32::from(c)).expect("writing to memory does not fail");
            }
            c if c.is_ascii() || is_printable(c) => out.push(c),
            c if u32::from(c) > 0xffff => {
                write!(out, "\\U{:08x}", u32::from(c)).expect("writing to memory does not fail");
            }
            c => write!(out, "\\u{:04x}", u32::from(c)).expect("writing to memory does not fail"),
        }
    }
    out.push('"');
    out
}

/// Whether a character is a letter, mark, number, punctuation or symbol, which is what Go prints as it is.
fn is_printable(character: char) -> bool {
    // After another character, the standard library escapes what has no form of its own, and not marks.
    format!("a{character}").escape_debug().count() == 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_as_go_quotes_them() {
        let table = [
            ("a\"b\\c", r#""a\"b\\c""#),
            ("\n\t\r", r#""\n\t\r""#),
            ("\u{7}\u{8}\u{b}\u{c}", r#""\a\b\v\f""#),
            ("\u{1}\u{7f}", r#""\x01\x7f""#),
            ("\u{85}\u{a0}", r#""\u0085\u00a0""#),
            ("äß€", "\"äß€\""),
        ];
        for (text, quoted) in table {
            assert_eq!(quote(text), quoted);
        }
    }
}
