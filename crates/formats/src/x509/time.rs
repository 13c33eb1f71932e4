//! Times in DER.

use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};

use super::der::{DerReader, GENERALIZED_TIME, UTC_TIME};

/// Reads a UTCTime or a GeneralizedTime, in seconds since 1970.
pub(super) fn read(reader: &mut DerReader<'_>) -> Option<i64> {
    if reader.next_is(UTC_TIME) {
        let text = std::str::from_utf8(reader.element(UTC_TIME)?.content).ok()?;
        // Go maps two digits to 1969..=2068, and X.509 moves those from 2050 on back by a century.
        let year: i16 = digits(text, 0)?;
        let year = if year >= 50 { 1900 + year } else { 2000 + year };
        return seconds_since_1970(year, text.get(2..)?, true);
    }
    let text = std::str::from_utf8(reader.element(GENERALIZED_TIME)?.content).ok()?;
    seconds_since_1970(digits::<i16>(text, 0)? * 100 + digits::<i16>(text, 2)?, text.get(4..)?, false)
}

/// Parses `MMDDhhmm[ss]` and a zone, which is `Z` or an offset other than zero.
fn seconds_since_1970(year: i16, text: &str, seconds_optional: bool) -> Option<i64> {
    let seconds: Option<i8> = digits(text, 8);
    if seconds.is_none() && !seconds_optional {
        return None;
    }
    let zone = text.get(if seconds.is_some() { 10 } else { 8 }..)?;
    let (month, day) = (digits(text, 0)?, digits(text, 2)?);
    let (hour, minute) = (digits(text, 4)?, digits(text, 6)?);
    let time = DateTime::new(year, month, day, hour, minute, seconds.unwrap_or(0), 0).ok()?;
    let zone = TimeZone::fixed(Offset::from_seconds(offset(zone)?).ok()?);
    time.to_zoned(zone).ok().map(|time| time.timestamp().as_second())
}

/// Parses an offset, in seconds east of UTC.
fn offset(zone: &str) -> Option<i32> {
    if zone == "Z" {
        return Some(0);
    }
    let (hours, minutes): (i32, i32) = (digits(zone, 1)?, digits(zone, 3)?);
    if zone.len() != 5 || hours > 24 || minutes >= 60 || (hours, minutes) == (0, 0) {
        return None;
    }
    match zone.as_bytes()[0] {
        b'+' => Some(hours * 3600 + minutes * 60),
        b'-' => Some(-(hours * 3600 + minutes * 60)),
        _ => None,
    }
}

/// Parses two digits.
fn digits<T: std::str::FromStr>(text: &str, from: usize) -> Option<T> {
    let two = text.get(from..from + 2)?;
    if two.bytes().all(|byte| byte.is_ascii_digit()) { two.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(tag: u8, text: &str) -> Option<i64> {
        let bytes = [&[tag, u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
        read(&mut DerReader::new(&bytes))
    }

    #[test]
    fn times_are_read_as_go_reads_them() {
        let table = [
            (UTC_TIME, "700101000001Z", Some(1)),
            (UTC_TIME, "7001010001Z", Some(60)),
            (UTC_TIME, "491231235959Z", Some(2_524_607_999)),
            (UTC_TIME, "500101000000Z", Some(-631_152_000)),
            (UTC_TIME, "700101010000+0100", Some(0)),
            (UTC_TIME, "700101000000+0000", None),
            (UTC_TIME, "700101000060Z", None),
            (UTC_TIME, "700230000000Z", None),
            (UTC_TIME, "700101000000", None),
            (GENERALIZED_TIME, "20500101000000Z", Some(2_524_608_000)),
            (GENERALIZED_TIME, "205001010000Z", None),
            (GENERALIZED_TIME, "20500101000000.5Z", None),
            (0x04, "700101000001Z", None),
        ];
        for (tag, text, want) in table {
            assert_eq!(seconds(tag, text), want, "{text}");
        }
    }
}
