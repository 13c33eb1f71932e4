//! Parses a schedule.

use jiff::SignedDuration;
use thiserror::Error;

use super::{Fields, STAR, ScheduleKind};
use crate::duration::{DurationError, GoDuration};

/// Why a text is not a schedule; the messages are the original library's.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CronError {
    /// There is no text.
    #[error("Empty spec string")]
    Empty,
    /// Not five fields.
    #[error("Expected exactly 5 fields, found {found}: {text}")]
    Fields {
        /// How many there are.
        found: usize,
        /// The text.
        text: String,
    },
    /// Neither a number nor a name.
    #[error("Failed to parse int from {text}: strconv.Atoi: parsing {text:?}: {reason}")]
    Number {
        /// The text.
        text: String,
        /// Go's reason.
        reason: &'static str,
    },
    /// A number below zero, which only a step can be.
    #[error("Negative number ({number}) not allowed: {number}")]
    Negative {
        /// The number.
        number: i64,
    },
    /// More than one hyphen.
    #[error("Too many hyphens: {0}")]
    Hyphens(String),
    /// More than one slash.
    #[error("Too many slashes: {0}")]
    Slashes(String),
    /// The range begins before the field's least value.
    #[error("Beginning of range ({start}) below minimum ({least}): {text}")]
    Below {
        /// Its beginning.
        start: u64,
        /// The field's least value.
        least: u32,
        /// The range.
        text: String,
    },
    /// The range ends after the field's greatest value.
    #[error("End of range ({end}) above maximum ({greatest}): {text}")]
    Above {
        /// Its end.
        end: u64,
        /// The field's greatest value.
        greatest: u32,
        /// The range.
        text: String,
    },
    /// The range ends before it begins.
    #[error("Beginning of range ({start}) beyond end of range ({end}): {text}")]
    Reversed {
        /// Its beginning.
        start: u64,
        /// Its end.
        end: u64,
        /// The range.
        text: String,
    },
    /// A step of zero.
    #[error("FieldStep of range should be a positive number: {0}")]
    FieldStep(String),
    /// The period of `@every` is not a duration.
    #[error("Failed to parse duration {text}: {source}")]
    Duration {
        /// The descriptor.
        text: String,
        /// The reason.
        source: DurationError,
    },
    /// An unknown descriptor.
    #[error("Unrecognized descriptor: {0}")]
    Descriptor(String),
}

/// The values that a field may have.
struct Bounds {
    least: u32,
    greatest: u32,
    /// Names of values, from the least on.
    names: &'static [&'static str],
}

const MINUTES: Bounds = Bounds { least: 0, greatest: 59, names: &[] };
const HOURS: Bounds = Bounds { least: 0, greatest: 23, names: &[] };
const DAYS: Bounds = Bounds { least: 1, greatest: 31, names: &[] };
const MONTHS: Bounds = Bounds {
    least: 1,
    greatest: 12,
    names: &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
};
const WEEKDAYS: Bounds =
    Bounds { least: 0, greatest: 6, names: &["sun", "mon", "tue", "wed", "thu", "fri", "sat"] };

pub(super) fn schedule(text: &str) -> Result<ScheduleKind, CronError> {
    if text.is_empty() {
        return Err(CronError::Empty);
    }
    if text.starts_with('@') {
        return descriptor(text);
    }
    let fields: Vec<&str> = text.split_whitespace().collect();
    let [minute, hour, day, month, weekday] = fields[..] else {
        return Err(CronError::Fields { found: fields.len(), text: text.to_owned() });
    };
    Ok(ScheduleKind::Fields(Fields {
        minutes: field(minute, &MINUTES)?,
        hours: field(hour, &HOURS)?,
        days: field(day, &DAYS)?,
        months: field(month, &MONTHS)?,
        weekdays: field(weekday, &WEEKDAYS)?,
    }))
}

fn descriptor(text: &str) -> Result<ScheduleKind, CronError> {
    let standard = match text {
        "@yearly" | "@annually" => "0 0 1 1 *",
        "@monthly" => "0 0 1 * *",
        "@weekly" => "0 0 * * 0",
        "@daily" | "@midnight" => "0 0 * * *",
        "@hourly" => "0 * * * *",
        _ => {
            let period =
                text.strip_prefix("@every ").ok_or_else(|| CronError::Descriptor(text.to_owned()))?;
            let period = GoDuration::parse(period)
                .map_err(|source| CronError::Duration { text: text.to_owned(), source })?;
            let seconds = (period.nanos() / 1_000_000_000).max(1);
            return Ok(ScheduleKind::Every(SignedDuration::from_secs(seconds)));
        }
    };
    schedule(standard)
}

/// The values of a field: ranges separated by commas. Empty ones are left out.
fn field(text: &str, bounds: &Bounds) -> Result<u64, CronError> {
    let mut ranges = text.split(',').filter(|range| !range.is_empty());
    ranges.try_fold(0, |bits, text| Ok(bits | range(text, bounds)?))
}

/// The values of a range: `*`, `?`, a value or two with a hyphen, and a step.
fn range(text: &str, bounds: &Bounds) -> Result<u64, CronError> {
    let parts: Vec<&str> = text.split('/').collect();
    let ends: Vec<&str> = parts[0].split('-').collect();
    let is_star = matches!(ends[0], "*" | "?");
    let (start, mut end) = if is_star {
        (u64::from(bounds.least), u64::from(bounds.greatest))
    } else {
        let start = value(ends[0], bounds)?;
        match ends[..] {
            [_] => (start, start),
            [_, end] => (start, value(end, bounds)?),
            _ => return Err(CronError::Hyphens(text.to_owned())),
        }
    };
    let step = match parts[..] {
        [_] => 1,
        [_, step] => {
            let step = number(step)?;
            // A single value with a step is the beginning of a range.
            if ends.len() == 1 {
                end = u64::from(bounds.greatest);
            }
            step
        }
        _ => return Err(CronError::Slashes(text.to_owned())),
    };
    check(text, bounds, start, end, step)?;
    let values = (start..=end).step_by(usize::try_from(step).unwrap_or(usize::MAX));
    Ok(values.fold(if is_star { STAR } else { 0 }, |bits, value| bits | 1 << value))
}

fn check(text: &str, bounds: &Bounds, start: u64, end: u64, step: u64) -> Result<(), CronError> {
    let text = text.to_owned();
    if start < u64::from(bounds.least) {
        return Err(CronError::Below { start, least: bounds.least, text });
    }
    if end > u64::from(bounds.greatest) {
        return Err(CronError::Above { end, greatest: bounds.greatest, text });
    }
    if start > end {
        return Err(CronError::Reversed { start, end, text });
    }
    if step == 0 {
        return Err(CronError::FieldStep(text));
    }
    Ok(())
}

/// A number, or a name in any case.
fn value(text: &str, bounds: &Bounds) -> Result<u64, CronError> {
    let lower = text.to_lowercase();
    let named = (bounds.least..).zip(bounds.names).find(|(_, name)| **name == lower);
    named.map_or_else(|| number(text), |(value, _)| Ok(u64::from(value)))
}

/// A number as Go's `strconv.Atoi` reads it: a sign is allowed.
fn number(text: &str) -> Result<u64, CronError> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let refused = |reason| CronError::Number { text: text.to_owned(), reason };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(refused("invalid syntax"));
    }
    let number: i64 = text.parse().map_err(|_| refused("value out of range"))?;
    u64::try_from(number).map_err(|_| CronError::Negative { number })
}
