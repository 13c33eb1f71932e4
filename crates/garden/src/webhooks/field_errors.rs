//! Field errors of an object. `webhook::field::Error` has one constructor for each type; here is what several rules share.

use api::garden::GROUP;
use versions::Refusal;
use webhook::field::{Error, ErrorKind, Path, Shown};
use webhook::rejection::Rejection;

use super::go_value::GoValue;

/// Field errors of an object.
pub type FieldErrors = Vec<Error>;

/// Converts a refusal of the crate `versions` to a field error.
pub(crate) fn field_error((field, refusal): (String, Refusal)) -> Error {
    match refusal {
        Refusal::Invalid { shown, detail } => {
            Error { kind: ErrorKind::Invalid, field, value: Some(Shown::verbatim(shown)), detail }
        }
        Refusal::Forbidden { detail } => Error { kind: ErrorKind::Forbidden, field, value: None, detail },
        Refusal::NotSupported { value, supported } => {
            let supported: Vec<&str> = supported.iter().map(String::as_str).collect();
            let error = Error::not_supported(&Path::new(&field), &value, &supported);
            Error { field, ..error }
        }
    }
}

/// One `Invalid value` for each message about a text.
pub(super) fn each_invalid(at: &Path, value: &str, messages: &[String]) -> FieldErrors {
    messages.iter().map(|message| Error::invalid(at, value, message)).collect()
}

/// A required text.
pub(super) fn required(at: &Path, value: &str, detail: &str) -> Option<Error> {
    value.is_empty().then(|| Error::required(at, detail))
}

/// A text that must be one of the supported ones.
pub(crate) fn supported(at: &Path, value: &str, supported: &[&str]) -> Option<Error> {
    (!supported.contains(&value)).then(|| Error::not_supported(at, value, supported))
}

/// An immutable field; the message shows the first value.
pub(super) fn immutable(at: &Path, shown: &GoValue, other: &GoValue) -> Option<Error> {
    (shown != other).then(|| Error::invalid(at, shown, "field is immutable"))
}

/// Returns 422 with all errors, if there are any.
///
/// # Errors
/// When there are errors.
pub(super) fn invalid(kind: &str, name: &str, errors: &[Error]) -> Result<(), Rejection> {
    invalid_in(GROUP, kind, name, errors)
}

/// The same for a kind of another group.
///
/// # Errors
/// When there are errors.
pub(super) fn invalid_in(group: &str, kind: &str, name: &str, errors: &[Error]) -> Result<(), Rejection> {
    if errors.is_empty() { Ok(()) } else { Err(Rejection::invalid(group, kind, name, errors)) }
}
