//! One document as Kubernetes reads a manifest: of equal keys the last counts, unknown tags are texts.

use std::collections::BTreeMap;
use std::str;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};
use serde_saphyr::granit_parser::{Event, Parser, ScalarStyle, Tag};

use super::build::{fail, mark, resolved, scan_error};
use super::{Error, Mark, resolve};

/// More values than this are not built: aliases of aliases grow without bound.
const VALUE_LIMIT: usize = 2_000_000;

/// The value of the first document of a text; null where there is none. What follows it is not read.
///
/// # Errors
/// Where the document is no YAML, or says what JSON cannot: a key that is null, a list or a map, infinity.
pub fn first_document(text: &[u8]) -> Result<Value, Error> {
    let text = str::from_utf8(text).map_err(|error| invalid_utf8(text, error.valid_up_to()))?;
    let mut builder = Builder::default();
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

#[derive(Default)]
struct Builder {
    document: Value,
    open: Vec<Open>,
    /// Values and their sizes.
    anchors: BTreeMap<usize, (Value, usize)>,
    built: usize,
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
                self.count(1, start)?;
                self.done(value, 1, anchor, start)
            }
            Event::SequenceStart(_, anchor, _) => self.begin(start, anchor, Partial::List(Vec::new())),
            Event::MappingStart(_, anchor, _) => {
                self.begin(start, anchor, Partial::Map { fields: Map::new(), key: None })
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(),
            Event::Alias(anchor) => {
                let inside = || fail("an alias inside its own anchor", start);
                let size = self.anchors.get(&anchor).ok_or_else(inside)?.1;
                self.count(size, start)?;
                let value = self.anchors.get(&anchor).map(|(value, _)| value.clone()).unwrap_or_default();
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
        self.open.push(Open { start, anchor, before: self.built, data });
        self.count(1, start)
    }

    fn close(&mut self) -> Result<(), Error> {
        let Some(Open { start, anchor, before, data }) = self.open.pop() else { return Ok(()) };
        let value = match data {
            Partial::List(items) => Value::Array(items),
            Partial::Map { fields, .. } => Value::Object(fields),
        };
        self.done(value, self.built - before, anchor, start)
    }

    fn done(&mut self, value: Value, size: usize, anchor: usize, start: Mark) -> Result<(), Error> {
        if anchor != 0 {
            self.anchors.insert(anchor, (value.clone(), size));
        }
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

    fn count(&mut self, size: usize, at: Mark) -> Result<(), Error> {
        self.built += size;
        if self.built > VALUE_LIMIT { Err(fail("document contains excessive aliasing", at)) } else { Ok(()) }
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
    let fits: fn(&Value) -> bool = match tag.core_suffix() {
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
    Err(fail(&format!("cannot decode `{text}` as a !!{}", tag.core_suffix().unwrap_or_default()), start))
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
