//! What an unquoted scalar means: the rules of Go's YAML library, version 2, which Kubernetes and Gardener read with.

use serde_json::{Number, Value};

use crate::json;

/// The value of an unquoted text: null, boolean, number, or the text itself. Dates and `1:30` are texts.
///
/// # Errors
/// The text of infinity or not-a-number, which JSON cannot hold.
pub fn resolve(text: &str) -> Result<Value, String> {
    let value = match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Value::Bool(true)
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Value::Bool(false)
        }
        ".nan" | ".NaN" | ".NAN" | ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" | "-.inf"
        | "-.Inf" | "-.INF" => return Err(text.to_owned()),
        _ => number(text).unwrap_or_else(|| Value::String(text.to_owned())),
    };
    Ok(value)
}

/// Whether an unquoted text is a string: neither null nor boolean nor number.
#[must_use]
pub fn reads_as_string(text: &str) -> bool {
    matches!(resolve(text), Ok(Value::String(_)))
}

fn number(text: &str) -> Option<Value> {
    let first = text.bytes().next()?;
    if !(first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'.')) {
        return None;
    }
    if first == b'.' {
        return float(text);
    }
    let plain = text.replace('_', "");
    integer(&plain).map(Value::Number).or_else(|| float(&plain))
}

/// As Go's `ParseInt` and `ParseUint` with base 0: `0x`, `0o`, `0b` and a leading zero choose the base.
fn integer(text: &str) -> Option<Number> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let prefix = digits.get(..2).map(str::to_ascii_lowercase);
    let (digits, radix) = match prefix.as_deref() {
        Some("0x") => (&digits[2..], 16),
        Some("0o") => (&digits[2..], 8),
        Some("0b") => (&digits[2..], 2),
        _ if digits.len() > 1 && digits.starts_with('0') => (&digits[1..], 8),
        _ => (digits, 10),
    };
    if !digits.bytes().all(|digit| digit.is_ascii_alphanumeric()) {
        return None;
    }
    let size = u64::from_str_radix(digits, radix).ok()?;
    if negative { 0_i64.checked_sub_unsigned(size).map(Number::from) } else { Some(Number::from(size)) }
}

/// `1.5`, `.5`, `1e3`; a float without fraction is a whole number, as Go prints it in JSON.
fn float(text: &str) -> Option<Value> {
    let body = text.strip_prefix(['+', '-']).unwrap_or(text);
    let has_digit_first =
        body.strip_prefix('.').unwrap_or(body).starts_with(|digit: char| digit.is_ascii_digit());
    let allowed = |letter: char| letter.is_ascii_digit() || matches!(letter, '.' | 'e' | 'E' | '+' | '-');
    if !has_digit_first || !body.chars().all(allowed) {
        return None;
    }
    json::number(text.parse().ok()?).map(Value::Number)
}
