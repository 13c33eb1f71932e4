//! Maintenance windows: a span of each day, in UTC, to the second.

mod parse;

use std::fmt;
use std::time::Duration;

use api::garden::shoot::maintenance::Maintenance;
use formats::duration::GoDuration;
use jiff::Timestamp;

pub use parse::TimeOfDayError;

use crate::Refusal;

const DAY: i64 = 24 * 3600;
const NANOS: i128 = 1_000_000_000;
/// The margin before the end of a window, so that work that begins in the window can also end in it.
const MARGIN: i64 = 15 * 60;
/// The minimal and the maximal length of a window, in seconds.
const LENGTHS: [i64; 2] = [30 * 60, 6 * 3600];

/// A time of day in UTC; prints as `22:00:00`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimeOfDay {
    /// Seconds since midnight.
    seconds: i64,
}

/// A span from one time of day to another, both included; a window whose end is before its beginning spans midnight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// When it begins.
    pub begin: TimeOfDay,
    /// When it ends.
    pub end: TimeOfDay,
}

/// The end of a window that is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WindowError {
    /// Its beginning.
    #[error("could not parse begin time: {0}")]
    Begin(#[source] TimeOfDayError),
    /// Its end.
    #[error("could not parse end time: {0}")]
    End(#[source] TimeOfDayError),
}

impl TimeOfDay {
    /// The time this many seconds after midnight, modulo one day.
    #[must_use]
    pub const fn of_seconds(seconds: i64) -> Self {
        Self { seconds: seconds.rem_euclid(DAY) }
    }

    /// Parses a time: `220000+0100` is 21:00:00.
    ///
    /// # Errors
    /// If it is not hour, minute, second and offset; with the text of Go's time parser.
    pub fn parse(text: &str) -> Result<Self, TimeOfDayError> {
        parse::seconds(text).map(Self::of_seconds)
    }

    /// The time of day of a point in time.
    #[must_use]
    pub fn at(time: Timestamp) -> Self {
        Self::of_seconds(seconds_since_epoch(time))
    }

    /// The time this many seconds later, or earlier.
    #[must_use]
    pub const fn plus(self, seconds: i64) -> Self {
        Self::of_seconds(self.seconds + seconds)
    }

    /// The format in shoots: `210000+0000`.
    #[must_use]
    pub fn formatted(self) -> String {
        let [hour, minute, second] = self.parts();
        format!("{hour:02}{minute:02}{second:02}+0000")
    }

    fn parts(self) -> [i64; 3] {
        [self.seconds / 3600, self.seconds / 60 % 60, self.seconds % 60]
    }
}

impl fmt::Display for TimeOfDay {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [hour, minute, second] = self.parts();
        write!(formatter, "{hour:02}:{minute:02}:{second:02}")
    }
}

impl Window {
    /// The whole day.
    pub const ALWAYS: Self = Self { begin: TimeOfDay { seconds: 0 }, end: TimeOfDay { seconds: DAY - 1 } };

    /// Parses a window (GDN-WIN-003, GDN-WIN-008).
    ///
    /// # Errors
    /// If one of them is not a time of day.
    pub fn parse(begin: &str, end: &str) -> Result<Self, WindowError> {
        let begin = TimeOfDay::parse(begin).map_err(WindowError::Begin)?;
        let end = TimeOfDay::parse(end).map_err(WindowError::End)?;
        Ok(Self { begin, end })
    }

    /// A window of one hour that begins at a full hour. `below` returns a number below its argument.
    #[must_use]
    pub fn random(below: impl FnOnce(u64) -> u64) -> Self {
        let hour = i64::try_from(below(23)).unwrap_or_default();
        Self { begin: TimeOfDay::of_seconds(hour * 3600), end: TimeOfDay::of_seconds((hour + 1) * 3600) }
    }

    /// The window in which work may begin: it ends a quarter of an hour earlier.
    #[must_use]
    pub const fn effective(self) -> Self {
        Self { begin: self.begin, end: self.end.plus(-MARGIN) }
    }

    /// The effective window of a shoot; the whole day if it has none, or an invalid one (GDN-WIN-002, GDN-WIN-004).
    #[must_use]
    pub fn of(maintenance: Option<&Maintenance>) -> Self {
        let window = maintenance.and_then(|maintenance| maintenance.time_window.as_ref());
        let window = window.and_then(|window| Self::parse(&window.begin, &window.end).ok());
        window.map_or(Self::ALWAYS, Self::effective)
    }

    /// Its length; a window that ends at its beginning has the length of a day.
    #[must_use]
    pub fn length(self) -> Duration {
        Duration::from_secs(self.seconds().unsigned_abs())
    }

    /// Checks its length: half an hour to six hours (GDN-WIN-007).
    ///
    /// # Errors
    /// If it is shorter or longer.
    pub fn check(self) -> Result<(), Refusal> {
        let length = self.seconds();
        let words = |seconds: i64| GoDuration::from_seconds(seconds).to_string();
        let refused = |detail: String| Err(Refusal::Invalid { shown: words(length), detail });
        match LENGTHS {
            [_, longest] if length > longest => {
                refused(format!("time window must not be greater than {}", words(longest)))
            }
            [shortest, _] if length < shortest => {
                refused(format!("time window must not be smaller than {}", words(shortest)))
            }
            _ => Ok(()),
        }
    }

    /// Whether it contains a time, ignoring fractions of seconds (GDN-WIN-001).
    #[must_use]
    pub fn contains(self, time: Timestamp) -> bool {
        let time = TimeOfDay::at(time);
        if self.end < self.begin {
            return time >= self.begin || time <= self.end;
        }
        (self.begin..=self.end).contains(&time)
    }

    /// The duration from `now` until a random time in the next window. `below` returns a number below its argument.
    ///
    /// Within a window, the next one is that of the following day (GDN-WIN-005, GDN-WIN-009), or, with `in_this`, the
    /// rest of the current one (GDN-WIN-006).
    #[must_use]
    pub fn until_next(self, now: Timestamp, in_this: bool, below: impl FnOnce(u64) -> u64) -> Duration {
        let within = self.contains(now);
        let today = i128::from(seconds_since_epoch(now).div_euclid(DAY) * DAY) * NANOS;
        let at = |time: TimeOfDay| today + i128::from(time.seconds) * NANOS;
        let now = now.as_nanosecond();
        let (mut begin, mut end) = (at(self.begin), at(self.begin) + i128::from(self.seconds()) * NANOS);
        if within && now < begin {
            // It began yesterday.
            let day = i128::from(DAY) * NANOS;
            (begin, end) = (begin - day, end - day);
        }
        if within && in_this {
            return nanos(random(end - now, below));
        }
        while begin < now {
            let day = i128::from(DAY) * NANOS;
            (begin, end) = (begin + day, end + day);
        }
        nanos(begin - now + random(end - begin, below))
    }

    /// Its length in seconds.
    fn seconds(self) -> i64 {
        let seconds = self.end.seconds - self.begin.seconds;
        if seconds <= 0 { seconds + DAY } else { seconds }
    }
}

impl fmt::Display for Window {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "begin={}, end={}", self.begin, self.end)
    }
}

fn seconds_since_epoch(time: Timestamp) -> i64 {
    i64::try_from(time.as_nanosecond().div_euclid(NANOS)).expect("a timestamp's seconds fit")
}

/// A random part of a span; 0 if the span is not positive.
fn random(span: i128, below: impl FnOnce(u64) -> u64) -> i128 {
    match u64::try_from(span) {
        Ok(span) if span > 0 => i128::from(below(span)),
        _ => 0,
    }
}

fn nanos(nanos: i128) -> Duration {
    Duration::from_nanos(u64::try_from(nanos).unwrap_or_default())
}

#[cfg(test)]
mod tests;
