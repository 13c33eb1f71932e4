//! Reads one document as Kubernetes reads a manifest: by the rules of Go's YAML library, version 2, and of
//! `sigs.k8s.io/yaml` on top of it. The last of equal keys counts; unknown tags are texts.

mod decode;
mod input;
mod key;
mod tree;

use std::borrow::Cow;
use std::str;

use serde_json::Value;

use super::{Error, Mark, fail};

/// The value of the first document of a text; null if there is none. The rest of the text is not read.
///
/// # Errors
/// If the document is not YAML, or has what JSON cannot represent: infinity, or a key that is null, a list or a map.
pub fn first_document(text: &[u8]) -> Result<Value, Error> {
    let tree = tree::read(&decoded(text)?)?;
    decode::value(&tree).map(|(value, _)| value)
}

/// What Go's strict reader reports of the keys that a map of the first document has twice: `line 2: key "a" already set in map`.
/// Empty if the text is not YAML.
#[must_use]
pub fn duplicate_keys(text: &[u8]) -> Vec<String> {
    let read = || decode::value(&tree::read(&decoded(text)?)?);
    let duplicates = read().map(|(_, duplicates)| duplicates).unwrap_or_default();
    duplicates.into_iter().map(|(line, key)| format!("line {line}: key {key:?} already set in map")).collect()
}

/// The text in Unicode, without its byte order mark.
fn decoded(text: &[u8]) -> Result<Cow<'_, str>, Error> {
    let wide = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let (pairs, rest) = bytes.as_chunks::<2>();
        let text = String::from_utf16(&pairs.iter().map(|pair| unit(*pair)).collect::<Vec<_>>());
        text.ok()
            .filter(|_| rest.is_empty())
            .map(Cow::Owned)
            .ok_or_else(|| fail("invalid UTF-16", Mark::default()))
    };
    match text {
        [0xff, 0xfe, rest @ ..] => wide(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => wide(rest, u16::from_be_bytes),
        text => utf8(text).map(|text| Cow::Borrowed(text.trim_start_matches('\u{feff}'))),
    }
}

fn utf8(text: &[u8]) -> Result<&str, Error> {
    str::from_utf8(text).map_err(|error| invalid_utf8(text, error.valid_up_to()))
}

fn invalid_utf8(text: &[u8], offset: usize) -> Error {
    let before = String::from_utf8_lossy(&text[..offset]);
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|letter| *letter != '\n').count() + 1;
    fail("invalid UTF-8", Mark { line, column, offset })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Result<Value, String> {
        first_document(text.as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn manifests_have_the_values_of_go() {
        let table = [
            ("", Value::Null),
            ("# nothing", Value::Null),
            ("a: 1\n---\nb: 2", json!({"a": 1})),
            ("a: 1\n...\nb: [", json!({"a": 1})),
            ("a: 1\nb: 2\na: 3", json!({"a": 3, "b": 2})),
            ("{y: 1, 010: 2, 1.50: 3, \"on\": 4}", json!({"true": 1, "8": 2, "1.5": 3, "on": 4})),
            ("a: !custom 1\nb: !!str 1\nc: ! 1\nd: !!float 1", json!({"a": "1", "b": "1", "c": "1", "d": 1})),
            ("a: !!binary aGVsbG8=\nb: !!timestamp 2024-06-01", json!({"a": "hello", "b": "2024-06-01"})),
            ("a: !!int \"5\"\nb: !!bool yes\nc: !!null ~", json!({"a": 5, "b": true, "c": null})),
            ("a: &x 1\nb: *x\n&k c: *k", json!({"a": 1, "b": 1, "c": "c"})),
            (
                "a: &x [1, {b: 2}]\nc: [*x, *x]",
                json!({"a": [1, {"b": 2}], "c": [[1, {"b": 2}], [1, {"b": 2}]]}),
            ),
            ("\"<<\": 1\na: <<", json!({"<<": 1, "a": "<<"})),
            ("a: |\n  1\nb: >-\n  yes\nc: '1'", json!({"a": "1\n", "b": "yes", "c": "1"})),
            ("a: \"x\\'\\'\\\\/y\"\nb: 'c\\/d'", json!({"a": "x''\\/y", "b": "c\\/d"})),
        ];
        for (text, wanted) in table {
            assert_eq!(read(text), Ok(wanted), "{text}");
        }
    }

    #[test]
    fn keys_of_a_map_that_are_there_twice_are_reported() {
        let table: [(&str, &[&str]); 4] = [
            (
                "{\"a\": 1, \"b\": {\"c\": 1, \"c\": 2}, \"a\": 3}",
                &["line 1: key \"c\" already set in map", "line 1: key \"a\" already set in map"],
            ),
            ("a: 1\nb: 2\na:\n  3", &["line 4: key \"a\" already set in map"]),
            ("a: 1\n---\na: 1\na: 2", &[]),
            ("{", &[]),
        ];
        for (text, want) in table {
            assert_eq!(duplicate_keys(text.as_bytes()), want, "{text}");
        }
    }

    #[test]
    fn merged_entries_override_earlier_ones() {
        let table = [
            ("b: &b {x: 1, y: 2}\na: {x: 0, <<: *b}", json!({"x": 1, "true": 2})),
            ("b: &b {x: 1, y: 2}\na: {<<: *b, x: 0}", json!({"x": 0, "true": 2})),
            ("a: {<<: [{x: 1}, {x: 2, z: 3}]}", json!({"x": 1, "z": 3})),
        ];
        for (text, wanted) in table {
            assert_eq!(read(text).map(|value| value["a"].clone()), Ok(wanted), "{text}");
        }
    }

    #[test]
    fn values_that_json_cannot_represent_are_errors_with_a_position() {
        let table = [
            ("a: 1\n~: 2", "line 2, column 1: null cannot be a key"),
            ("? [a]\n: 1", "line 1, column 3: a list or map cannot be a key"),
            ("a: -.inf", "line 1, column 4: -.inf is no JSON number"),
            ("a: !!int x", "line 1, column 4: cannot decode `x` as a !!int"),
            ("a: !!binary x", "line 1, column 4: !!binary value contains invalid base64 data"),
            ("a: 1\nb: \"c\\/d\"", "line 2, column 4: found unknown escape character"),
            ("a: \"c\\zd\"", "line 1, column 6: found unknown escape character"),
            ("b: 1\na: \"\u{7f}\"", "line 2, column 5: control characters are not allowed"),
            ("a: {<<: 1}", "line 1, column 9: map merge requires map or sequence of maps as the value"),
            ("a: {<<: [1]}", "line 1, column 10: map merge requires map or sequence of maps as the value"),
            ("[!a,b]", "line 1, column 1: a tag must not be followed by a comma"),
            ("a: &x [*x]", "line 1, column 8: an alias inside its own anchor"),
        ];
        for (text, wanted) in table {
            assert_eq!(read(text), Err(wanted.to_owned()), "{text}");
        }
        let error = first_document(b"\xc3\xa4: 1\n\xc3\xa4\xff").map_err(|error| error.to_string());
        assert_eq!(error, Err("line 2, column 2: invalid UTF-8".to_owned()));
    }

    #[test]
    fn an_unquoted_text_in_brackets_may_end_with_a_colon() {
        let text = format!("[{}a:, b]", "a:, ".repeat(99));
        let mut wanted = vec!["a:"; 100];
        wanted.push("b");
        assert_eq!(read(&text), Ok(json!(wanted)));
    }

    proptest::proptest! {
        #[test]
        fn no_text_causes_a_parser_defect(text in "[a-c:,{}&*<>|\\[\\]\\-\"'?!%#~\\\\ \t\r\n0-2\u{85}\u{feff}]{0,60}") {
            let defect = first_document(text.as_bytes()).is_err_and(|error| error.message == tree::DEFECT);
            proptest::prop_assert!(!defect);
        }
    }
}
