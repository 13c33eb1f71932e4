//! The documents of one value: a JSON stream if it starts with a brace, otherwise YAML 1.1 split at `---`.

use formats::{json, yaml};
use serde_json::Value;

/// How many bytes are searched to distinguish JSON from YAML.
const SNIFFED: usize = 1024;
const SEPARATOR: &str = "---";

/// Why a document describes no object; the texts are the original's, except those of its YAML parser.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// Text follows `---` on the same line.
    #[error("invalid Yaml document separator: {0}")]
    Separator(String),
    /// It is not valid YAML, or cannot be converted to JSON.
    #[error("error converting YAML to JSON: yaml: {0}")]
    Yaml(yaml::Error),
    /// It is a string, number, boolean or list.
    #[error("{prefix}json: cannot unmarshal {found} into Go value of type map[string]interface {{}}")]
    NoMap {
        /// Prefix that the original's YAML reader adds.
        prefix: &'static str,
        /// JSON type of the document.
        found: &'static str,
    },
    /// It is not valid JSON; the rest of the value is not read.
    #[error(transparent)]
    Json(json::StreamError),
}

/// GRM-MR-130, GRM-MR-133, GRM-MR-134, GRM-MR-136 and GRM-MR-137: reads one document after the other. A document that is empty or null is `Ok(None)`.
#[derive(Debug)]
pub struct Documents<'a>(DocumentStream<'a>);

#[derive(Debug)]
enum DocumentStream<'a> {
    Json(json::Stream<'a>),
    Yaml(Lines<'a>),
}

impl<'a> Documents<'a> {
    /// The documents of a value.
    #[must_use]
    pub fn new(value: &'a [u8]) -> Self {
        if is_json(value) {
            Self(DocumentStream::Json(json::Stream::new(value)))
        } else {
            Self(DocumentStream::Yaml(Lines { rest: value }))
        }
    }
}

impl Iterator for Documents<'_> {
    type Item = Result<Option<Value>, DocumentError>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            DocumentStream::Json(stream) => {
                Some(stream.next()?.map_err(DocumentError::Json).and_then(|value| map(value, "")))
            }
            DocumentStream::Yaml(lines) => Some(lines.next()?.and_then(|text| from_yaml(&text))),
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

/// Splits a YAML stream at separators.
#[derive(Debug)]
struct Lines<'a> {
    rest: &'a [u8],
}

impl Lines<'_> {
    /// The text of the next document. A separator that ends no document belongs to the next one, so two at the very
    /// beginning lead to an empty document; an invalid separator discards the lines before it.
    fn next(&mut self) -> Option<Result<Vec<u8>, DocumentError>> {
        let mut document = Vec::new();
        while let Some(line) = self.line() {
            if let Some(behind) = line.strip_prefix(SEPARATOR.as_bytes()) {
                let behind = String::from_utf8_lossy(behind);
                let behind = behind.trim();
                if !behind.is_empty() && !behind.starts_with('#') {
                    return Some(Err(DocumentError::Separator(behind.to_owned())));
                }
                if !document.is_empty() {
                    return Some(Ok(document));
                }
            }
            document.extend_from_slice(line);
            document.push(b'\n');
        }
        (!document.is_empty()).then_some(Ok(document))
    }

    /// The next line without its end, LF or CRLF.
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

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn read(value: &[u8]) -> Value {
        let documents = Documents::new(value).map(|document| match document {
            Ok(Some(object)) => object,
            Ok(None) => Value::Null,
            Err(error) => Value::from(error.to_string()),
        });
        documents.collect()
    }

    /// A value, and its documents: null for an empty one, a string for an error.
    #[rstest]
    #[case::nothing("", json!([]))]
    #[case::one("a: 1", json!([{"a": 1}]))]
    #[case::two("a: 1\n---\nb: 2\n", json!([{"a": 1}, {"b": 2}]))]
    #[case::separators_around("---\n---\na: 1\n---\n---\nb: 2\n---\n---", json!([null, {"a": 1}, {"b": 2}, null]))]
    #[case::separators_only("---\n", json!([null]))]
    #[case::no_comment("a: 1\n---\n---#b", json!([{"a": 1}, NO_MAP.replace('_', "string")]))]
    #[case::blank_lines("\n---\na: 1\n---\n\n---\n  \n", json!([null, {"a": 1}, null, null]))]
    #[case::comments("# x\n---\na: 1 # y\n--- # z\nb: 2", json!([null, {"a": 1}, {"b": 2}]))]
    #[case::explicit_null("null\n---\n~\n---\n{}", json!([null, null, {}]))]
    #[case::carriage_returns("a: 1\r\n---\r\nb: |\r\n  x\r\n", json!([{"a": 1}, {"b": "x\n"}]))]
    #[case::separator_in_a_text("a: |\n  ---\n  x\nb: \"---\"", json!([{"a": "---\nx\n", "b": "---"}]))]
    #[case::separator_in_front_of_something(
        "a: 1\n--- b\nc: 2\n---\nd: 3", json!(["invalid Yaml document separator: b", {"c": 2}, {"d": 3}])
    )]
    #[case::separator_too_long("a: 1\n----\nb: 2", json!(["invalid Yaml document separator: -", {"b": 2}]))]
    #[case::end_of_document("a: 1\n...\nb: 2\n---\nc: 3", json!([{"a": 1}, {"c": 3}]))]
    #[case::json_among_yaml("a: 1\n---\n{\"b\": 2}\n---\n{\"c\": 3}", json!([{"a": 1}, {"b": 2}, {"c": 3}]))]
    #[case::yaml_11("a: yes\nb: 0644\nc: 1_000\nd: 2024-06-01\ne: 1.0\non: 1", json!([
        {"a": true, "b": 420, "c": 1000, "d": "2024-06-01", "e": 1, "true": 1}
    ]))]
    #[case::the_last_of_equal_keys("a: 1\na: 2", json!([{"a": 2}]))]
    #[case::anchors("a: &x {b: 1}\nc: *x\nd: {<<: *x, e: 2}", json!([{"a": {"b": 1}, "c": {"b": 1}, "d": {"b": 1, "e": 2}}]))]
    #[case::text("a", json!([NO_MAP.replace('_', "string")]))]
    #[case::list("- a\n---\nb: 1", json!([NO_MAP.replace('_', "array"), {"b": 1}]))]
    #[case::number("1\n---\ntrue", json!([NO_MAP.replace('_', "number"), NO_MAP.replace('_', "bool")]))]
    #[case::json(" \n{\"a\": 1.0}{\"b\": 2}\n\n{\"c\": 3} ", json!([{"a": 1}, {"b": 2}, {"c": 3}]))]
    #[case::json_null("{\"a\": 1} null {\"b\": 2}", json!([{"a": 1}, null, {"b": 2}]))]
    #[case::json_of_another_type("{\"a\": 1} [2] {\"b\": 2}", json!([
        {"a": 1}, "json: cannot unmarshal array into Go value of type map[string]interface {}", {"b": 2}
    ]))]
    #[case::json_with_separators("{\"a\": 1}\n---\n{\"b\": 2}\n", json!([
        {"a": 1}, "json: offset 11: invalid character '-' in numeric literal"
    ]))]
    #[case::json_with_separator_behind("{\"a\": 1}\n---\n", json!([
        {"a": 1}, "json: offset 11: invalid character '-' in numeric literal"
    ]))]
    #[case::json_unfinished("{\"a\": 1", json!(["unexpected EOF"]))]
    #[case::yaml_flow_is_taken_for_json("{a: 1}", json!([
        "json: offset 2: invalid character 'a' looking for beginning of object key string"
    ]))]
    #[case::no_yaml("a: b: c\n---\nd: 1", json!([
        "error converting YAML to JSON: yaml: line 1, column 5: mapping values are not allowed in this context", {"d": 1}
    ]))]
    #[case::infinity("a: .inf", json!([
        "error converting YAML to JSON: yaml: line 1, column 4: .inf is no JSON number"
    ]))]
    fn a_value_is_read_document_by_document(#[case] value: &str, #[case] wanted: Value) {
        assert_eq!(read(value.as_bytes()), wanted);
    }

    const NO_MAP: &str = "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal _ into Go value of type map[string]interface {}";

    #[rstest]
    #[case::within(1023, json!([{"a": 1}]))]
    #[case::beyond(1024, json!([{"a": 1}]))]
    fn json_is_recognized_in_the_first_kibibyte(#[case] spaces: usize, #[case] wanted: Value) {
        let text = format!("{}{{\"a\": 1}}", "\n".repeat(spaces));
        assert_eq!(is_json(text.as_bytes()), spaces < 1024);
        assert_eq!(read(text.as_bytes()), wanted);
    }

    #[test]
    fn invalid_utf8_is_an_error() {
        let wanted =
            json!(["error converting YAML to JSON: yaml: line 2, column 4: invalid UTF-8", {"c": 1}]);
        assert_eq!(read(b"a: 1\nb: \xff\n---\nc: 1"), wanted);
    }

    #[test]
    fn nested_aliases_are_bounded() {
        let mut text = "a0: &a0 x\n".to_owned();
        for level in 1..12 {
            let before = format!("*a{},", level - 1).repeat(10);
            let _ = writeln!(text, "a{level}: &a{level} [{}]", before.trim_end_matches(','));
        }
        let error = read(text.as_bytes())[0].as_str().map(str::to_owned).unwrap_or_default();
        assert!(error.starts_with("error converting YAML to JSON: yaml: line "), "{error}");
        assert!(error.ends_with(": document contains excessive aliasing"), "{error}");
    }
}
