//! Validates custom resources against their schema, with kube-apiserver's messages.

mod combined;
mod format;
mod lists;
mod metadata;
mod numbers;
mod objects;
mod strings;
mod walk;

use serde_json::Value;
use webhook::field::{Error, ErrorKind, Shown, quote};

use super::rules;
use super::schema::{Checks, Schema};
use crate::object::go_text::shown_number;

/// The field of an error without a field, as Go prints it.
pub(crate) const NO_FIELD: &str = "<nil>";

/// Validates an object. Values that did not change since `old` are not checked.
pub(crate) fn validate(object: &Value, old: Option<&Value>, schema: &Schema) -> Vec<Error> {
    let mut errors = Vec::new();
    check("", object, old, schema, &mut errors);
    errors.extend(metadata::embedded(object, schema));
    if old.is_none_or(|old| lists::duplicates(old, schema).is_empty()) {
        errors.extend(lists::duplicates(object, schema));
    }
    let blocked = errors.iter().any(|error| blocks_rules(error.kind));
    errors.extend(rules::check(object, old, schema, blocked));
    errors
}

/// The errors of a default: those of its embedded resources, else those of the schema, else those of rules.
pub(crate) fn default_errors(default: &Value, schema: &Schema) -> Vec<Error> {
    let embedded = metadata::embedded(default, schema);
    // kube-apiserver decodes a default before it validates it.
    if let Some(unreadable) = embedded.iter().find(|error| error.detail == "must be a string") {
        return vec![unreadable.clone()];
    }
    if !embedded.is_empty() {
        return embedded;
    }
    let mut errors = Vec::new();
    check("", default, None, schema, &mut errors);
    if errors.is_empty() { rules::check(default, None, schema, false) } else { errors }
}

/// Changes an error of a status to what it is on the subresource: its message has a path relative to the status, and one without a
/// field is about the status.
pub(crate) fn make_relative_to_status(error: &mut Error) {
    if error.field == NO_FIELD {
        "status".clone_into(&mut error.field);
        error.detail = error.detail.replace(" in status.", " in ");
    }
    if let Some(rest) = error.detail.strip_prefix("status.") {
        error.detail = rest.to_owned();
    }
}

/// Whether an error prevents the evaluation of rules.
fn blocks_rules(kind: ErrorKind) -> bool {
    use ErrorKind::{NotSupported, Required, TooLong, TooMany, TypeInvalid};
    matches!(kind, NotSupported | Required | TooLong | TooMany | TypeInvalid)
}

/// Checks the value at a path and everything below.
fn check(path: &str, value: &Value, old: Option<&Value>, schema: &Schema, errors: &mut Vec<Error>) {
    if old.is_some_and(|old| old == value) {
        return;
    }
    let checks = &schema.checks;
    errors.extend(type_mismatch(path, value, schema));
    if !value.is_null() {
        combined::check(path, value, checks, errors);
    }
    match value {
        Value::String(text) => {
            errors.extend(strings::check(path, text, checks));
            errors.extend(format::check(path, text, checks));
        }
        Value::Number(number) => errors.extend(numbers::check(path, number, checks)),
        Value::Array(items) => objects::check_elements(path, items, old, schema, errors),
        _ => {}
    }
    errors.extend(enum_mismatch(path, value, checks));
    if let Value::Object(fields) = value {
        objects::check_fields(path, fields, old, schema, errors);
    }
}

fn type_mismatch(path: &str, value: &Value, schema: &Schema) -> Option<Error> {
    let Checks { types, format, .. } = &schema.checks;
    if types.is_empty() || (value.is_null() && schema.nullable) {
        return None;
    }
    let (found, width) = match value {
        Value::Null => ("null", ""),
        Value::Bool(_) => ("boolean", ""),
        Value::Number(number) if number.is_f64() => ("number", "float64"),
        Value::Number(_) => ("integer", "int64"),
        Value::String(_) => ("string", ""),
        Value::Array(_) => ("array", ""),
        Value::Object(_) => ("object", ""),
    };
    let has = |name: &str| types.iter().any(|other| other == name);
    let is_integer = value.as_f64().is_some_and(numbers::is_integer);
    let fits = has(found)
        || (found == "integer" && has("number"))
        || (found == "number" && has("integer") && is_integer);
    match (format, value) {
        (Some(_), Value::Null) | (None, _) => {}
        // The format check handles strings; lists pass, as in kube-apiserver.
        (Some(_), Value::String(_) | Value::Array(_)) => {
            if !has("number") && !has("integer") {
                return None;
            }
        }
        (Some(format), _) => return (!fits && format != width).then(|| type_error(path, format, width)),
    }
    (!fits).then(|| type_error(path, &types.join(","), found))
}

/// `spec.x in body must be of type string: "integer"`.
fn type_error(path: &str, wanted: &str, found: &str) -> Error {
    Error {
        kind: ErrorKind::TypeInvalid,
        field: path.to_owned(),
        value: Some(Shown::from(found)),
        detail: format!("{path} in body must be of type {wanted}: {}", quote(found)),
    }
}

fn enum_mismatch(path: &str, value: &Value, checks: &Checks) -> Option<Error> {
    let allowed = &checks.allowed;
    if allowed.is_empty() || allowed.iter().any(|other| converts_to(value, other)) {
        return None;
    }
    let shown = |value: &Value| quote(&value.as_str().map_or_else(|| value.to_string(), str::to_owned));
    let values: Vec<String> = allowed.iter().map(shown).collect();
    Some(Error {
        kind: ErrorKind::NotSupported,
        field: path.to_owned(),
        value: Some(show(value)),
        detail: format!("supported values: {}", values.join(", ")),
    })
}

/// Whether Go converts a value to an allowed one: a float loses its fraction, and an integer is a character. Null is never allowed.
fn converts_to(value: &Value, allowed: &Value) -> bool {
    match (value, allowed) {
        (Value::Null, _) => false,
        (Value::Number(number), Value::Number(other)) => match (number.as_i64(), other.as_i64()) {
            (None, Some(other)) => number.as_f64().is_some_and(|float| numbers::whole(float) == other),
            (Some(number), Some(other)) => number == other,
            (_, None) => number.as_f64() == other.as_f64(),
        },
        (Value::Number(number), Value::String(other)) => {
            let code = number.as_i64().and_then(|code| u32::try_from(code).ok()).and_then(char::from_u32);
            code.is_some_and(|letter| other.chars().eq([letter]))
        }
        _ => value == allowed,
    }
}

/// An error about a value, with a message that repeats the field.
fn invalid(path: &str, value: Shown, why: &str) -> Error {
    let (field, value) = (path.to_owned(), Some(value));
    Error { kind: ErrorKind::Invalid, field, value, detail: format!("{path} in body {why}") }
}

/// The ending of a counted noun.
fn plural(count: u64) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// An error without a field.
fn without_field(detail: String) -> Error {
    let value = Some(Shown::from(""));
    Error { kind: ErrorKind::Invalid, field: NO_FIELD.to_owned(), value, detail }
}

/// A value as kube-apiserver's messages show it: JSON for lists and maps.
fn show(value: &Value) -> Shown {
    match value {
        Value::Null => Shown::verbatim("null"),
        Value::String(text) => Shown::from(text.as_str()),
        Value::Number(number) => Shown::verbatim(shown_number(number)),
        other => {
            let json = formats::json::to_vec(other).unwrap_or_default();
            Shown::verbatim(formats::json::html_safe(&String::from_utf8_lossy(&json)))
        }
    }
}

#[cfg(test)]
#[expect(clippy::too_many_lines, reason = "a table of values and answers is long")]
mod tests;
