//! Columns of tables, and the cells that several kinds have.

use api::garden::reference::LabelSelector;
use jiff::Timestamp;
use serde_json::Value;
use webhook::strategy::Column;

use crate::webhooks::selection;

pub(super) const NAME: Column = column("Name", |object, _| text(object, "/metadata/name"));
pub(super) const AGE: Column = Column {
    kind: "date",
    format: "",
    ..column("Age", |object, now| {
        since(object, "/metadata/creationTimestamp", now).unwrap_or_else(|| "<unknown>".to_owned()).into()
    })
};

/// A column as most of the original's are.
pub(super) const fn column(name: &'static str, cell: fn(&Value, Timestamp) -> Value) -> Column {
    Column { name, kind: "string", format: "name", description: "", priority: 0, cell }
}

/// The text at a pointer; empty if it is absent.
pub(super) fn text(object: &Value, pointer: &str) -> Value {
    text_or(object, pointer, "")
}

/// The text at a pointer, or another one if it is absent or empty.
pub(super) fn text_or(object: &Value, pointer: &str, other: &str) -> Value {
    let found = object.pointer(pointer).and_then(Value::as_str).filter(|found| !found.is_empty());
    found.unwrap_or(other).into()
}

/// The value at a pointer, or null.
pub(super) fn value(object: &Value, pointer: &str) -> Value {
    object.pointer(pointer).cloned().unwrap_or_default()
}

/// How many elements or entries the list or map at a pointer has.
pub(super) fn count(object: &Value, pointer: &str) -> Value {
    match object.pointer(pointer) {
        Some(Value::Array(list)) => list.len().into(),
        Some(Value::Object(map)) => map.len().into(),
        _ => 0.into(),
    }
}

/// The selector of labels at a pointer, in the notation of kubectl.
pub(super) fn selector(object: &Value, pointer: &str) -> Value {
    let read: Option<LabelSelector> = serde_json::from_value(value(object, pointer)).unwrap_or_default();
    match selection::applied(&read.unwrap_or_default()) {
        Err(_) => "<error>".into(),
        Ok(applied) if applied.is_empty() => "<none>".into(),
        Ok(applied) => applied.to_string().into(),
    }
}

/// The status of the condition of a type.
pub(super) fn condition<'a>(object: &'a Value, kind: &str) -> Option<&'a str> {
    let mut conditions = object.pointer("/status/conditions").and_then(Value::as_array)?.iter();
    conditions.find(|condition| condition["type"] == kind)?["status"].as_str()
}

/// The status of the condition of a type, as a cell.
pub(super) fn condition_cell(object: &Value, kind: &str) -> Value {
    condition(object, kind).unwrap_or("<unknown>").into()
}

/// `Reconcile Succeeded (100%)`.
pub(super) fn last_operation(object: &Value) -> Value {
    let Some(operation) = object.pointer("/status/lastOperation") else { return "<pending>".into() };
    let text = |field: &str| operation[field].as_str().unwrap_or_default();
    let progress = operation["progress"].as_i64().unwrap_or_default();
    format!("{} {} ({progress}%)", text("type"), text("state")).into()
}

/// The progress of the last operation, a number.
pub(super) fn progress(object: &Value) -> Value {
    object.pointer("/status/lastOperation/progress").and_then(Value::as_i64).unwrap_or_default().into()
}

/// The time at a pointer.
pub(super) fn time(object: &Value, pointer: &str) -> Option<Timestamp> {
    object.pointer(pointer)?.as_str()?.parse().ok()
}

/// How long ago the time at a pointer was.
pub(super) fn since(object: &Value, pointer: &str, now: Timestamp) -> Option<String> {
    Some(formats::age::to_string(now.duration_since(time(object, pointer)?).as_secs()))
}
