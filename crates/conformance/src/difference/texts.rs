//! Texts: systemd units by option, documents by field, command lines by flag, everything else by line.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use formats::unit::{self, UnitOption};
use formats::{command_line, yaml};
use serde_json::Value;

use super::{EditKind, Edits, flags, lists};

/// The section whose options are shown without its name.
const USUAL_SECTION: &str = "Service";

/// A value as a report writes it.
pub(super) fn read(text: Option<&str>) -> Value {
    match text {
        None | Some("absent") => Value::Null,
        Some("\"\"") => Value::String(String::new()),
        Some(text) if text.starts_with(['[', '{']) => {
            formats::json::document(text.as_bytes()).unwrap_or_else(|_| Value::String(text.to_owned()))
        }
        Some(text) => Value::String(text.to_owned()),
    }
}

/// Reads an expected list in words (`[a, b]`) as a list if the other side is a list of words.
pub(super) fn alike(before: Value, after: Value) -> (Value, Value) {
    let Value::Array(items) = &after else { return (before, after) };
    let text = before
        .as_str()
        .and_then(|text| text.trim_end_matches(" in any order").strip_prefix("exactly ").or(Some(text)));
    let inner =
        text.and_then(|text| text.trim_end_matches(" in any order").strip_prefix('[')?.strip_suffix(']'));
    match inner {
        Some(inner) if items.iter().all(Value::is_string) => {
            let words = inner.split(", ").filter(|word| !word.is_empty());
            (words.map(Value::from).collect(), after)
        }
        _ => (before, after),
    }
}

/// Whether two texts are compared by their parts.
pub(super) fn has_parts(a: &str, b: &str) -> bool {
    let is_long = |text: &str| text.contains('\n') || is_line_of_flags(text) || text.starts_with(['{', '[']);
    is_long(a) || is_long(b) || (decoded(a).is_some() && decoded(b).is_some())
}

pub(super) fn collect(edits: &mut Edits, a: &str, b: &str) {
    if let (Some(a), Some(b)) = (decoded(a), decoded(b)) {
        return edits.collect(&Value::String(a), &Value::String(b));
    }
    if !a.contains('\n') && !b.contains('\n') && (is_line_of_flags(a) || is_line_of_flags(b)) {
        return flags::collect(edits, &command_line::words(a), &command_line::words(b));
    }
    let before = edits.edits.len();
    if let (Some(a), Some(b)) = (options(a), options(b)) {
        units(edits, &a, &b);
    } else if let (Some(a), Some(b)) = (document(a), document(b)) {
        edits.collect(&a, &b);
    }
    // Comments and layout, which a program ignores, may be all that differs.
    if edits.edits.len() == before {
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<String>>();
        lists::sequence(edits, &lines(a), &lines(b));
    }
    if edits.edits.len() == before {
        edits.add(None, EditKind::Changed { before: a.to_owned(), after: b.to_owned() });
    }
}

fn is_line_of_flags(text: &str) -> bool {
    text.contains(" --") || text.starts_with("--")
}

/// The text that is written as Base64, if it has several lines.
fn decoded(text: &str) -> Option<String> {
    if text.len() < 16 || text.contains(char::is_whitespace) {
        return None;
    }
    let text = String::from_utf8(STANDARD.decode(text).ok()?).ok()?;
    let is_readable = text.chars().all(|letter| !letter.is_control() || matches!(letter, '\n' | '\t' | '\r'));
    (is_readable && text.contains('\n')).then_some(text)
}

/// The options of a text that is a systemd unit.
fn options(text: &str) -> Option<Vec<UnitOption>> {
    text.lines().any(|line| line.starts_with('[') && line.trim_end().ends_with(']')).then_some(())?;
    unit::options(text).ok().filter(|options| !options.is_empty())
}

/// The fields of a text that is a document in YAML or JSON.
fn document(text: &str) -> Option<Value> {
    text.contains(": ").then_some(())?;
    yaml::from_str::<Value>(text)
        .ok()
        .filter(|document| document.as_object().is_some_and(|map| !map.is_empty()))
}

fn units(edits: &mut Edits, a: &[UnitOption], b: &[UnitOption]) {
    type Values = BTreeMap<(String, String), Vec<String>>;
    let grouped = |options: &[UnitOption]| {
        let mut values = Values::new();
        for UnitOption { section, name, value } in options {
            values.entry((section.clone(), name.clone())).or_default().push(unit::joined(value));
        }
        values
    };
    let (a, b) = (grouped(a), grouped(b));
    let names = a.keys().chain(b.keys().filter(|name| !a.contains_key(*name)));
    for key @ (section, name) in names {
        let none = Vec::new();
        let (before, after) = (a.get(key).unwrap_or(&none), b.get(key).unwrap_or(&none));
        if before == after {
            continue;
        }
        let name = if section == USUAL_SECTION { name.clone() } else { format!("[{section}] {name}") };
        match (before.as_slice(), after.as_slice()) {
            ([before], [after]) => {
                edits.named(Some(&name), &Value::String(before.clone()), &Value::String(after.clone()));
            }
            ([], after) => {
                for value in after {
                    edits.add(Some(&name), EditKind::Added(value.clone()));
                }
            }
            (before, []) => {
                for value in before {
                    edits.add(Some(&name), EditKind::Gone(value.clone()));
                }
            }
            (before, after) => edits.within(name, |edits| lists::sequence(edits, before, after)),
        }
    }
}
