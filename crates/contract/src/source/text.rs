//! Reads a file as UTF-8, and reports where it is not.

use std::fs;
use std::path::Path;

use formats::yaml::Mark;

use super::{NOT_UTF_8, UNREADABLE};
use crate::document::{Error, SourceFile};

/// Encodings that begin with a mark, the longest marks first.
const MARKS: [(&[u8], &str); 4] = [
    (&[0xff, 0xfe, 0, 0], "UTF-32"),
    (&[0, 0, 0xfe, 0xff], "UTF-32"),
    (&[0xff, 0xfe], "UTF-16"),
    (&[0xfe, 0xff], "UTF-16"),
];
/// Length of the character that replaces bytes that are not UTF-8.
const REPLACEMENT: usize = char::REPLACEMENT_CHARACTER.len_utf8();

/// Reads a file.
///
/// # Errors
/// When it cannot be read, or is not UTF-8: with the line and column of the first byte that is not.
pub fn read(path: &Path) -> Result<SourceFile, Error> {
    let name = path.display().to_string();
    match fs::read(path) {
        Ok(bytes) => decode(&name, bytes),
        Err(error) => Err(unreadable(path, &format!("failed to read the file: {error}"))),
    }
}

/// An error about a file or folder without a text.
pub(super) fn unreadable(path: &Path, message: &str) -> Error {
    let file = SourceFile::new(path.display().to_string(), "");
    let remedy = "make it readable, or remove it from the folder".to_owned();
    file.error(Mark { line: 1, column: 1, offset: 0 }, 0, message, Some(remedy)).coded(UNREADABLE)
}

fn decode(name: &str, bytes: Vec<u8>) -> Result<SourceFile, Error> {
    let error = match String::from_utf8(bytes) {
        Ok(text) => return Ok(SourceFile::new(name, text)),
        Err(error) => error,
    };
    let (bytes, valid) = (error.as_bytes(), error.utf8_error().valid_up_to());
    let before = String::from_utf8_lossy(&bytes[..valid]);
    let marked = MARKS.iter().find(|(mark, _)| bytes.starts_with(mark));
    let message = match marked {
        Some((_, encoding)) => format!("the file is {encoding}, not UTF-8"),
        None => format!("byte 0x{:02X} is not UTF-8", bytes[valid]),
    };
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
    let file = SourceFile::new(name, String::from_utf8_lossy(bytes));
    let remedy = "save the file as UTF-8".to_owned();
    Err(file.error(Mark { line, column, offset: valid }, REPLACEMENT, message, Some(remedy)).coded(NOT_UTF_8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_65_the_first_byte_that_is_not_utf_8_is_named_with_line_and_column() {
        let table: [(&[u8], usize, usize, &str); 5] = [
            (b"a: b\n  # caf\xe9\n", 2, 8, "byte 0xE9 is not UTF-8"),
            ("ä: ü".as_bytes(), 0, 0, ""),
            (b"\xc3\xa4\xff", 1, 2, "byte 0xFF is not UTF-8"),
            (b"\xff\xfea\0", 1, 1, "the file is UTF-16, not UTF-8"),
            (b"\xfe\xff\0a", 1, 1, "the file is UTF-16, not UTF-8"),
        ];
        for (bytes, line, column, message) in table {
            match decode("x.yaml", bytes.to_vec()) {
                Ok(_) => assert_eq!(message, ""),
                Err(error) => {
                    let found = (error.location.line, error.location.column, error.message.as_str());
                    assert_eq!(found, (line, column, message));
                }
            }
        }
    }
}
