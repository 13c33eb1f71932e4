//! Values of unquoted scalars by the rules of Go's YAML library, version 2, which Kubernetes and Gardener use.

use serde_json::{Number, Value};

use crate::json;

/// The value of an unquoted text: null, boolean, number, or the text itself. Dates and `1:30` are texts.
///
/// # Errors
/// The text itself if it is infinity or not-a-number, which JSON cannot represent.
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
        return has_valid_underscores(text).then(|| float(&text.replace('_', ""))).flatten();
    }
    let plain = text.replace('_', "");
    integer(&plain).map(Value::Number).or_else(|| float(&plain))
}

/// Whether each underscore is between digits, as Go's `ParseFloat` requires.
fn has_valid_underscores(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    text.match_indices('_').all(|(at, _)| is_digit(at.checked_sub(1)) && is_digit(Some(at + 1)))
}

/// Parses like Go's `ParseInt` and `ParseUint` with base 0: `0x`, `0o`, `0b` and a leading zero select the base.
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

/// Parses `1.5`, `.5`, `1e3`; a float without fraction becomes an integer, as Go prints it in JSON.
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

/// Whether the text of a number has a fraction or an exponent.
pub(super) fn is_float(text: &str) -> bool {
    integer(&text.replace('_', "")).is_none()
}

/// Whether a text is a timestamp: a date, a date and a time separated by `T` with a zone, or separated by a blank without.
pub(super) fn is_timestamp(text: &str) -> bool {
    let Some((year, rest)) = text.split_at_checked(4) else { return false };
    if !year.bytes().all(|digit| digit.is_ascii_digit()) || !rest.starts_with('-') {
        return false;
    }
    let (date, time) = match rest[1..].find(['T', 't', ' ']) {
        Some(at) => (&rest[1..=at], Some((rest.as_bytes()[at + 1], &rest[at + 2..]))),
        None => (&rest[1..], None),
    };
    let day = || {
        let (month, day) = date.split_once('-')?;
        jiff::civil::Date::new(year.parse().ok()?, one_or_two_digits(month)?, one_or_two_digits(day)?).ok()
    };
    let clock = |(separator, time): (u8, &str)| match separator {
        b' ' => is_clock(time),
        _ => time.strip_suffix('Z').is_some_and(is_clock) || has_offset(time),
    };
    day().is_some() && time.is_none_or(clock)
}

/// Parses one or two digits.
fn one_or_two_digits(text: &str) -> Option<i8> {
    let is_valid = (1..=2).contains(&text.len()) && text.bytes().all(|digit| digit.is_ascii_digit());
    if is_valid { text.parse().ok() } else { None }
}

/// Whether a text is a time of day such as `15:4:5.999`; each number has one or two digits.
fn is_clock(text: &str) -> bool {
    let (text, fraction) =
        text.split_once(['.', ',']).map_or((text, None), |(text, rest)| (text, Some(rest)));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    let parts: Vec<Option<i8>> = text.split(':').map(one_or_two_digits).collect();
    let [Some(hour), Some(minute), Some(second)] = parts.as_slice() else { return false };
    *hour < 24 && *minute < 60 && *second < 60 && fraction.is_none_or(digits)
}

fn has_offset(text: &str) -> bool {
    let Some(at) = text.rfind(['+', '-']) else { return false };
    let (clock, offset) = text.split_at(at);
    let parts = offset[1..].split_once(':').filter(|(hours, minutes)| hours.len() == 2 && minutes.len() == 2);
    let numbers = parts.and_then(|(hours, minutes)| one_or_two_digits(hours).zip(one_or_two_digits(minutes)));
    is_clock(clock) && numbers.is_some_and(|(hours, minutes)| hours <= 24 && minutes < 60)
}
