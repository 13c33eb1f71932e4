//! Validation of custom resources against their schema, in the words of Kubernetes.

mod format;
mod lists;
mod metadata;
mod numbers;
mod objects;
mod options;
mod texts;
mod walk;

use serde_json::Value;
use webhook::field::{Error, ErrorKind, Shown, quote};

use super::rules;
use super::schema::{Checks, Schema};

/// The field of an error that belongs to no field, as Go prints it.
const NOWHERE: &str = "<nil>";

/// Checks an object; what did not change since `old` is not held against it.
pub(crate) fn validate(object: &Value, old: Option<&Value>, schema: &Schema) -> Vec<Error> {
    let mut errors = Vec::new();
    check("", object, old, schema, &mut errors);
    errors.extend(metadata::embedded(object, schema));
    if old.is_none_or(|old| lists::duplicates(old, schema).is_empty()) {
        errors.extend(lists::duplicates(object, schema));
    }
    let blocked = errors.iter().any(|error| blocks(error.kind));
    errors.extend(rules::check(object, old, schema, blocked));
    errors
}

/// Whether an error keeps rules from being looked at.
fn blocks(kind: ErrorKind) -> bool {
    use ErrorKind::{NotSupported, Required, TooLong, TooMany, TypeInvalid};
    matches!(kind, NotSupported | Required | TooLong | TooMany | TypeInvalid)
}

/// Checks the value at a path against all that the schema says of that place and below.
fn check(path: &str, value: &Value, old: Option<&Value>, schema: &Schema, errors: &mut Vec<Error>) {
    if old.is_some_and(|old| old == value) {
        return;
    }
    let checks = &schema.checks;
    errors.extend(wrong_type(path, value, schema));
    if !value.is_null() {
        options::check(path, value, checks, errors);
    }
    match value {
        Value::String(text) => {
            errors.extend(texts::check(path, text, checks));
            errors.extend(format::check(path, text, checks));
        }
        Value::Number(number) => errors.extend(numbers::check(path, number, checks)),
        Value::Array(items) => objects::elements(path, items, old, schema, errors),
        _ => {}
    }
    errors.extend(not_allowed(path, value, checks));
    if let Value::Object(fields) = value {
        objects::fields(path, fields, old, schema, errors);
    }
}

fn wrong_type(path: &str, value: &Value, schema: &Schema) -> Option<Error> {
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
    let has = |name: &str| types.iter().any(|known| known == name);
    let whole = value.as_f64().is_some_and(|number| number.fract() == 0.0);
    let fits =
        has(found) || (found == "integer" && has("number")) || (found == "number" && has("integer") && whole);
    match (format, value) {
        (Some(_), Value::Null) | (None, _) => {}
        // The format speaks for the text; a list passes, as in Kubernetes.
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

fn not_allowed(path: &str, value: &Value, checks: &Checks) -> Option<Error> {
    let allowed = &checks.allowed;
    let same = |known: &Value| known == value || (known.is_number() && known.as_f64() == value.as_f64());
    if allowed.is_empty() || value.is_null() || allowed.iter().any(same) {
        return None;
    }
    let shown = |value: &Value| quote(&value.as_str().map_or_else(|| value.to_string(), str::to_owned));
    let values: Vec<String> = allowed.iter().map(shown).collect();
    Some(Error {
        kind: ErrorKind::NotSupported,
        field: path.to_owned(),
        value: Some(json(value)),
        detail: format!("supported values: {}", values.join(", ")),
    })
}

/// A value that is wrong for a reason that names the field again.
fn invalid(path: &str, value: Shown, why: &str) -> Error {
    let (field, value) = (path.to_owned(), Some(value));
    Error { kind: ErrorKind::Invalid, field, value, detail: format!("{path} in body {why}") }
}

/// An error of a schema as a whole.
fn nowhere(detail: String) -> Error {
    let value = Some(Shown::from(""));
    Error { kind: ErrorKind::Invalid, field: NOWHERE.to_owned(), value, detail }
}

/// A value as Kubernetes shows it: JSON for lists and maps.
fn json(value: &Value) -> Shown {
    match value {
        Value::Null => Shown::verbatim("null"),
        Value::String(text) => Shown::from(text.as_str()),
        other => Shown::verbatim(other),
    }
}

#[cfg(test)]
#[expect(clippy::too_many_lines, reason = "a table of values and answers is long")]
mod tests;
