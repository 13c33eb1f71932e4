//! Checks the formats of strings.

use formats::strfmt;
use webhook::field::{Error, ErrorKind, Shown, quote};

use crate::object::structural::schema::Checks;

/// `spec.x in body must be of type date-time: "x"`.
pub(super) fn check(path: &str, text: &str, checks: &Checks) -> Option<Error> {
    let format = checks.format.as_deref()?;
    if strfmt::matches(format, text) {
        return None;
    }
    Some(Error {
        kind: ErrorKind::TypeInvalid,
        field: path.to_owned(),
        value: Some(Shown::from(text)),
        detail: format!("{path} in body must be of type {format}: {}", quote(text)),
    })
}
