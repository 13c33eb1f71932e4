//! Base64 as Go's decoder of bytes in JSON reads it: line breaks anywhere are ignored, and the last character may have bits that
//! count for nothing.
//!
//! Source: package encoding/base64 of Go 1.26 (`StdEncoding`).

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};

const LENIENT: GeneralPurpose =
    GeneralPurpose::new(&STANDARD, GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true));

/// A text that is not base64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("illegal base64 data at input byte {at}")]
pub struct Illegal {
    /// The offset in bytes.
    pub at: usize,
}

/// Decodes a text.
///
/// # Errors
/// With the offset that Go reports.
pub fn decode(text: &str) -> Result<Vec<u8>, Illegal> {
    check(text.as_bytes())?;
    let text: String = text.chars().filter(|letter| !matches!(letter, '\n' | '\r')).collect();
    LENIENT.decode(text).map_err(|_| Illegal { at: 0 })
}

/// Encodes bytes, with padding and without line breaks.
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    LENIENT.encode(bytes)
}

/// Finds the first illegal byte.
fn check(text: &[u8]) -> Result<(), Illegal> {
    let is_break = |at: usize| matches!(text.get(at), Some(b'\n' | b'\r'));
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    // The position in the group of four.
    let (mut at, mut place) = (0, 0);
    while let Some(byte) = text.get(at).copied() {
        match byte {
            b'\n' | b'\r' => {}
            byte if is_digit(byte) => place = (place + 1) % 4,
            b'=' if place >= 2 => return check_padding(text, at, place == 2, is_break),
            _ => return Err(Illegal { at }),
        }
        at += 1;
    }
    if place == 0 { Ok(()) } else { Err(Illegal { at: text.len() - unfinished(text) }) }
}

/// The length of the last, incomplete group; Go counts only its digits.
fn unfinished(text: &[u8]) -> usize {
    text.iter().filter(|byte| !matches!(byte, b'\n' | b'\r')).count() % 4
}

/// Checks what follows the first `=` at this offset.
fn check_padding(
    text: &[u8],
    at: usize,
    needs_second: bool,
    is_break: impl Fn(usize) -> bool,
) -> Result<(), Illegal> {
    let mut next = at + 1;
    if needs_second {
        while is_break(next) {
            next += 1;
        }
        match text.get(next) {
            None => return Err(Illegal { at: text.len() }),
            Some(b'=') => next += 1,
            Some(_) => return Err(Illegal { at: next - 1 }),
        }
    }
    while is_break(next) {
        next += 1;
    }
    if next < text.len() { Err(Illegal { at: next }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_58_line_breaks_and_spare_bits_are_ignored() {
        let table: [(&str, Result<&[u8], usize>); 16] = [
            ("YWJj", Ok(b"abc")),
            ("YW\nJj", Ok(b"abc")),
            ("YWJj\n\n", Ok(b"abc")),
            ("YWI=\r\n", Ok(b"ab")),
            ("YQ=\n=", Ok(b"a")),
            ("YR==", Ok(b"a")),
            ("", Ok(b"")),
            ("\n", Ok(b"")),
            ("%%%", Err(0)),
            ("YWJ", Err(0)),
            ("YWJjY", Err(4)),
            ("Y===", Err(1)),
            ("YQ=", Err(3)),
            ("YQ=x", Err(2)),
            ("YQ==YQ==", Err(4)),
            ("YW Jj", Err(2)),
        ];
        for (text, want) in table {
            let want = want.map(<[u8]>::to_vec).map_err(|at| Illegal { at });
            assert_eq!(decode(text), want, "{text:?}");
        }
    }
}
