//! Durations in Go's notation: `1h30m`, `1.5s`, `300ms`; nanoseconds in 64 bits.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use thiserror::Error;

/// A span of time in nanoseconds; prints as Go's `time.Duration` does: `1h30m0s`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct GoDuration {
    nanos: i64,
}

/// Reason a text is not a duration; the messages are Go's.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DurationError {
    /// No digits, or the value exceeds 64 bits.
    #[error("time: invalid duration {0:?}")]
    Invalid(String),
    /// A number without a unit.
    #[error("time: missing unit in duration {0:?}")]
    MissingUnit(String),
    /// A unit other than `ns us µs ms s m h`.
    #[error("time: unknown unit {unit:?} in duration {text:?}")]
    UnknownUnit {
        /// The unit.
        unit: String,
        /// The whole text.
        text: String,
    },
}

const SECOND: u64 = 1_000_000_000;
const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", SECOND),
    ("m", 60 * SECOND),
    ("h", 3600 * SECOND),
];
/// The smallest duration is one nanosecond longer than the negated largest.
const LIMIT: u64 = 1 << 63;

impl GoDuration {
    /// A duration of `nanos` nanoseconds.
    #[must_use]
    pub const fn from_nanos(nanos: i64) -> Self {
        Self { nanos }
    }

    /// A duration of `seconds` seconds, limited to what 64 bits of nanoseconds hold.
    #[must_use]
    pub const fn from_seconds(seconds: i64) -> Self {
        Self { nanos: seconds.saturating_mul(1_000_000_000) }
    }

    /// The duration in nanoseconds.
    #[must_use]
    pub const fn nanos(self) -> i64 {
        self.nanos
    }

    /// Converts to the standard library's type; `None` if negative.
    #[must_use]
    pub fn to_std(self) -> Option<std::time::Duration> {
        u64::try_from(self.nanos).ok().map(std::time::Duration::from_nanos)
    }

    /// Parses a duration: a sign, then numbers with fraction and unit. `0` needs no unit.
    ///
    /// # Errors
    /// If Go's `time.ParseDuration` rejects the text, with its message.
    pub fn parse(text: &str) -> Result<Self, DurationError> {
        let invalid = || DurationError::Invalid(text.to_owned());
        let negative = text.starts_with('-');
        let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
        if rest == "0" {
            return Ok(Self::default());
        }
        if rest.is_empty() {
            return Err(invalid());
        }
        let mut total: u64 = 0;
        while !rest.is_empty() {
            let (value, after) = term(rest, text)?;
            total = total.checked_add(value).filter(|total| *total <= LIMIT).ok_or_else(invalid)?;
            rest = after;
        }
        match (negative, i64::try_from(total)) {
            (true, Ok(nanos)) => Ok(Self { nanos: -nanos }),
            (true, Err(_)) => Ok(Self { nanos: i64::MIN }),
            (false, nanos) => nanos.map(|nanos| Self { nanos }).map_err(|_| invalid()),
        }
    }
}

impl Serialize for GoDuration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for GoDuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

impl FromStr for GoDuration {
    type Err = DurationError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

impl fmt::Display for GoDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.nanos.unsigned_abs();
        if self.nanos < 0 {
            f.write_str("-")?;
        }
        match size {
            0 => return f.write_str("0s"),
            1..1_000 => return write!(f, "{size}ns"),
            1_000..1_000_000 => return write!(f, "{}µs", Decimal(size, 1_000)),
            1_000_000..SECOND => return write!(f, "{}ms", Decimal(size, 1_000_000)),
            _ => {}
        }
        let minutes = size / (60 * SECOND);
        if minutes >= 60 {
            write!(f, "{}h", minutes / 60)?;
        }
        if minutes > 0 {
            write!(f, "{}m", minutes % 60)?;
        }
        write!(f, "{}s", Decimal(size % (60 * SECOND), SECOND))
    }
}

/// Prints `.0` in units of `.1`: as a decimal number without trailing zeros.
struct Decimal(u64, u64);

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(value, unit) = self;
        write!(f, "{}", value / unit)?;
        let mut fraction = value % unit;
        if fraction == 0 {
            return Ok(());
        }
        let mut width = unit.ilog10() as usize;
        while fraction % 10 == 0 {
            (fraction, width) = (fraction / 10, width - 1);
        }
        write!(f, ".{fraction:0width$}")
    }
}

/// Parses one number with its unit: its value in nanoseconds, and the rest of the text.
fn term<'a>(rest: &'a str, text: &str) -> Result<(u64, &'a str), DurationError> {
    let invalid = || DurationError::Invalid(text.to_owned());
    let (whole, rest) = digits(rest);
    let (fraction, rest) = rest.strip_prefix('.').map_or(("", rest), digits);
    if whole.is_empty() && fraction.is_empty() {
        return Err(invalid());
    }
    let end = rest.find(|letter: char| letter == '.' || letter.is_ascii_digit()).unwrap_or(rest.len());
    let (unit, rest) = rest.split_at(end);
    if unit.is_empty() {
        return Err(DurationError::MissingUnit(text.to_owned()));
    }
    let Some((_, scale)) = UNITS.iter().find(|(name, _)| *name == unit) else {
        return Err(DurationError::UnknownUnit { unit: unit.to_owned(), text: text.to_owned() });
    };
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| invalid())? };
    let value = whole.checked_mul(*scale).filter(|value| *value <= LIMIT).ok_or_else(invalid)?;
    Ok((value + fraction_nanos(fraction, *scale), rest))
}

/// A fraction of a unit in nanoseconds, with Go's arithmetic: the digits that fit into 63 bits, scaled in floating point
/// and truncated.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "Go computes the fraction in float64, and this must round in the same way"
)]
fn fraction_nanos(fraction: &str, unit: u64) -> u64 {
    let (mut digits, mut scale) = (0_u64, 1.0_f64);
    for digit in fraction.bytes() {
        let next = digits.checked_mul(10).and_then(|digits| digits.checked_add(u64::from(digit - b'0')));
        let Some(next) = next.filter(|next| *next <= LIMIT) else { break };
        (digits, scale) = (next, scale * 10.0);
    }
    (digits as f64 * (unit as f64 / scale)) as u64
}

fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn go_reads_and_prints_these() {
        let table = [
            ("0", "0s"),
            ("0s", "0s"),
            ("-0", "0s"),
            ("+5s", "5s"),
            ("-5s", "-5s"),
            ("1h30m", "1h30m0s"),
            ("90m", "1h30m0s"),
            ("1.5h", "1h30m0s"),
            (".5s", "500ms"),
            ("1.s", "1s"),
            ("100ns", "100ns"),
            ("1500ns", "1.5µs"),
            ("1us", "1µs"),
            ("1µs", "1µs"),
            ("1μs", "1µs"),
            ("1.004s", "1.004s"),
            ("60s", "1m0s"),
            ("24h", "24h0m0s"),
            ("3h4m5.006s", "3h4m5.006s"),
            ("1m1.5ms", "1m0.0015s"),
            ("0.3333333333333333333h", "20m0s"),
            ("0.830103483285477580700h", "49m48.372539827s"),
            ("9223372036854775807ns", "2562047h47m16.854775807s"),
            ("-9223372036854775808ns", "-2562047h47m16.854775808s"),
            ("9h35m", "9h35m0s"),
        ];
        for (text, printed) in table {
            assert_eq!(
                GoDuration::parse(text).map(|duration| duration.to_string()),
                Ok(printed.to_owned()),
                "{text}"
            );
        }
    }

    #[test]
    fn texts_that_go_rejects_have_its_message() {
        let table = [
            ("", r#"time: invalid duration """#),
            ("-", r#"time: invalid duration "-""#),
            ("s", r#"time: invalid duration "s""#),
            (".", r#"time: invalid duration ".""#),
            (".s", r#"time: invalid duration ".s""#),
            ("3", r#"time: missing unit in duration "3""#),
            ("1h3", r#"time: missing unit in duration "1h3""#),
            ("1d", r#"time: unknown unit "d" in duration "1d""#),
            ("1h 2m", r#"time: unknown unit "h " in duration "1h 2m""#),
            ("9223372036854775808ns", r#"time: invalid duration "9223372036854775808ns""#),
            ("3000000h", r#"time: invalid duration "3000000h""#),
        ];
        for (text, wanted) in table {
            let error = GoDuration::parse(text).expect_err(text);
            assert_eq!(error.to_string(), wanted);
        }
    }

    proptest! {
        #[test]
        fn a_printed_duration_parses_to_the_same_value(nanos in any::<i64>()) {
            let duration = GoDuration::from_nanos(nanos);
            prop_assert_eq!(GoDuration::parse(&duration.to_string()), Ok(duration));
        }

        #[test]
        fn no_text_causes_a_panic(text in "[-+]?([0-9]{0,22}(\\.[0-9]{0,25})?(ns|us|µs|ms|s|m|h|d|)){0,4}") {
            let _ = GoDuration::parse(&text);
        }
    }
}
