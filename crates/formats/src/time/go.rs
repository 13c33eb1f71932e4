//! Times as Go's `time.Parse` reads them in the layouts of Kubernetes' `Time` and `MicroTime`, with its messages, and as those
//! types write them.
//!
//! Source: package time of Go 1.26 (format.go), k8s.io/apimachinery v0.36 (pkg/apis/meta/v1/time.go, micro_time.go).

/// How a type of Kubernetes writes a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// `Time`: RFC 3339, read with a fraction of any length, written in UTC without one.
    Seconds,
    /// `MicroTime`: RFC 3339 with exactly six digits of fraction, in UTC.
    Micros,
}

impl Layout {
    /// Go's notation of the layout.
    fn text(self) -> &'static str {
        match self {
            Self::Seconds => "2006-01-02T15:04:05Z07:00",
            Self::Micros => "2006-01-02T15:04:05.000000Z07:00",
        }
    }

    /// Literal texts and the elements after them.
    fn elements(self) -> &'static [(&'static str, &'static str)] {
        const ELEMENTS: [(&str, &str); 8] = [
            ("", "2006"),
            ("-", "01"),
            ("-", "02"),
            ("T", "15"),
            (":", "04"),
            (":", "05"),
            ("", ".000000"),
            ("", "Z07:00"),
        ];
        const SECONDS: [(&str, &str); 7] =
            [ELEMENTS[0], ELEMENTS[1], ELEMENTS[2], ELEMENTS[3], ELEMENTS[4], ELEMENTS[5], ELEMENTS[7]];
        match self {
            Self::Seconds => &SECONDS,
            Self::Micros => &ELEMENTS,
        }
    }
}

/// The parts of a time as they are read.
#[derive(Default)]
struct Parts {
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    nanos: i64,
    offset: i64,
}

/// Why an element of the layout does not match.
enum Mismatch {
    /// The text has another form.
    Form,
    /// The number of this part is out of range.
    Range(&'static str),
}

use Mismatch::{Form, Range};

/// Nanoseconds since 1970 of a text.
///
/// # Errors
/// Go's message: `parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"`.
pub fn read(text: &str, layout: Layout) -> Result<i128, String> {
    let cannot = |rest: &str, element: &str| {
        let layout = layout.text();
        format!("parsing time {} as {layout:?}: cannot parse {} as {element:?}", quote(text), quote(rest))
    };
    let (mut rest, mut parts) = (text, Parts::default());
    for (literal, element) in layout.elements() {
        rest = rest.strip_prefix(literal).ok_or_else(|| cannot(rest, literal))?;
        rest = element_of(rest, element, layout, &mut parts).map_err(|why| match why {
            Form => cannot(rest, element),
            Range(part) => format!("parsing time {}: {part} out of range", quote(text)),
        })?;
    }
    if !rest.is_empty() {
        return Err(format!("parsing time {}: extra text: {}", quote(text), quote(rest)));
    }
    if parts.day < 1 || parts.day > days_in(parts.year, parts.month) {
        return Err(format!("parsing time {}: day out of range", quote(text)));
    }
    let days = days_since_1970(parts.year, parts.month, parts.day);
    let seconds = ((days * 24 + parts.hour) * 60 + parts.minute) * 60 + parts.second - parts.offset;
    Ok(i128::from(seconds) * 1_000_000_000 + i128::from(parts.nanos))
}

/// A time as its type writes it; `None` for the zero time (year 1), which is written as null.
#[must_use]
pub fn write(nanos: i128, layout: Layout) -> Option<String> {
    let seconds = i64::try_from(nanos.div_euclid(1_000_000_000)).ok()?;
    if seconds == ZERO && nanos.rem_euclid(1_000_000_000) == 0 {
        return None;
    }
    let (days, clock) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = date_of(days);
    let (hour, minute, second) = (clock / 3600, clock / 60 % 60, clock % 60);
    let date = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
    Some(match layout {
        Layout::Seconds => format!("{date}Z"),
        Layout::Micros => format!("{date}.{:06}Z", nanos.rem_euclid(1_000_000_000) / 1000),
    })
}

/// The zero time of Go, 1 January of the year 1, in seconds since 1970.
const ZERO: i64 = -62_135_596_800;

/// Reads one element and returns the rest of the text.
fn element_of<'a>(
    text: &'a str,
    element: &str,
    layout: Layout,
    parts: &mut Parts,
) -> Result<&'a str, Mismatch> {
    let within = |(number, rest): (i64, &'a str), least: i64, most: i64, part| {
        if (least..=most).contains(&number) { Ok((number, rest)) } else { Err(Range(part)) }
    };
    let (number, rest) = match element {
        "2006" => {
            let year =
                text.get(..4).filter(|year| year.bytes().all(|byte| byte.is_ascii_digit())).ok_or(Form)?;
            parts.year = year.parse().map_err(|_| Form)?;
            return Ok(&text[4..]);
        }
        "15" => within(digits(text, false)?, 0, 23, "hour")?,
        "01" => within(digits(text, true)?, 1, 12, "month")?,
        "02" => digits(text, true)?,
        "04" => within(digits(text, true)?, 0, 59, "minute")?,
        "05" => within(digits(text, true)?, 0, 59, "second")?,
        ".000000" => {
            let (nanos, rest) = fraction(text, 6).ok_or(Form)?;
            parts.nanos = nanos;
            return Ok(rest);
        }
        _ => return zone(text, parts),
    };
    match element {
        "15" => parts.hour = number,
        "01" => parts.month = number,
        "02" => parts.day = number,
        "04" => parts.minute = number,
        _ => {
            parts.second = number;
            // A fraction is read although the layout has none.
            let length = rest.bytes().skip(1).take_while(u8::is_ascii_digit).count();
            if layout == Layout::Seconds
                && length > 0
                && let Some((nanos, rest)) = fraction(rest, length)
            {
                parts.nanos = nanos;
                return Ok(rest);
            }
        }
    }
    Ok(rest)
}

/// Reads `Z` or an offset such as `+01:00`; Go accepts 24 hours and 60 minutes.
fn zone<'a>(text: &'a str, parts: &mut Parts) -> Result<&'a str, Mismatch> {
    if let Some(rest) = text.strip_prefix('Z') {
        return Ok(rest);
    }
    let bytes = text.as_bytes();
    if bytes.len() < 6 || bytes[3] != b':' || !text.is_char_boundary(6) {
        return Err(Form);
    }
    let two = |at: usize| text.get(at..at + 2).and_then(|two| digits(two, true).ok());
    let (hours, minutes) = (two(1).ok_or(Form)?.0, two(4).ok_or(Form)?.0);
    if hours > 24 {
        return Err(Range("time zone offset hour"));
    }
    if minutes > 60 {
        return Err(Range("time zone offset minute"));
    }
    let offset = (hours * 60 + minutes) * 60;
    parts.offset = match bytes[0] {
        b'+' => offset,
        b'-' => -offset,
        _ => return Err(Form),
    };
    Ok(&text[6..])
}

/// Reads two digits, or with `fixed` unset also one.
fn digits(text: &str, fixed: bool) -> Result<(i64, &str), Mismatch> {
    let digit = |at: usize| {
        text.as_bytes().get(at).filter(|byte| byte.is_ascii_digit()).map(|byte| i64::from(byte - b'0'))
    };
    match (digit(0), digit(1)) {
        (Some(tens), Some(ones)) => Ok((tens * 10 + ones, &text[2..])),
        (Some(only), None) if !fixed => Ok((only, &text[1..])),
        _ => Err(Form),
    }
}

/// Reads a separator and this many digits of a fraction, as nanoseconds.
fn fraction(text: &str, length: usize) -> Option<(i64, &str)> {
    let digits = text.strip_prefix(['.', ','])?.get(..length)?;
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let nanos = format!("{digits:0<9.9}").parse().ok()?;
    Some((nanos, &text[length + 1..]))
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Days between 1970 and a date, by counting years from March, so that the leap day is the last.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month > 2 { year } else { year - 1 };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + day_of_year - 719_468
}

/// The date this many days after 1970.
fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

/// Quotes as package time does: control characters and all beyond ASCII as `\x` escapes of their bytes.
fn quote(text: &str) -> String {
    use std::fmt::Write as _;
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(letter);
            }
            ' '..='\u{7f}' => quoted.push(letter),
            other => {
                for byte in other.encode_utf8(&mut [0; 4]).bytes() {
                    let _ = write!(quoted, "\\x{byte:02x}");
                }
            }
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(text: &str, layout: Layout) -> String {
        match read(text, layout) {
            Ok(nanos) => write(nanos, layout).unwrap_or_else(|| "null".to_owned()),
            Err(why) => why,
        }
    }

    #[test]
    fn case_58_times_are_written_anew() {
        let cannot = |text: &str, rest: &str, element: &str| {
            format!(
                "parsing time {text:?} as \"2006-01-02T15:04:05Z07:00\": cannot parse {rest:?} as {element:?}"
            )
        };
        let out_of_range = |text: &str, part: &str| format!("parsing time {text:?}: {part} out of range");
        let table = [
            ("2026-01-01T02:00:00.5+02:00", "2026-01-01T00:00:00Z".to_owned()),
            ("2026-01-01T00:00:00,5Z", "2026-01-01T00:00:00Z".to_owned()),
            ("2026-01-01T00:00:00+24:00", "2025-12-31T00:00:00Z".to_owned()),
            ("2026-01-01T00:00:00-24:60", "2026-01-02T01:00:00Z".to_owned()),
            ("0001-01-01T00:00:00Z", "null".to_owned()),
            ("0000-02-29T00:00:00Z", "0000-02-29T00:00:00Z".to_owned()),
            ("9999-12-31T23:59:59-01:00", "10000-01-01T00:59:59Z".to_owned()),
            ("1969-12-31T23:59:59.9Z", "1969-12-31T23:59:59Z".to_owned()),
            ("2026-01-01T1:00:00Z", "2026-01-01T01:00:00Z".to_owned()),
            ("2026-01-01T00:00:00+0200", cannot("2026-01-01T00:00:00+0200", "+0200", "Z07:00")),
            ("2026-01-01t00:00:00z", cannot("2026-01-01t00:00:00z", "t00:00:00z", "T")),
            ("2026-01-01 00:00:00Z", cannot("2026-01-01 00:00:00Z", " 00:00:00Z", "T")),
            ("2026-01-01T00:00:60Z", out_of_range("2026-01-01T00:00:60Z", "second")),
            ("2026-01-01T24:00:00Z", out_of_range("2026-01-01T24:00:00Z", "hour")),
            ("2026-02-29T00:00:00Z", out_of_range("2026-02-29T00:00:00Z", "day")),
            ("2026-13-01T00:00:00Z", out_of_range("2026-13-01T00:00:00Z", "month")),
            ("2026-01-01T00:00:00+25:00", out_of_range("2026-01-01T00:00:00+25:00", "time zone offset hour")),
            ("yesterday", cannot("yesterday", "yesterday", "2006")),
            ("", cannot("", "", "2006")),
            ("2026", cannot("2026", "", "-")),
            ("2026-01-01T00:00:00Zx", "parsing time \"2026-01-01T00:00:00Zx\": extra text: \"x\"".to_owned()),
        ];
        for (text, want) in table {
            assert_eq!(rewritten(text, Layout::Seconds), want, "{text}");
        }
    }

    #[test]
    fn case_58_micro_times_have_six_digits() {
        let cannot = |text: &str, rest: &str, element: &str| {
            format!(
                "parsing time {text:?} as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse {rest:?} as {element:?}"
            )
        };
        let table = [
            ("2026-01-01T02:00:00.000000+02:00", "2026-01-01T00:00:00.000000Z".to_owned()),
            ("2026-01-01T00:00:00,123456Z", "2026-01-01T00:00:00.123456Z".to_owned()),
            ("2026-01-01T00:00:00.123Z", cannot("2026-01-01T00:00:00.123Z", ".123Z", ".000000")),
            ("2026-01-01T00:00:00Z", cannot("2026-01-01T00:00:00Z", "Z", ".000000")),
            ("2026-01-01T00:00:00.123456789Z", cannot("2026-01-01T00:00:00.123456789Z", "789Z", "Z07:00")),
        ];
        for (text, want) in table {
            assert_eq!(rewritten(text, Layout::Micros), want, "{text}");
        }
    }

    #[test]
    fn dates_are_computed_for_all_years() {
        for days in (-800_000..3_000_000).step_by(97) {
            let (year, month, day) = date_of(days);
            assert_eq!(days_since_1970(year, month, day), days);
            assert!((1..=12).contains(&month) && (1..=days_in(year, month)).contains(&day));
        }
        assert_eq!(date_of(0), (1970, 1, 1));
    }
}
