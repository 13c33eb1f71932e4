//! Values as YAML that every reader, 1.1 or 1.2, takes for the same value.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::Value;

use super::reads_as_string;

/// The value as one block-style document, keys in order, ending with a line break.
///
/// # Errors
/// Where the value cannot be told as JSON: a map with keys that are no strings.
pub fn to_string<T: Serialize + ?Sized>(value: &T) -> Result<String, serde_json::Error> {
    let value = serde_json::to_value(value)?;
    let mut text = String::new();
    match &value {
        Value::Object(map) if !map.is_empty() => block(&mut text, &value, 0, false),
        Value::Array(items) if !items.is_empty() => block(&mut text, &value, 0, false),
        scalar => inline(&mut text, scalar, 0),
    }
    Ok(text)
}

/// A map or list that is not empty; `open` says that the line has begun already (after `- `).
fn block(text: &mut String, value: &Value, indent: usize, mut open: bool) {
    let mut begin = |text: &mut String| {
        if !std::mem::take(&mut open) {
            text.extend(std::iter::repeat_n(' ', indent));
        }
    };
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                begin(text);
                let _ = write!(text, "{}:", string(key));
                child(text, value, indent);
            }
        }
        Value::Array(items) => {
            for item in items {
                begin(text);
                text.push('-');
                if filled(item) {
                    text.push(' ');
                    block(text, item, indent + 2, true);
                } else {
                    text.push(' ');
                    inline(text, item, indent);
                }
            }
        }
        _ => {}
    }
}

/// What follows a key: below it, a list at the key's own indentation as Kubernetes writes it, or behind it.
fn child(text: &mut String, value: &Value, indent: usize) {
    if filled(value) {
        text.push('\n');
        block(text, value, if value.is_array() { indent } else { indent + 2 }, false);
    } else {
        text.push(' ');
        inline(text, value, indent);
    }
}

fn inline(text: &mut String, value: &Value, indent: usize) {
    match value {
        Value::String(string) if is_block(string) => literal(text, string, indent + 2),
        Value::String(value) => {
            let _ = writeln!(text, "{}", string(value));
        }
        other => {
            let _ = writeln!(text, "{other}");
        }
    }
}

fn literal(text: &mut String, string: &str, indent: usize) {
    text.push_str(if string.ends_with('\n') { "|\n" } else { "|-\n" });
    for line in string.lines() {
        if !line.is_empty() {
            text.extend(std::iter::repeat_n(' ', indent));
            text.push_str(line);
        }
        text.push('\n');
    }
}

fn filled(value: &Value) -> bool {
    match value {
        Value::Object(map) => !map.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => false,
    }
}

/// Several lines of printable text without the blanks that a block would lose or misread.
fn is_block(string: &str) -> bool {
    let body = string.strip_suffix('\n').unwrap_or(string);
    let printable = |letter: char| letter == '\n' || letter == '\t' || !is_special(letter);
    body.contains('\n')
        && !body.starts_with([' ', '\n', '\t'])
        && !body.ends_with('\n')
        && string.chars().all(printable)
        && string.lines().all(|line| !line.ends_with([' ', '\t']) && !line.starts_with('\t'))
}

/// Control characters, and the line breaks that only YAML 1.1 knows.
fn is_special(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}')
}

fn string(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { quoted(text) }
}

fn is_plain(text: &str) -> bool {
    let safe = |letter: char| letter.is_ascii_alphanumeric() || "/._-+@%$()~;=^ <>:,#".contains(letter);
    let first = text.starts_with(|letter: char| {
        letter.is_ascii_alphanumeric() || matches!(letter, '/' | '_' | '(' | '$')
    });
    first
        && !text.ends_with([' ', ':'])
        && text.chars().all(safe)
        && !text.contains(": ")
        && !text.contains(" #")
        && reads_as_string(text)
        && !looks_numeric(text)
}

/// Dates, base-60 numbers and the like: strings to Go, something else to other readers.
fn looks_numeric(text: &str) -> bool {
    text.starts_with(|letter: char| letter.is_ascii_digit())
        && text.chars().all(|letter| letter.is_ascii_hexdigit() || ".:-_+TZxo ".contains(letter))
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            letter if is_special(letter) => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(letter));
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}
