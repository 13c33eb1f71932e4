//! How messages of Go show values.

use serde_json::{Number, Value};

/// A value as Go's `%v` prints it.
pub(crate) fn go_text(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => format!("[{}]", items.iter().map(go_text).collect::<Vec<_>>().join(" ")),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, value)| format!("{key}:{}", go_text(value)));
            format!("map[{}]", fields.collect::<Vec<_>>().join(" "))
        }
        Value::Number(number) => shown_number(number),
        Value::Bool(flag) => flag.to_string(),
    }
}

/// A number as Go prints it in messages.
pub(crate) fn shown_number(number: &Number) -> String {
    match number.as_f64().filter(|_| number.is_f64()) {
        Some(float) => formats::json::display(float),
        None => number.to_string(),
    }
}
