//! Field errors of an object.

use api::garden::GROUP;
use versions::Refusal;
use webhook::field::{Error, ErrorKind, Shown};
use webhook::rejection::Rejection;

/// Field errors of an object.
pub type FieldErrors = Vec<Error>;

/// Converts a refusal of the crate `versions` to a field error.
pub(super) fn field_error((field, refusal): (String, Refusal)) -> Error {
    match refusal {
        Refusal::Invalid { shown, detail } => {
            Error { kind: ErrorKind::Invalid, field, value: Some(Shown::verbatim(shown)), detail }
        }
        Refusal::Forbidden { detail } => Error { kind: ErrorKind::Forbidden, field, value: None, detail },
        Refusal::NotSupported { value, supported } => {
            let supported: Vec<&str> = supported.iter().map(String::as_str).collect();
            let error = Error::not_supported(&webhook::field::Path::new(&field), &value, &supported);
            Error { field, ..error }
        }
    }
}

/// Returns 422 with all errors, if there are any.
///
/// # Errors
/// When there are errors.
pub(super) fn invalid(kind: &str, name: &str, errors: &[Error]) -> Result<(), Rejection> {
    if errors.is_empty() { Ok(()) } else { Err(Rejection::invalid(GROUP, kind, name, errors)) }
}
