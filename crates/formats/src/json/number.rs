//! Numbers as Go reads and prints them: a number without a point that fits 64 bits with a sign is an integer, every other one a
//! float, which Go prints with the fewest digits that are read as the same float.
//!
//! Source: sigs.k8s.io/json (convertNumber), package encoding/json of Go 1.26 (floatEncoder).

use std::borrow::Cow;
use std::io;

use serde::Serialize;
use serde_json::ser::Formatter;
use serde_json::{Number, Value};

/// Go prints larger and smaller floats with an exponent.
const PLAIN: std::ops::Range<f64> = 1e-6..1e21;

/// What Go reads after it has printed a float: an integer if the text has no fraction and fits 64 bits with a sign. `None` for
/// infinity and NaN.
#[must_use]
pub fn number(float: f64) -> Option<Number> {
    let is_whole = float.fract() == 0.0 && float.abs() < 1e19;
    let integer = if is_whole { format!("{float}").parse::<i64>().ok() } else { None };
    integer.map_or_else(|| Number::from_f64(float), |integer| Some(integer.into()))
}

/// Replaces floats, and unsigned integers that do not fit 64 bits with a sign, by what Go reads after it has printed them, as a
/// custom resource is read from storage.
pub fn reread(value: &mut Value) {
    each(value, &|old| old.as_f64().filter(|_| !old.is_i64()).and_then(number));
}

/// Replaces unsigned integers that do not fit 64 bits with a sign by floats.
pub(super) fn limit(value: &mut Value) {
    each(value, &|old| {
        let float = old.as_f64().filter(|_| old.is_u64() && old.as_i64().is_none());
        float.and_then(Number::from_f64)
    });
}

/// The text with a blank for the sign of each integer zero: `serde_json` makes a float of `-0`, Go an integer, as `0.0` has a
/// point and `-0` has none.
pub(super) fn without_signs_of_zero(json: Cow<'_, str>) -> Cow<'_, str> {
    if !json.contains("-0") {
        return json;
    }
    let start = |literal: &str| literal.as_ptr() as usize - json.as_ptr() as usize;
    let zeros: Vec<usize> = numbers(json.as_bytes()).filter(|literal| *literal == "-0").map(start).collect();
    if zeros.is_empty() {
        return json;
    }
    let mut text = json.into_owned();
    for at in zeros {
        text.replace_range(at..=at, " ");
    }
    Cow::Owned(text)
}

fn each(value: &mut Value, replacement: &dyn Fn(&Number) -> Option<Number>) {
    match value {
        Value::Number(old) => {
            if let Some(new) = replacement(old) {
                *old = new;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| each(item, replacement)),
        Value::Object(fields) => fields.values_mut().for_each(|field| each(field, replacement)),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// Prints a value as JSON with Go's numbers.
///
/// # Errors
/// If the value cannot be serialized: a map whose keys are not texts.
pub fn to_vec(value: &impl Serialize) -> Result<Vec<u8>, serde_json::Error> {
    let mut text = Vec::with_capacity(256);
    append(&mut text, value)?;
    Ok(text)
}

/// Appends a value as [`to_vec`] prints it.
///
/// # Errors
/// As [`to_vec`].
pub fn append(text: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) -> Result<(), serde_json::Error> {
    value.serialize(&mut serde_json::Serializer::with_formatter(text, GoNumbers))
}

struct GoNumbers;

impl Formatter for GoNumbers {
    fn write_f64<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        writer.write_all(text(value).as_bytes())
    }
}

/// The text of a finite float.
#[must_use]
pub fn text(float: f64) -> String {
    if float == 0.0 || PLAIN.contains(&float.abs()) {
        return format!("{float}");
    }
    let text = format!("{float:e}");
    match text.split_once('e') {
        Some((digits, exponent)) if !exponent.starts_with('-') => format!("{digits}e+{exponent}"),
        _ => text,
    }
}

/// A finite float as Go prints it in messages (`%v`): with an exponent below 0.0001 and from 1e+06.
#[must_use]
pub fn display(float: f64) -> String {
    let scientific = format!("{float:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if float == 0.0 || (-4..6).contains(&exponent) {
        return format!("{float}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

/// The first number of a JSON text that is written with a point or an exponent, or is too large for an integer, and has this
/// value, as it is written.
#[must_use]
pub fn literal(json: &[u8], float: f64) -> Option<&str> {
    numbers(json).find(|text| {
        let value = text.parse().map(|value: f64| value.clamp(f64::MIN, f64::MAX));
        value.is_ok_and(|value| value.total_cmp(&float).is_eq()) && text.parse::<i64>().is_err()
    })
}

/// The first number of a JSON text that no float can hold.
pub(super) fn out_of_range(json: &[u8]) -> Option<&str> {
    numbers(json).find(|text| text.parse().is_ok_and(f64::is_infinite))
}

/// The text with the largest floats for numbers that no float can hold.
pub(super) fn within_range(json: &[u8]) -> Vec<u8> {
    let mut text = json.to_vec();
    let start = |literal: &str| literal.as_ptr() as usize - json.as_ptr() as usize;
    let found: Vec<(usize, &str)> = numbers(json).map(|literal| (start(literal), literal)).collect();
    for (start, literal) in found.into_iter().rev() {
        if let Some(infinite) = literal.parse().ok().filter(|float: &f64| float.is_infinite()) {
            let largest = format!("{:e}", infinite.clamp(f64::MIN, f64::MAX));
            drop(text.splice(start..start + literal.len(), largest.into_bytes()));
        }
    }
    text
}

/// All texts outside of strings that look like numbers.
fn numbers(json: &[u8]) -> impl Iterator<Item = &str> {
    let (mut at, mut quoted) = (0, false);
    std::iter::from_fn(move || {
        while let Some(byte) = json.get(at) {
            match byte {
                b'\\' if quoted => at += 1,
                b'"' => quoted = !quoted,
                b'-' | b'0'..=b'9' if !quoted => {
                    let belongs = |byte: &&u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
                    let length = json[at..].iter().take_while(belongs).count();
                    at += length;
                    return str::from_utf8(&json[at - length..at]).ok();
                }
                _ => {}
            }
            at += 1;
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn case_57_floats_are_printed_as_go_prints_them() {
        let table = [
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (1.5e300, "1.5e+300"),
            (1e-6, "0.000001"),
            (1e-7, "1e-7"),
            (1.25e-10, "1.25e-10"),
            (5e-324, "5e-324"),
            (-0.0, "-0"),
            (80.0, "80"),
            (123_456_789.123_456_79, "123456789.12345679"),
            (12_345_678_901_234_567_890.0, "12345678901234567000"),
        ];
        for (float, want) in table {
            assert_eq!(
                String::from_utf8(to_vec(&json!({"a": [float]})).unwrap()).unwrap(),
                format!("{{\"a\":[{want}]}}")
            );
        }
    }

    #[test]
    fn case_57_floats_are_shown_as_go_shows_them() {
        let table = [
            (1.0, "1"),
            (1e5, "100000"),
            (1e6, "1e+06"),
            (123_456_789.0, "1.23456789e+08"),
            (1e300, "1e+300"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (-1.5e-7, "-1.5e-07"),
            (1_234_567.5, "1.2345675e+06"),
        ];
        for (float, want) in table {
            assert_eq!(display(float), want);
        }
    }

    #[test]
    fn a_whole_float_is_an_integer_after_it_was_printed() {
        let table = [
            (2.0, json!(2)),
            (1e16, json!(10_000_000_000_000_000_i64)),
            (1_234_567_890_123_456_789.0, json!(1_234_567_890_123_456_800_i64)),
            (1e19, json!(1e19)),
            (0.5, json!(0.5)),
            (-9_223_372_036_854_775_808.0, json!(-9_223_372_036_854_775_808.0)),
        ];
        for (float, want) in table {
            assert_eq!(number(float).map(Value::Number), Some(want), "{float}");
        }
        assert_eq!(number(f64::NAN), None);
    }

    #[test]
    fn case_57_an_integer_without_a_sign_is_a_float_if_it_needs_all_64_bits() {
        let mut value =
            json!({"a": [9_223_372_036_854_775_807_u64, 9_223_372_036_854_775_808_u64, u64::MAX]});
        reread(&mut value);
        let largest = 18_446_744_073_709_551_616.0;
        assert_eq!(value, json!({"a": [i64::MAX, 9_223_372_036_854_775_808.0, largest]}));
    }

    #[test]
    fn literals_are_found_outside_of_strings() {
        let text = br#"{"8e1": "80.0", "a": [80, 8e1, 80.0], "b": 1E400}"#;
        assert_eq!(literal(text, 80.0), Some("8e1"));
        assert_eq!(literal(text, 81.0), None);
        assert_eq!(out_of_range(text), Some("1E400"));
    }
}
