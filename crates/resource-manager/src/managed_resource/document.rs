//! The documents of one value: a JSON stream where it begins with a brace, else YAML 1.1 split at `---`.

use formats::{json, yaml};
use serde_json::Value;

/// So many bytes are looked at to tell JSON from YAML.
const SNIFFED: usize = 1024;
const SEPARATOR: &str = "---";

/// Why a document describes no object; the texts are the original's as far as its YAML reader is not involved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// Something stands behind `---` on its line.
    #[error("invalid Yaml document separator: {0}")]
    Separator(String),
    /// It is no YAML, or says what JSON cannot.
    #[error("error converting YAML to JSON: yaml: {0}")]
    Yaml(yaml::Error),
    /// It is a text, number, boolean or list.
    #[error("{prefix}json: cannot unmarshal {found} into Go value of type map[string]interface {{}}")]
    NoMap {
        /// What the original's reader of YAML says before.
        prefix: &'static str,
        /// JSON type of the document.
        found: &'static str,
    },
    /// It is no JSON; whatever follows in the same value is not read.
    #[error(transparent)]
    Json(json::StreamError),
}

/// Reads one document after the other. A document that is empty or null is `Ok(None)`.
#[derive(Debug)]
pub struct Documents<'a>(Stream<'a>);

#[derive(Debug)]
enum Stream<'a> {
    Json(json::Stream<'a>),
    Yaml(Lines<'a>),
}

impl<'a> Documents<'a> {
    /// The documents of a value.
    #[must_use]
    pub fn new(value: &'a [u8]) -> Self {
        if is_json(value) {
            Self(Stream::Json(json::Stream::new(value)))
        } else {
            Self(Stream::Yaml(Lines { rest: value }))
        }
    }
}

impl Iterator for Documents<'_> {
    type Item = Result<Option<Value>, DocumentError>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Stream::Json(stream) => {
                Some(stream.next()?.map_err(DocumentError::Json).and_then(|value| map(value, "")))
            }
            Stream::Yaml(lines) => Some(lines.next()?.and_then(|text| from_yaml(&text))),
        }
    }
}

fn is_json(value: &[u8]) -> bool {
    let sniffed = &value[..value.len().min(SNIFFED)];
    let valid = sniffed.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    valid.trim_start().starts_with('{')
}

fn from_yaml(text: &[u8]) -> Result<Option<Value>, DocumentError> {
    let value = yaml::first_document(text).map_err(DocumentError::Yaml)?;
    map(value, "error unmarshaling JSON: while decoding JSON: ")
}

fn map(value: Value, prefix: &'static str) -> Result<Option<Value>, DocumentError> {
    let found = match value {
        Value::Null => return Ok(None),
        Value::Object(_) => return Ok(Some(value)),
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
    };
    Err(DocumentError::NoMap { prefix, found })
}

/// Lines of a YAML stream, gathered up to the next separator.
#[derive(Debug)]
struct Lines<'a> {
    rest: &'a [u8],
}

impl Lines<'_> {
    /// The text of the next document that has lines; a faulty separator costs the lines before it.
    fn next(&mut self) -> Option<Result<Vec<u8>, DocumentError>> {
        let mut document = Vec::new();
        while let Some(line) = self.line() {
            let Some(behind) = line.strip_prefix(SEPARATOR.as_bytes()) else {
                document.extend_from_slice(line);
                document.push(b'\n');
                continue;
            };
            let behind = String::from_utf8_lossy(behind);
            let behind = behind.trim();
            if !behind.is_empty() && !behind.starts_with('#') {
                return Some(Err(DocumentError::Separator(behind.to_owned())));
            }
            if !document.is_empty() {
                return Some(Ok(document));
            }
        }
        (!document.is_empty()).then_some(Ok(document))
    }

    /// The next line without its end, which is a line feed with or without carriage return.
    fn line(&mut self) -> Option<&[u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let end = self.rest.iter().position(|byte| *byte == b'\n').unwrap_or(self.rest.len());
        let line = &self.rest[..end];
        self.rest = self.rest.get(end + 1..).unwrap_or_default();
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }
}
