//! Why an object is refused.

use api::garden::GROUP;
use versions::Refusal;
use webhook::field::{Error, ErrorKind, Shown};
use webhook::rejection::Rejection;

/// Field errors of an object.
pub type Refused = Vec<Error>;

/// A decision's refusal as a field error.
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

/// 422 with all of them; nothing where there are none.
///
/// # Errors
/// Where there are any.
pub(super) fn invalid(kind: &str, name: &str, errors: &[Error]) -> Result<(), Rejection> {
    if errors.is_empty() { Ok(()) } else { Err(Rejection::invalid(GROUP, kind, name, errors)) }
}
