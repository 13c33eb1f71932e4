//! Streams of JSON values as Go reads them, with Go's error messages.
//!
//! Values that were read print as in Go, except these floats, which `serde_json` prints differently: from 2^53 to below
//! 1e21 (`1e+20`; Go prints all digits), below 1e-5 (`1e-7`, `1e-6`; Go prints `1e-07`, `0.000001`) and -0 (`0`; Go
//! prints `-0`).

mod deep;
mod scan;
mod surrogates;

use std::borrow::Cow;

use serde::Deserialize as _;
use serde_json::{Deserializer, Number, Value};

use crate::depth;

pub use deep::read;

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
    /// The value is valid JSON that cannot be represented: nested too deep, or a number out of range.
    #[error("json: {0}")]
    Unreadable(String),
}

/// Iterates over the values of a text. An error ends the stream.
#[derive(Debug)]
pub struct Stream<'a> {
    text: Cow<'a, str>,
    offset: usize,
}

impl<'a> Stream<'a> {
    /// Reads from `text`; invalid UTF-8 and unpaired surrogates are replaced.
    #[must_use]
    pub fn new(text: &'a [u8]) -> Self {
        Self { text: surrogates::replace_unpaired(String::from_utf8_lossy(text)), offset: 0 }
    }
}

impl Iterator for Stream<'_> {
    type Item = Result<Value, StreamError>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = &self.text[self.offset..];
        if rest.trim_start_matches([' ', '\t', '\r', '\n']).is_empty() {
            return None;
        }
        let mut values = Deserializer::from_str(rest).into_iter::<Value>();
        let (value, end) = match values.next()? {
            Err(error) if deep::is_too_deep(&error) => Self::read_deep(rest, error),
            value => (value, values.byte_offset()),
        };
        match value {
            Ok(mut value) => {
                self.offset += end;
                normalize_floats(&mut value);
                Some(Ok(value))
            }
            Err(error) => {
                let error = stream_error(rest, self.offset, &error);
                self.offset = self.text.len();
                Some(Err(error))
            }
        }
    }
}

impl Stream<'_> {
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

/// Reads the single value of a text, as Go's `json.Unmarshal` does.
///
/// # Errors
/// If the text is not JSON, is incomplete or has trailing data, with Go's message.
pub fn document(text: &[u8]) -> Result<Value, String> {
    let mut stream = Stream::new(text);
    let value = match stream.next() {
        None | Some(Err(StreamError::Unfinished)) => return Err("unexpected end of JSON input".to_owned()),
        Some(Err(StreamError::Syntax { message, .. } | StreamError::Unreadable(message))) => {
            return Err(message);
        }
        Some(Ok(value)) => value,
    };
    let rest = stream.text[stream.offset..].trim_start_matches([' ', '\t', '\r', '\n']);
    match rest.chars().next() {
        None => Ok(value),
        Some(next) => Err(format!("invalid character {next:?} after top-level value")),
    }
}

/// The number that Go would print for a float: an integer if it is exact and has no fraction. `None` for infinity and NaN.
/// The module's documentation lists the floats that print differently.
#[expect(
    clippy::cast_possible_truncation,
    reason = "guarded by the range in which every whole float is exact"
)]
#[must_use]
pub fn number(float: f64) -> Option<Number> {
    let exact = 2_f64.powi(53);
    let is_whole = float.fract() == 0.0 && float.abs() < exact;
    if is_whole { Some(Number::from(float as i64)) } else { Number::from_f64(float) }
}

fn normalize_floats(value: &mut Value) {
    match value {
        Value::Number(old) => {
            let float = if old.is_f64() { old.as_f64() } else { None };
            if let Some(new) = float.and_then(number) {
                *old = new;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(normalize_floats),
        Value::Object(fields) => fields.values_mut().for_each(normalize_floats),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

fn stream_error(rest: &str, consumed: usize, error: &serde_json::Error) -> StreamError {
    if deep::is_too_deep(error) {
        return StreamError::Unreadable(depth::TOO_DEEP.to_owned());
    }
    match scan::find_fault(rest.as_bytes()) {
        Some(scan::Fault::Syntax { offset, message }) => {
            StreamError::Syntax { offset: consumed + offset + 1, message }
        }
        Some(scan::Fault::Unfinished) => StreamError::Unfinished,
        None => StreamError::Unreadable(error.to_string()),
    }
}

#[cfg(test)]
mod tests;
