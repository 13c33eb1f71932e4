//! JSON as the decoders of apimachinery read it, with Go's error messages: the last of equal keys counts, half a surrogate pair
//! and invalid UTF-8 are U+FFFD, 10,000 levels are the limit, and numbers are as in [`number`].
//!
//! Source: sigs.k8s.io/json v0.0.0-20250730193827 (a copy of Go's encoding/json with integers preserved and exact case).

mod deep;
mod duplicates;
mod escape;
mod number;
mod ordered;
mod scan;
mod surrogates;

use std::borrow::Cow;

use serde::Deserialize as _;
use serde_json::{Deserializer, Value};

use crate::depth;

pub use deep::{exact, read, typed};
pub use duplicates::{Merge, merged, paths as duplicate_fields};
pub use escape::{html_safe, quoted};
pub use number::{append, display, literal, number, reread, text, to_vec};
pub use ordered::{Ordered, occurrences};

/// Reason a stream ends early.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StreamError {
    /// A character is not allowed at its position.
    #[error("json: offset {offset}: {message}")]
    Syntax {
        /// Number of bytes read, the offending one included.
        offset: usize,
        /// Go's message.
        message: String,
    },
    /// The last value is incomplete.
    #[error("unexpected EOF")]
    Unfinished,
    /// The value is valid JSON that cannot be read: deeper than the stack allows, or with a number that no float can hold.
    #[error("json: {0}")]
    Unreadable(String),
}

/// Iterates over the values of a text. An error ends the stream. Floats are as [`reread`] has them, because programs compare
/// these values with what an API server stores.
#[derive(Debug)]
pub struct Stream<'a> {
    text: Cow<'a, str>,
    offset: usize,
}

impl<'a> Stream<'a> {
    /// Reads from `text`; invalid UTF-8 and unpaired surrogates are replaced.
    #[must_use]
    pub fn new(text: &'a [u8]) -> Self {
        let text = surrogates::replace_unpaired(String::from_utf8_lossy(text));
        Self { text: number::without_signs_of_zero(text), offset: 0 }
    }
}

impl Iterator for Stream<'_> {
    type Item = Result<Value, StreamError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut next = self.next_exact()?;
        if let Ok(value) = &mut next {
            reread(value);
        }
        Some(next)
    }
}

impl Stream<'_> {
    /// The next value with floats as they are sent.
    fn next_exact(&mut self) -> Option<Result<Value, StreamError>> {
        let rest = &self.text[self.offset..];
        if rest.trim_start_matches([' ', '\t', '\r', '\n']).is_empty() {
            return None;
        }
        let mut values = Deserializer::from_str(rest).into_iter::<Value>();
        let (value, end) = match values.next()? {
            Err(error) if deep::is_too_deep(&error) => Self::read_deep(rest, error),
            Err(error) => Self::read_undelimited(rest, error),
            value => (value, values.byte_offset()),
        };
        match value {
            Ok(mut value) => {
                self.offset += end;
                number::limit(&mut value);
                Some(Ok(value))
            }
            Err(error) => {
                let error = stream_error(rest, self.offset, &error);
                self.offset = self.text.len();
                Some(Err(error))
            }
        }
    }

    /// Reads the next value if it is a number or a word that something follows at once, as in `0x`: Go reads the value first,
    /// `serde_json` refuses both.
    fn read_undelimited(rest: &str, refused: serde_json::Error) -> (Result<Value, serde_json::Error>, usize) {
        let value = scan::end(rest.as_bytes()).ok().and_then(|end| Some((rest.get(..end)?, end)));
        match value.map(|(value, end)| (serde_json::from_str(value), end)) {
            Some((Ok(value), end)) => (Ok(value), end),
            _ => (Err(refused), 0),
        }
    }

    /// Reads the next value, which has more levels than `serde_json` reads by default, and returns its end.
    fn read_deep(rest: &str, limit: serde_json::Error) -> (Result<Value, serde_json::Error>, usize) {
        if !depth::fits(deep::nesting(rest)) {
            return (Err(limit), 0);
        }
        let mut values = deep::unlimited(rest);
        let value = Value::deserialize(&mut values);
        (value, values.into_iter::<Value>().byte_offset())
    }
}

/// Reads the single value of a text, as Go's `json.Unmarshal` does. A float stays one even if it is whole: no integer of a Go
/// type is read from it.
///
/// # Errors
/// If the text is not JSON, is incomplete or has trailing data, with Go's message.
pub fn document(text: &[u8]) -> Result<Value, String> {
    let mut stream = Stream::new(text);
    let value = match stream.next_exact() {
        None | Some(Err(StreamError::Unfinished)) => return Err("unexpected end of JSON input".to_owned()),
        Some(Err(StreamError::Syntax { message, .. })) => return Err(message),
        Some(Err(error @ StreamError::Unreadable(_))) => return Err(error.to_string()),
        Some(Ok(value)) => value,
    };
    let rest = stream.text[stream.offset..].trim_start_matches([' ', '\t', '\r', '\n']);
    match rest.bytes().next() {
        None => Ok(value),
        Some(next) => Err(format!("invalid character {} after top-level value", scan::go_quoted(next))),
    }
}

/// The same for the decoder of a Go type, which looks at a number only where the type has one: a number that no float can hold is
/// read as the largest float.
///
/// # Errors
/// As [`document`].
pub fn typed_document(text: &[u8]) -> Result<Value, String> {
    match document(text) {
        Err(why) if why.ends_with(NO_FLOAT) => document(&number::within_range(text)),
        read => read,
    }
}

/// The end of the message for a number that no float can hold.
const NO_FLOAT: &str = " into Go value of type float64";

/// The message for a value that Go reads, but this thread cannot.
const TOO_DEEP_FOR_STACK: &str = "the value is nested too deep for the stack of this thread";

fn stream_error(rest: &str, consumed: usize, error: &serde_json::Error) -> StreamError {
    match scan::end(rest.as_bytes()) {
        Err(scan::Fault::Syntax { offset, message }) => {
            StreamError::Syntax { offset: consumed + offset + 1, message }
        }
        Err(scan::Fault::Unfinished) => StreamError::Unfinished,
        Ok(_) if deep::is_too_deep(error) => StreamError::Unreadable(TOO_DEEP_FOR_STACK.to_owned()),
        Ok(_) => {
            let literal = number::out_of_range(rest.as_bytes()).unwrap_or_default();
            StreamError::Unreadable(format!("cannot unmarshal number {literal}{NO_FLOAT}"))
        }
    }
}

#[cfg(test)]
mod tests;
