//! Rules about numbers and durations that several fields share, and how messages show their values.

use std::str::FromStr as _;

use api::garden::Duration;
use formats::duration::GoDuration;
use serde_json::Number;
use webhook::field::{Error, Path, Shown};

/// A number that must not be negative.
pub(super) fn non_negative(at: &Path, number: Option<impl Into<i64>>) -> Option<Error> {
    let number = number?.into();
    (number < 0).then(|| Error::invalid(at, number, "must be greater than or equal to 0"))
}

/// A duration; `None` if it is absent. The API server checks the notation of custom resources.
pub(super) fn duration(duration: Option<&Duration>) -> Option<GoDuration> {
    GoDuration::from_str(&duration?.0).ok()
}

/// The value of a number; `None` if it is absent.
pub(super) fn number(number: Option<&Number>) -> Option<f64> {
    number?.as_f64()
}

/// A duration that fails a rule. Kubernetes' type is not shown in its own notation.
pub(super) fn refuse(
    at: &Path,
    duration: Option<&Duration>,
    fails: impl FnOnce(GoDuration) -> bool,
    detail: &str,
) -> Option<Error> {
    let duration = self::duration(duration).filter(|duration| fails(*duration))?;
    let shown = Shown::verbatim(format_args!("v1.Duration{{Duration:{}}}", duration.nanos()));
    Some(Error::invalid(at, shown, detail))
}

/// A duration that must not be negative, where Kubernetes' type is shown.
pub(super) fn not_negative(at: &Path, duration: Option<&Duration>) -> Option<Error> {
    refuse(at, duration, |duration| duration.nanos() < 0, "can not be negative")
}

/// A duration that must not be negative, where its notation is shown.
pub(super) fn positive(at: &Path, duration: Option<&Duration>) -> Option<Error> {
    let duration = self::duration(duration).filter(|duration| duration.nanos() < 0)?;
    Some(Error::invalid(at, duration.to_string().as_str(), "must be non-negative"))
}
