//! Checks length and pattern of strings.

use webhook::field::{Error, ErrorKind, Shown};

use super::{invalid, plural};
use crate::object::structural::schema::Checks;

/// The first error of a string.
pub(super) fn check(path: &str, text: &str, checks: &Checks) -> Option<Error> {
    let length = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
    if let Some(max) = checks.max_length.filter(|max| length > *max) {
        let detail = format!("may not be more than {max} byte{}", plural(max));
        return Some(Error { kind: ErrorKind::TooLong, field: path.to_owned(), value: None, detail });
    }
    if let Some(min) = checks.min_length.filter(|min| length < *min) {
        return Some(invalid(path, Shown::from(text), &format!("should be at least {min} chars long")));
    }
    let (pattern, compiled) = checks.pattern.as_ref()?;
    let fits = compiled.as_ref().is_none_or(|regex| regex.is_match(text));
    (!fits).then(|| invalid(path, Shown::from(text), &format!("should match '{pattern}'")))
}
