//! Points in time in RFC 3339, as Kubernetes writes them: `2024-06-01T00:00:00Z`.

mod go;

use jiff::Timestamp;
use jiff::civil::Date;

pub use go::{Layout, read, write};

/// Nanoseconds since 1970 of a text; `None` if Go's `time.Parse(time.RFC3339, …)` rejects it: `T` and `Z` must be upper
/// case, an offset must have a colon, seconds go to 59.
#[must_use]
pub fn nanos(text: &str) -> Option<i128> {
    read(text, Layout::Seconds).ok()
}

/// The same for a `MicroTime`, whose fraction has exactly six digits.
#[must_use]
pub fn micro_nanos(text: &str) -> Option<i128> {
    read(text, Layout::Micros).ok()
}

/// Whether a text is a `date-time` of OpenAPI, as Kubernetes validates custom resources: `t` and `z` may be lower case, any
/// character may precede the fraction, and the value of the offset is not checked.
#[must_use]
pub fn is_date_time(text: &str) -> bool {
    let text = text.to_lowercase();
    let mut parts = text.split('t');
    let (Some(date), Some(clock)) = (parts.next(), parts.next()) else { return false };
    is_date(date) && is_clock(clock).is_some()
}

/// Whether a text is a date, `2024-06-01`.
#[must_use]
pub fn is_date(text: &str) -> bool {
    text.is_ascii() && text.len() == 10 && date(text).is_some()
}

/// Parses the date at the beginning of a text.
fn date(text: &str) -> Option<Date> {
    let bytes = text.as_bytes();
    if bytes.get(4) != Some(&b'-') || bytes.get(7) != Some(&b'-') {
        return None;
    }
    Date::new(digits(text.get(..4)?)?, digits(text.get(5..7)?)?, digits(text.get(8..10)?)?).ok()
}

/// Accepts `15:04:05`, a fraction after any character, and `z` or an offset such as `+01:00`.
fn is_clock(clock: &str) -> Option<()> {
    let (hour, minute, second) = (clock.get(..2)?, clock.get(2..5)?, clock.get(5..8)?);
    let is_up_to = |part: &str, most: i8| {
        let number = part.strip_prefix(':').unwrap_or(part);
        digits::<i8>(number).is_some_and(|number| number <= most)
    };
    if !(is_up_to(hour, 23)
        && minute.starts_with(':')
        && is_up_to(minute, 59)
        && second.starts_with(':')
        && is_up_to(second, 59))
    {
        return None;
    }
    let rest = &clock[8..];
    let zone = |zone: &str| {
        zone == "z"
            || (zone.len() == 6 && zone.starts_with(['+', '-']) && {
                let (hours, minutes) = (zone.get(1..3), zone.get(4..6));
                zone.as_bytes()[3] == b':'
                    && [hours, minutes].iter().all(|two| two.is_some_and(|two| digits::<i8>(two).is_some()))
            })
    };
    let fraction = || {
        let mut letters = rest.chars();
        letters.next()?;
        let after = letters.as_str();
        let end = after.find(|letter: char| !letter.is_ascii_digit()).filter(|end| *end > 0)?;
        zone(&after[end..]).then_some(())
    };
    if zone(rest) { Some(()) } else { fraction() }
}

fn digits<T: std::str::FromStr>(text: &str) -> Option<T> {
    let all = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if all { text.parse().ok() } else { None }
}

/// Formats a time as RFC 3339 in UTC, with a fraction only if it is not zero; `None` outside the years 0 to 9999.
#[must_use]
pub fn to_string(nanos: i128) -> Option<String> {
    let text = Timestamp::from_nanosecond(nanos).ok()?.to_string();
    (!text.starts_with('-')).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_read_with_zone_and_fraction() {
        assert_eq!(nanos("1970-01-01T00:00:01Z"), Some(1_000_000_000));
        assert_eq!(nanos("1970-01-01T01:00:00.5+01:00"), Some(500_000_000));
        assert_eq!(nanos("1970-01-01"), None);
        assert_eq!(nanos("1970-01-01 00:00:00Z"), None);
        assert_eq!(nanos("no time at all, however long"), None);
    }

    #[test]
    fn case_07_malformed_times_are_rejected() {
        let table = [
            ("2021-04-27T14:48:16Z", true, true),
            ("2021-04-27T14:48:16.5+02:00", true, true),
            ("2021-04-27T14:48:16,5Z", true, true),
            ("2021-04-27T4:48:16Z", true, false),
            ("2021-04-27t14:48:16z", false, true),
            ("2021-04-27T14:48:16+0200", false, false),
            ("2021-04-27T14:48:60Z", false, false),
            ("2021-04-27T14:48Z", false, false),
            ("2021-04-27T14:48:16+02:00[Europe/Berlin]", false, false),
            ("20210427T144816Z", false, false),
            ("2021-04-27T14:48:16+02", false, false),
            ("2021-04-27 14:48:16Z", false, false),
            ("2021-02-29T14:48:16Z", false, false),
            ("2021-04-27T24:00:00Z", false, false),
            ("2021-04-27T14:48:16.Z", false, false),
        ];
        for (text, go, custom) in table {
            assert_eq!((nanos(text).is_some(), is_date_time(text)), (go, custom), "{text}");
        }
        for (text, want) in [
            ("2021-04-27T14:48:16.240872Z", true),
            ("2021-04-27T14:48:16.2408726Z", false),
            ("2021-04-27T14:48:16.24087Z", false),
            ("2021-04-27T14:48:16Z", false),
        ] {
            assert_eq!(micro_nanos(text).is_some(), want, "{text}");
        }
    }

    #[test]
    fn times_are_formatted_in_utc() {
        assert_eq!(to_string(0).as_deref(), Some("1970-01-01T00:00:00Z"));
        assert_eq!(to_string(1_500_000_000).as_deref(), Some("1970-01-01T00:00:01.5Z"));
        assert_eq!(to_string(i128::MAX), None);
    }
}
