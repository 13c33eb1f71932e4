//! Formats values as cells.

use serde_json::Value;

/// The text of an empty cell.
pub(super) const NONE: &str = "<none>";

/// A label selector, as kubectl prints it.
pub(super) fn selector(selector: &Value) -> String {
    let mut terms: Vec<String> = vec![labels(&selector["matchLabels"])];
    for expression in list(&selector["matchExpressions"]) {
        let (key, values) = (text(&expression["key"]), list(&expression["values"]));
        let values: Vec<&str> = values.iter().map(text).collect();
        terms.push(match text(&expression["operator"]) {
            "In" => format!("{key} in ({})", values.join(",")),
            "NotIn" => format!("{key} notin ({})", values.join(",")),
            "DoesNotExist" => format!("!{key}"),
            _ => key.to_owned(),
        });
    }
    terms.retain(|term| !term.is_empty());
    or_none(terms.join(","))
}

/// Labels as `key=value`, with commas between.
pub(super) fn labels(map: &Value) -> String {
    let entries = map.as_object().into_iter().flatten();
    entries.map(|(key, value)| format!("{key}={}", text(value))).collect::<Vec<_>>().join(",")
}

/// Two fields joined by a slash; empty if there is no object.
pub(super) fn joined(object: &Value, first: &str, second: &str) -> String {
    if object.is_null() {
        String::new()
    } else {
        format!("{}/{}", text(&object[first]), text(&object[second]))
    }
}

/// The text, or `<none>` if it is empty.
pub(super) fn or_none(text: String) -> String {
    if text.is_empty() { NONE.to_owned() } else { text }
}

/// The value as text, or a default if it is null.
pub(super) fn text_or(value: &Value, default: &str) -> String {
    match value {
        Value::Null => default.to_owned(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// The text; empty if it is `<unknown>`.
pub(super) fn text_of(value: &Value) -> String {
    value.as_str().filter(|text| *text != "<unknown>").unwrap_or_default().to_owned()
}

/// The text; empty if the value is not a text.
pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The list; empty if the value is not a list.
pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The number of elements or fields.
pub(super) fn count(value: &Value) -> usize {
    value.as_array().map(Vec::len).or_else(|| value.as_object().map(serde_json::Map::len)).unwrap_or_default()
}
