//! The errors of fields of a definition, and how a field is read.

use serde_json::Value;
use webhook::field::{Error, ErrorKind, Shown};

/// A string field; empty if absent.
pub(super) fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// An error about a field.
pub(super) fn error(kind: ErrorKind, field: &str, value: Option<Shown>, why: &str) -> Error {
    Error { kind, field: field.to_owned(), value, detail: why.to_owned() }
}

pub(super) fn required(at: &str, why: &str) -> Error {
    error(ErrorKind::Required, at, None, why)
}

pub(super) fn invalid(at: &str, value: Shown, why: &str) -> Error {
    error(ErrorKind::Invalid, at, Some(value), why)
}

pub(super) fn unsupported(at: &str, value: &str, known: &str) -> Error {
    error(ErrorKind::NotSupported, at, Some(Shown::from(value)), &format!("supported values: {known}"))
}
