//! How many machines a pool has, and how many are replaced at once.

use api::garden::shoot::worker::Worker;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use webhook::field::{Error, Path, Shown, quote};

use super::bounds;
use super::field_errors::FieldErrors;

/// Minimum, maximum and the two counts of a rolling update: GDN-SPC-001 to -005.
pub(super) fn validate(pool: &Worker, at: &Path) -> FieldErrors {
    let mut errors = FieldErrors::new();
    for (name, count) in [("minimum", pool.minimum), ("maximum", pool.maximum)] {
        if count < 0 {
            let detail = format!("{name} value must not be negative");
            errors.push(Error::invalid(&at.child(name), i64::from(count), &detail));
        }
    }
    if pool.maximum < pool.minimum {
        let detail = "maximum value must not be less than minimum value";
        errors.push(Error::forbidden(&at.child("maximum"), detail));
    }
    let (surge, unavailable) = (pool.max_surge.as_ref(), pool.max_unavailable.as_ref());
    let at_unavailable = at.child("maxUnavailable");
    errors.extend(count(surge, &at.child("maxSurge")));
    errors.extend(count(unavailable, &at_unavailable));
    if let Some(IntOrString::String(text)) = unavailable
        && percentage(text).is_some_and(|percentage| percentage > 100)
    {
        errors.push(Error::invalid(&at_unavailable, go_syntax(unavailable), "must not be greater than 100%"));
    }
    if unavailable.is_none_or(is_zero) && surge.is_some_and(is_zero) {
        let detail = "may not be 0 when `maxSurge` is 0";
        errors.push(Error::invalid(&at_unavailable, go_syntax(unavailable), detail));
    }
    errors
}

fn count(count: Option<&IntOrString>, at: &Path) -> Option<Error> {
    match count? {
        IntOrString::Int(number) => bounds::non_negative(at, Some(*number)),
        IntOrString::String(text) => percentage(text)
            .is_none()
            .then(|| Error::invalid(at, go_syntax(count), "must be an integer or percentage (e.g '5%')")),
    }
}

/// The digits of `5%`.
pub(super) fn digits(text: &str) -> Option<&str> {
    let digits = text.strip_suffix('%').filter(|digits| !digits.is_empty())?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then_some(digits)
}

/// The number of `5%`; one that is too large for Go counts as 0.
fn percentage(text: &str) -> Option<i64> {
    digits(text).map(|digits| digits.parse().unwrap_or_default())
}

/// A malformed text counts as 0.
fn is_zero(count: &IntOrString) -> bool {
    match count {
        IntOrString::Int(number) => *number == 0,
        IntOrString::String(text) => percentage(text).unwrap_or_default() == 0,
    }
}

fn go_syntax(count: Option<&IntOrString>) -> Shown {
    let (kind, number, text) = match count {
        None => return Shown::from("null"),
        Some(IntOrString::Int(number)) => (0, *number, ""),
        Some(IntOrString::String(text)) => (1, 0, text.as_str()),
    };
    let text = quote(text);
    Shown::verbatim(format_args!("intstr.IntOrString{{Type:{kind}, IntVal:{number}, StrVal:{text}}}"))
}
