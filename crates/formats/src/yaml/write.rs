//! Writes YAML that parsers of YAML 1.1 and 1.2 read as the same value.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::Value;

use super::reads_as_string;

/// Writes one document in block style, keys in order, ending with a line break.
///
/// # Errors
/// If the value has no JSON form, such as a map with keys that are not strings.
pub fn to_string<T: Serialize + ?Sized>(value: &T) -> Result<String, serde_json::Error> {
    let value = serde_json::to_value(value)?;
    let mut text = String::new();
    match &value {
        Value::Object(map) if !map.is_empty() => write_block(&mut text, &value, 0, false),
        Value::Array(items) if !items.is_empty() => write_block(&mut text, &value, 0, false),
        scalar => write_inline(&mut text, scalar, 0),
    }
    Ok(text)
}

/// Writes a non-empty map or list; `open` means that the line has already begun (after `- `).
fn write_block(text: &mut String, value: &Value, indent: usize, mut open: bool) {
    let mut begin = |text: &mut String| {
        if !std::mem::take(&mut open) {
            text.extend(std::iter::repeat_n(' ', indent));
        }
    };
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                begin(text);
                let _ = write!(text, "{}:", plain_or_quoted(key));
                write_child(text, value, indent);
            }
        }
        Value::Array(items) => {
            for item in items {
                begin(text);
                text.push('-');
                if is_filled_collection(item) {
                    text.push(' ');
                    write_block(text, item, indent + 2, true);
                } else {
                    text.push(' ');
                    write_inline(text, item, indent);
                }
            }
        }
        _ => {}
    }
}

/// Writes the value of a key: on the same line, or below it. A list has the key's own indentation, as in Kubernetes.
fn write_child(text: &mut String, value: &Value, indent: usize) {
    if is_filled_collection(value) {
        text.push('\n');
        write_block(text, value, if value.is_array() { indent } else { indent + 2 }, false);
    } else {
        text.push(' ');
        write_inline(text, value, indent);
    }
}

fn write_inline(text: &mut String, value: &Value, indent: usize) {
    match value {
        Value::String(string) if is_block(string) => write_literal(text, string, indent + 2),
        Value::String(value) => {
            let _ = writeln!(text, "{}", plain_or_quoted(value));
        }
        other => {
            let _ = writeln!(text, "{other}");
        }
    }
}

fn write_literal(text: &mut String, string: &str, indent: usize) {
    text.push_str(if string.ends_with('\n') { "|\n" } else { "|-\n" });
    for line in string.lines() {
        if !line.is_empty() {
            text.extend(std::iter::repeat_n(' ', indent));
            text.push_str(line);
        }
        text.push('\n');
    }
}

fn is_filled_collection(value: &Value) -> bool {
    match value {
        Value::Object(map) => !map.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => false,
    }
}

/// Whether a text fits a literal block: several printable lines without blanks that a block would lose or misread.
fn is_block(string: &str) -> bool {
    let body = string.strip_suffix('\n').unwrap_or(string);
    let printable = |letter: char| letter == '\n' || letter == '\t' || !is_special(letter);
    body.contains('\n')
        && !body.starts_with([' ', '\n', '\t'])
        && !body.ends_with('\n')
        && string.chars().all(printable)
        && string.lines().all(|line| !line.ends_with([' ', '\t']) && !line.starts_with('\t'))
}

/// Whether a character is a control character, or a line break that only YAML 1.1 knows.
fn is_special(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}')
}

fn plain_or_quoted(text: &str) -> String {
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

/// Whether a text looks like a date, a base-60 number or similar: a string to Go, but not to other parsers.
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
