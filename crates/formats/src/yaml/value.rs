//! One document as Kubernetes reads a manifest: of equal keys the last counts, unknown tags are texts.

use std::str;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};
use serde_saphyr::granit_parser::{Event, Parser, ScalarStyle, Tag};

use super::anchors::Anchors;
use super::build::{core_name, fail, mark, resolved, scan_error};
use super::{Error, Mark, resolve};

/// The value of the first document of a text; null where there is none. What follows it is not read.
///
/// # Errors
/// Where the document is no YAML, or says what JSON cannot: a key that is null, a list or a map, infinity.
pub fn first_document(text: &[u8]) -> Result<Value, Error> {
    let text = str::from_utf8(text).map_err(|error| invalid_utf8(text, error.valid_up_to()))?;
    let anchors = Anchors::new("document contains excessive aliasing");
    let mut builder = Builder { document: Value::Null, open: Vec::new(), anchors };
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| scan_error(&error))?;
        if matches!(event, Event::DocumentEnd) {
            break;
        }
        builder.take(event, mark(span))?;
    }
    Ok(builder.document)
}

struct Builder {
    document: Value,
    open: Vec<Open>,
    /// Counts values with what stands in them.
    anchors: Anchors<Value>,
}

/// A list or map that is not closed yet.
struct Open {
    start: Mark,
    anchor: usize,
    /// How much was built before it.
    before: usize,
    data: Partial,
}

enum Partial {
    List(Vec<Value>),
    Map { fields: Map<String, Value>, key: Option<Key> },
}

enum Key {
    Name(String),
    /// `<<`: what follows is added to the map.
    Merge,
}

impl Builder {
    fn take(&mut self, event: Event<'_>, start: Mark) -> Result<(), Error> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                if style == ScalarStyle::Plain && tag.is_none() && text == "<<" && self.begins_merge() {
                    return Ok(());
                }
                let value = scalar(&text, style, tag.as_deref(), start)?;
                self.anchors.count(1, start)?;
                self.done(value, 1, anchor, start)
            }
            Event::SequenceStart(_, anchor, _) => self.begin(start, anchor, Partial::List(Vec::new())),
            Event::MappingStart(_, anchor, _) => {
                self.begin(start, anchor, Partial::Map { fields: Map::new(), key: None })
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(),
            Event::Alias(anchor) => {
                let (value, size) = self.anchors.copy(anchor, start)?;
                self.done(value, size, 0, start)
            }
            _ => Ok(()),
        }
    }

    /// Whether `<<` stands where a key is expected; what follows is then merged.
    fn begins_merge(&mut self) -> bool {
        match self.open.last_mut().map(|open| &mut open.data) {
            Some(Partial::Map { key: key @ None, .. }) => {
                *key = Some(Key::Merge);
                true
            }
            _ => false,
        }
    }

    fn begin(&mut self, start: Mark, anchor: usize, data: Partial) -> Result<(), Error> {
        self.open.push(Open { start, anchor, before: self.anchors.built(), data });
        self.anchors.count(1, start)
    }

    fn close(&mut self) -> Result<(), Error> {
        let Some(Open { start, anchor, before, data }) = self.open.pop() else { return Ok(()) };
        let value = match data {
            Partial::List(items) => Value::Array(items),
            Partial::Map { fields, .. } => Value::Object(fields),
        };
        self.done(value, self.anchors.built() - before, anchor, start)
    }

    fn done(&mut self, value: Value, size: usize, anchor: usize, start: Mark) -> Result<(), Error> {
        self.anchors.keep(anchor, &value, size);
        match self.open.last_mut().map(|open| &mut open.data) {
            None => self.document = value,
            Some(Partial::List(items)) => items.push(value),
            Some(Partial::Map { key: key @ None, .. }) => *key = Some(Key::Name(name(value, start)?)),
            Some(Partial::Map { fields, key }) => match key.take() {
                Some(Key::Name(name)) => {
                    fields.insert(name, value);
                }
                Some(Key::Merge) => merge(fields, value, start)?,
                None => {}
            },
        }
        Ok(())
    }
}

fn name(key: Value, start: Mark) -> Result<String, Error> {
    match key {
        Value::String(name) => Ok(name),
        Value::Null => Err(fail("null cannot be a key", start)),
        Value::Array(_) | Value::Object(_) => Err(fail("a list or map cannot be a key", start)),
        other => Ok(other.to_string()),
    }
}

/// What is merged counts over what stands before it and under what follows; of several maps the first counts.
fn merge(fields: &mut Map<String, Value>, value: Value, start: Mark) -> Result<(), Error> {
    let bases = match value {
        Value::Array(items) => items,
        other => vec![other],
    };
    for base in bases.into_iter().rev() {
        let Value::Object(base) = base else {
            return Err(fail("map merge requires map or sequence of maps as the value", start));
        };
        fields.extend(base);
    }
    Ok(())
}

fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>, start: Mark) -> Result<Value, Error> {
    let string = || Ok(Value::String(text.to_owned()));
    let Some(tag) = tag else {
        return if style == ScalarStyle::Plain { resolved(text, start) } else { string() };
    };
    let name = core_name(tag);
    let fits: fn(&Value) -> bool = match name.as_deref() {
        Some("int" | "float") => Value::is_number,
        Some("bool") => Value::is_boolean,
        Some("null") => Value::is_null,
        Some("binary") => return binary(text, start),
        _ => return string(),
    };
    let value = resolve(text).unwrap_or_else(Value::String);
    if fits(&value) {
        return Ok(value);
    }
    Err(fail(&format!("cannot decode `{text}` as a !!{}", name.unwrap_or_default()), start))
}

/// The text that is encoded; what is no UTF-8 in it is replaced, as JSON cannot hold it.
fn binary(text: &str, start: Mark) -> Result<Value, Error> {
    let text: String = text.chars().filter(|letter| !matches!(letter, '\r' | '\n')).collect();
    let bytes =
        STANDARD.decode(text).map_err(|_| fail("!!binary value contains invalid base64 data", start))?;
    Ok(Value::String(String::from_utf8_lossy(&bytes).into_owned()))
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
    fn a_manifest_means_what_go_takes_it_for() {
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
        ];
        for (text, wanted) in table {
            assert_eq!(read(text), Ok(wanted), "{text}");
        }
    }

    #[test]
    fn what_is_merged_counts_over_what_stands_before_it() {
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
    fn what_json_cannot_say_is_told_with_its_place() {
        let table = [
            ("a: 1\n~: 2", "line 2, column 1: null cannot be a key"),
            ("? [a]\n: 1", "line 1, column 3: a list or map cannot be a key"),
            ("a: -.inf", "line 1, column 4: -.inf is no JSON number"),
            ("a: !!int x", "line 1, column 10: cannot decode `x` as a !!int"),
            ("a: !!binary x", "line 1, column 13: !!binary value contains invalid base64 data"),
            ("a: {<<: 1}", "line 1, column 9: map merge requires map or sequence of maps as the value"),
            ("a: {<<: [1]}", "line 1, column 9: map merge requires map or sequence of maps as the value"),
            ("a: &x [*x]", "line 1, column 8: an alias inside its own anchor"),
        ];
        for (text, wanted) in table {
            assert_eq!(read(text), Err(wanted.to_owned()), "{text}");
        }
        let error = first_document(b"\xc3\xa4: 1\n\xc3\xa4\xff").map_err(|error| error.to_string());
        assert_eq!(error, Err("line 2, column 2: invalid UTF-8".to_owned()));
    }

    proptest::proptest! {
        #[test]
        fn it_agrees_with_the_strict_reader_where_that_has_no_objection(text in "[a-c:,{}&*<\\[\\]\\- \n0-2]{0,40}") {
            if let Ok(nodes) = super::super::parse(&text)
                && !text.contains('<')
            {
                let strict = nodes.first().map_or(Value::Null, super::super::Node::to_value);
                proptest::prop_assert_eq!(read(&text), Ok(strict));
            }
        }
    }
}
