//! Parses numbers and booleans in annotations as Go's `strconv` does, with its error texts.

use webhook::field;

/// Why a text is not a number.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Its syntax is invalid.
    #[error("strconv.{function}: parsing {}: invalid syntax", field::quote(text))]
    Syntax {
        /// The Go function that parses it.
        function: &'static str,
        /// The text.
        text: String,
    },
    /// The number is out of range.
    #[error("strconv.{function}: parsing {}: value out of range", field::quote(text))]
    Range {
        /// The Go function that parses it.
        function: &'static str,
        /// The text.
        text: String,
    },
}

/// Reads a 64-bit decimal integer, sign allowed.
///
/// # Errors
/// When it is not one.
pub fn parse_int(text: &str) -> Result<i64, Error> {
    parse("ParseInt", text)
}

/// Reads a 32-bit decimal integer, sign allowed.
///
/// # Errors
/// When it is not one. The original lets larger numbers overflow; here they are an error.
pub fn atoi(text: &str) -> Result<i32, Error> {
    let function = "Atoi";
    i32::try_from(parse(function, text)?).map_err(|_| Error::Range { function, text: text.to_owned() })
}

/// Parses a boolean; anything unknown is false.
#[must_use]
pub fn is_true(text: &str) -> bool {
    matches!(text, "1" | "t" | "T" | "TRUE" | "true" | "True")
}

fn parse(function: &'static str, text: &str) -> Result<i64, Error> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Error::Syntax { function, text: text.to_owned() });
    }
    text.parse().map_err(|_| Error::Range { function, text: text.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_go_reads_them() {
        let read = |text: &str| parse_int(text).map_err(|error| error.to_string());
        let syntax = |text: &str| Err(format!("strconv.ParseInt: parsing {text:?}: invalid syntax"));
        for text in ["", "-", "+", "1_000", " 1", "0x10", "1.5", "3600s"] {
            assert_eq!(read(text), syntax(text), "{text:?}");
        }
        for (text, number) in [("0", 0), ("-5", -5), ("+7", 7), ("007", 7), ("9223372036854775807", i64::MAX)]
        {
            assert_eq!(read(text), Ok(number), "{text:?}");
        }
        let large = "9223372036854775808";
        assert_eq!(read(large), Err(format!("strconv.ParseInt: parsing {large:?}: value out of range")));
    }

    #[test]
    fn a_replica_count_beyond_32_bits_is_refused() {
        let error = atoi("4294967298").map_err(|error| error.to_string());
        assert_eq!(error, Err("strconv.Atoi: parsing \"4294967298\": value out of range".to_owned()));
        assert_eq!(atoi("-1"), Ok(-1));
    }

    #[test]
    fn only_go_spellings_are_true() {
        let truths: Vec<&str> = ["1", "t", "T", "TRUE", "true", "True", "yes", "tRUE", "0", ""]
            .into_iter()
            .filter(|text| is_true(text))
            .collect();
        assert_eq!(truths, ["1", "t", "T", "TRUE", "true", "True"]);
    }
}
