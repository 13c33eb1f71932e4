//! Converts keys of maps to text.

use serde_json::{Number, Value};

/// The text of a key that is not a float; `None` if `sigs.k8s.io/yaml` rejects it.
pub(super) fn text(key: &Value) -> Option<String> {
    match key {
        Value::String(text) => Some(text.clone()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Number(number) => self::number(number),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The key for the text of an infinity or NaN.
pub(super) fn infinite(text: &str) -> String {
    let text = text.to_ascii_lowercase();
    text.strip_prefix('+').map(str::to_owned).unwrap_or(text)
}

/// The same as Go shows it in messages.
pub(super) fn shown_infinite(text: &str) -> &'static str {
    match text.to_ascii_lowercase().as_str() {
        ".nan" => "NaN",
        text if text.starts_with('-') => "-Inf",
        _ => "+Inf",
    }
}

fn number(number: &Number) -> Option<String> {
    if let Some(whole) = number.as_i64() {
        return Some(whole.to_string());
    }
    if number.is_u64() { None } else { number.as_f64().map(float) }
}

/// Go's `FormatFloat(float, 'g', -1, 32)`: the shortest text of the nearest float of 32 bits.
#[expect(clippy::cast_possible_truncation, reason = "Go rounds it in the same way")]
pub(super) fn float(float: f64) -> String {
    let float = float as f32;
    if float.is_infinite() {
        return infinite(if float > 0.0 { ".inf" } else { "-.inf" });
    }
    let text = format!("{float:e}");
    let Some((digits, exponent)) = text.split_once('e') else { return text };
    match exponent.parse::<i32>() {
        Ok(exponent) if !(-4..6).contains(&exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.abs())
        }
        _ => float.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_written_as_go_writes_them() {
        let table = [
            (1.5, "1.5"),
            (0.1, "0.1"),
            (-0.0, "-0"),
            (1e20, "1e+20"),
            (123_456_789.5, "1.2345679e+08"),
            (0.000_01, "1e-05"),
            (0.000_1, "0.0001"),
            (1e300, ".inf"),
        ];
        for (value, want) in table {
            assert_eq!(float(value), want);
        }
    }
}
