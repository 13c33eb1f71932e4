//! A stream of JSON values as Go reads it, with Go's words for what is wrong.
//!
//! Whoever writes what was read writes it as Go would, but for these floats, which `serde_json` writes otherwise: from 2^53
//! to below 1e21 (`1e+20`; Go writes all digits), below 1e-5 (`1e-7`, `1e-6`; Go writes `1e-07`, `0.000001`) and -0 (`0`;
//! Go writes `-0`).

mod deep;
mod scan;
mod surrogates;

use std::borrow::Cow;

use serde::Deserialize as _;
use serde_json::{Deserializer, Number, Value};

use crate::depth;

pub use deep::read;

/// Why a stream ends early.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StreamError {
    /// A character stands where it must not.
    #[error("json: offset {offset}: {message}")]
    Syntax {
        /// How many bytes were read, the offending one included.
        offset: usize,
        /// What Go says.
        message: String,
    },
    /// The last value is not finished.
    #[error("unexpected EOF")]
    Unfinished,
    /// It is JSON that cannot be held: nested too deeply, or a number without end.
    #[error("json: {0}")]
    Unreadable(String),
}

/// Values of a text, one after the other. After an error there are none.
#[derive(Debug)]
pub struct Stream<'a> {
    text: Cow<'a, str>,
    read: usize,
}

impl<'a> Stream<'a> {
    /// The values of a text; what is no UTF-8 is replaced, and so are surrogates without their other half.
    #[must_use]
    pub fn new(text: &'a [u8]) -> Self {
        Self { text: surrogates::replaced(String::from_utf8_lossy(text)), read: 0 }
    }
}

impl Iterator for Stream<'_> {
    type Item = Result<Value, StreamError>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = &self.text[self.read..];
        if rest.trim_start_matches([' ', '\t', '\r', '\n']).is_empty() {
            return None;
        }
        let mut values = Deserializer::from_str(rest).into_iter::<Value>();
        let (value, end) = match values.next()? {
            Err(error) if deep::is_too_deep(&error) => Self::deep(rest, error),
            value => (value, values.byte_offset()),
        };
        match value {
            Ok(mut value) => {
                self.read += end;
                print_as_go(&mut value);
                Some(Ok(value))
            }
            Err(error) => {
                let error = explain(rest, self.read, &error);
                self.read = self.text.len();
                Some(Err(error))
            }
        }
    }
}

impl Stream<'_> {
    /// The next value, which has more levels than the library reads, and where it ends.
    fn deep(rest: &str, limit: serde_json::Error) -> (Result<Value, serde_json::Error>, usize) {
        if !depth::fits(deep::nesting(rest)) {
            return (Err(limit), 0);
        }
        let mut values = deep::unlimited(rest);
        let value = Value::deserialize(&mut values);
        (value, values.into_iter::<Value>().byte_offset())
    }
}

/// The one value of a text, as Go's `json.Unmarshal` reads it.
///
/// # Errors
/// With Go's words, where the text is no JSON, ends too early or goes on.
pub fn document(text: &[u8]) -> Result<Value, String> {
    let mut stream = Stream::new(text);
    let value = match stream.next() {
        None | Some(Err(StreamError::Unfinished)) => return Err("unexpected end of JSON input".to_owned()),
        Some(Err(StreamError::Syntax { message, .. } | StreamError::Unreadable(message))) => {
            return Err(message);
        }
        Some(Ok(value)) => value,
    };
    let rest = stream.text[stream.read..].trim_start_matches([' ', '\t', '\r', '\n']);
    match rest.chars().next() {
        None => Ok(value),
        Some(next) => Err(format!("invalid character {next:?} after top-level value")),
    }
}

/// The number that Go would print for a float: whole where it has no fraction and is exact. Nothing for infinity. How the
/// others are printed differs from Go as the module says.
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

fn print_as_go(value: &mut Value) {
    match value {
        Value::Number(old) => {
            let float = if old.is_f64() { old.as_f64() } else { None };
            if let Some(new) = float.and_then(number) {
                *old = new;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(print_as_go),
        Value::Object(fields) => fields.values_mut().for_each(print_as_go),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

fn explain(rest: &str, read: usize, error: &serde_json::Error) -> StreamError {
    if deep::is_too_deep(error) {
        return StreamError::Unreadable(depth::TOO_DEEP.to_owned());
    }
    match scan::fault(rest.as_bytes()) {
        Some(scan::Fault::Syntax { offset, message }) => {
            StreamError::Syntax { offset: read + offset + 1, message }
        }
        Some(scan::Fault::Unfinished) => StreamError::Unfinished,
        None => StreamError::Unreadable(error.to_string()),
    }
}

#[cfg(test)]
mod tests;
