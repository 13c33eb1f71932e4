//! Parses a time of day with offset as Go's time parser does with the layout `150405-0700`.

use thiserror::Error;

const LAYOUT: &str = "150405-0700";

/// Failure to parse a time of day; with the original's texts.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TimeOfDayError {
    /// A part is missing or not a number.
    #[error(
        "could not parse the value into the maintenanceTime format: parsing time {text:?} as \"150405-0700\": cannot parse \
         {rest:?} as {part:?}"
    )]
    Part {
        /// The text.
        text: String,
        /// The rest of the text at the position of the part.
        rest: String,
        /// The part, as in the layout.
        part: &'static str,
    },
    /// A number is too large.
    #[error(
        "could not parse the value into the maintenanceTime format: parsing time {text:?}: {part} out of range"
    )]
    Range {
        /// The text.
        text: String,
        /// Which number.
        part: &'static str,
    },
    /// Extra text follows.
    #[error(
        "could not parse the value into the maintenanceTime format: parsing time {text:?}: extra text: {rest:?}"
    )]
    Extra {
        /// The text.
        text: String,
        /// The extra text.
        rest: String,
    },
}

/// Seconds since midnight in UTC; the offset may lead outside the day.
pub(super) fn seconds(text: &str) -> Result<i64, TimeOfDayError> {
    let range = |part| TimeOfDayError::Range { text: text.to_owned(), part };
    let failed =
        |rest: &str, part| TimeOfDayError::Part { text: text.to_owned(), rest: rest.to_owned(), part };
    let [hour_part, minute_part, second_part, zone_part] =
        [&LAYOUT[..2], &LAYOUT[2..4], &LAYOUT[4..6], &LAYOUT[6..]];
    let number = |rest: &'_ str, part, most: i64, name| match two_digits(rest) {
        None => Err(failed(rest, part)),
        Some(number) if number > most => Err(range(name)),
        Some(number) => Ok(number),
    };
    let hour = match one_digit(text) {
        // Go reads a single digit as the hour; then the minutes are missing.
        Some(rest) => return Err(failed(rest, minute_part)),
        None => number(text, hour_part, 23, "hour")?,
    };
    let minute = number(&text[2..], minute_part, 59, "minute")?;
    let second = number(&text[4..], second_part, 59, "second")?;
    let rest = without_fraction(&text[6..]);
    let (Some(sign), Some(after)) = (rest.get(..1), rest.get(5..)) else {
        return Err(failed(rest, zone_part));
    };
    let offset = |from: usize| rest.get(from..).and_then(two_digits);
    let (Some(hours), Some(minutes)) = (offset(1), offset(3)) else { return Err(failed(rest, zone_part)) };
    // Go accepts offsets of 24 hours and of 60 minutes.
    match (hours, minutes, sign) {
        (_, 61.., _) => return Err(range("time zone offset minute")),
        (25.., ..) => return Err(range("time zone offset hour")),
        (_, _, "+" | "-") => {}
        _ => return Err(failed(rest, zone_part)),
    }
    if !after.is_empty() {
        return Err(TimeOfDayError::Extra { text: text.to_owned(), rest: after.to_owned() });
    }
    let offset = (hours * 60 + minutes) * 60;
    let local = (hour * 60 + minute) * 60 + second;
    Ok(if sign == "+" { local - offset } else { local + offset })
}

fn two_digits(text: &str) -> Option<i64> {
    let digits = text.get(..2)?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

/// The text after a single digit.
fn one_digit(text: &str) -> Option<&str> {
    let rest = text.strip_prefix(|letter: char| letter.is_ascii_digit())?;
    (!rest.starts_with(|letter: char| letter.is_ascii_digit())).then_some(rest)
}

/// Removes fractions of a second, which Go accepts although the layout has none.
fn without_fraction(text: &str) -> &str {
    let Some(after) = text.strip_prefix(['.', ',']) else { return text };
    let rest = after.trim_start_matches(|letter: char| letter.is_ascii_digit());
    if rest.len() < after.len() { rest } else { text }
}
