//! Builds nodes from the parser's events: anchors, merge keys, tags, duplicate keys.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;
use serde_saphyr::granit_parser::{Event, Parser, ScalarStyle, ScanError, Span, Tag};

use super::anchors::Anchors;
use super::{Data, Entry, Error, Mark, Node, Scalar, Style, fail, resolve};
use crate::depth;

/// The documents of a text; an empty document after `---` is null.
///
/// # Errors
/// If the text is not YAML, has a duplicate key in a map, or an alias without an anchor.
pub fn parse(text: &str) -> Result<Vec<Node>, Error> {
    let anchors = Anchors::new("too many nodes because of aliases");
    let mut builder = Builder { documents: Vec::new(), open: Vec::new(), anchors };
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| scan_error(&error))?;
        builder.handle(event, span)?;
    }
    Ok(builder.documents)
}

struct Builder {
    documents: Vec<Node>,
    open: Vec<OpenCollection>,
    /// Targets with their depth; their size is the number of nodes.
    anchors: Anchors<(Node, usize)>,
}

/// A list or map whose end was not read yet.
struct OpenCollection {
    start: Mark,
    anchor: usize,
    /// Number of nodes built before it.
    before: usize,
    /// Its depth so far.
    levels: usize,
    data: Partial,
}

enum Partial {
    List(Vec<Node>),
    Map { entries: MapEntries, merged: Vec<Node>, key: Option<Node> },
}

/// Entries in their order, and the line of each key.
#[derive(Default)]
struct MapEntries {
    list: Vec<Entry>,
    lines: BTreeMap<String, usize>,
}

impl Builder {
    fn handle(&mut self, event: Event<'_>, span: Span) -> Result<(), Error> {
        match event {
            Event::DocumentStart(..) => {
                self.anchors.forget();
                Ok(())
            }
            Event::Scalar(text, style, anchor, tag) => {
                let node = scalar(&text, style, tag.as_deref(), span)?;
                self.anchors.count(1, node.start)?;
                self.finish(node, 1, 0, anchor)
            }
            Event::SequenceStart(_, anchor, _) => self.begin(span, anchor, Partial::List(Vec::new())),
            Event::MappingStart(_, anchor, _) => {
                let data = Partial::Map { entries: MapEntries::default(), merged: Vec::new(), key: None };
                self.begin(span, anchor, data)
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(span),
            Event::Alias(anchor) => {
                let levels = self.anchors.target(anchor).map_or(0, |(_, levels)| *levels);
                check_depth(self.open.len() + levels, mark(span))?;
                let ((node, levels), size) = self.anchors.copy(anchor, mark(span))?;
                self.finish(node, size, levels, 0)
            }
            _ => Ok(()),
        }
    }

    fn begin(&mut self, span: Span, anchor: usize, data: Partial) -> Result<(), Error> {
        self.open.push(OpenCollection {
            start: mark(span),
            anchor,
            before: self.anchors.built(),
            levels: 1,
            data,
        });
        check_depth(self.open.len(), mark(span))?;
        self.anchors.count(1, mark(span))
    }

    fn close(&mut self, span: Span) -> Result<(), Error> {
        let Some(OpenCollection { start, anchor, before, levels, data }) = self.open.pop() else {
            return Ok(());
        };
        let data = match data {
            Partial::List(items) => Data::List(items),
            Partial::Map { entries, merged, .. } => Data::Map(merge(entries, merged)?),
        };
        let end = span.end.byte_offset().unwrap_or(start.offset);
        self.finish(Node { data, start, end }, self.anchors.built() - before, levels, anchor)
    }

    fn finish(&mut self, node: Node, size: usize, levels: usize, anchor: usize) -> Result<(), Error> {
        self.anchors.keep(anchor, || (node.clone(), levels), size);
        if let Some(parent) = self.open.last_mut() {
            parent.levels = parent.levels.max(levels + 1);
        }
        match self.open.last_mut().map(|open| &mut open.data) {
            None => self.documents.push(node),
            Some(Partial::List(items)) => items.push(node),
            Some(Partial::Map { key: key @ None, .. }) => *key = Some(node),
            Some(Partial::Map { entries, merged, key }) => {
                let Some(key) = key.take() else { return Ok(()) };
                add_entry(entries, merged, key, node)?;
            }
        }
        Ok(())
    }
}

fn check_depth(levels: usize, at: Mark) -> Result<(), Error> {
    if depth::fits(levels) { Ok(()) } else { Err(fail(depth::TOO_DEEP, at)) }
}

fn add_entry(entries: &mut MapEntries, merged: &mut Vec<Node>, key: Node, value: Node) -> Result<(), Error> {
    let Data::Scalar(scalar) = key.data else {
        return Err(fail("a list or map cannot be a key", key.start));
    };
    let plain = scalar.style == Style::Plain;
    if plain && scalar.text == "<<" {
        merged.push(value);
        return Ok(());
    }
    let name = match scalar.value {
        Value::String(name) => name,
        Value::Null => return Err(fail("null cannot be a key", key.start)),
        other => other.to_string(),
    };
    if let Some(first) = entries.lines.insert(name.clone(), key.start.line) {
        return Err(fail(&format!("duplicate key {name:?}, first in line {first}"), key.start));
    }
    entries.list.push(Entry { key: name, start: key.start, end: key.end, plain, value });
    Ok(())
}

/// Applies merge keys: `<<: *base` adds the entries of the base that the map lacks; the first of several bases wins.
fn merge(entries: MapEntries, merged: Vec<Node>) -> Result<Vec<Entry>, Error> {
    let MapEntries { list: mut entries, lines: mut seen } = entries;
    for base in merged {
        let start = base.start;
        let maps = match base.data {
            Data::List(items) => items,
            _ => vec![base],
        };
        for map in maps {
            let Data::Map(base) = map.data else { return Err(fail("only maps can be merged", start)) };
            for entry in base {
                if !seen.contains_key(&entry.key) {
                    seen.insert(entry.key.clone(), entry.start.line);
                    entries.push(entry);
                }
            }
        }
    }
    Ok(entries)
}

fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>, span: Span) -> Result<Node, Error> {
    let start = mark(span);
    let written = match style {
        ScalarStyle::Plain => Style::Plain,
        ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => Style::Quoted,
        ScalarStyle::Literal | ScalarStyle::Folded => Style::Block,
    };
    let resolved = || resolve_plain(text, start);
    let value = match tag {
        None if written == Style::Plain => resolved()?,
        None => Value::String(text.to_owned()),
        Some(tag) => tagged(text, tag, start)?,
    };
    let data = Data::Scalar(Scalar { text: text.to_owned(), value, style: written });
    Ok(Node { data, start, end: span.end.byte_offset().unwrap_or(start.offset) })
}

/// The value of an unquoted scalar.
pub(super) fn resolve_plain(text: &str, start: Mark) -> Result<Value, Error> {
    resolve(text).map_err(|text| fail(&format!("{text} is no JSON number"), start))
}

/// The name of a tag that YAML itself defines: `int` for `!!int`.
pub(super) fn core_name(tag: &Tag) -> Option<Cow<'_, str>> {
    tag.suffix_in_namespace("tag:yaml.org,2002:")
}

fn tagged(text: &str, tag: &Tag, start: Mark) -> Result<Value, Error> {
    let string = || Value::String(text.to_owned());
    let unknown = || fail(&format!("unknown tag {}", tag.original()), start);
    let name = core_name(tag);
    let core = name.as_deref();
    let fits: fn(&Value) -> bool = match core {
        Some("str" | "binary" | "timestamp") => return Ok(string()),
        None if tag.original() == "!" => return Ok(string()),
        Some("int" | "float") => Value::is_number,
        Some("bool") => Value::is_boolean,
        Some("null") => Value::is_null,
        _ => return Err(unknown()),
    };
    let value = resolve(text).unwrap_or_else(Value::String);
    if fits(&value) {
        Ok(value)
    } else {
        Err(fail(&format!("{text:?} is not a valid {}", core.unwrap_or_default()), start))
    }
}

pub(super) fn mark(span: Span) -> Mark {
    let start = span.start;
    Mark { line: start.line(), column: start.col() + 1, offset: start.byte_offset().unwrap_or_default() }
}

pub(super) fn scan_error(error: &ScanError) -> Error {
    let at = error.marker();
    let mark = Mark { line: at.line(), column: at.col() + 1, offset: at.byte_offset().unwrap_or_default() };
    Error { message: error.info().clone(), mark }
}
