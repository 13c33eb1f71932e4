//! systemd units: sections, options, and for each option its values in order.
//!
//! Read as systemd does, written as go-systemd does, whose notation Gardener's extensions share.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use thiserror::Error;

/// Why a text is no unit.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UnitError {
    /// An option stands before any section.
    #[error("line {0}: option outside of a section")]
    NoSection(usize),
    /// Blanks stand behind a backslash at the end: to systemd it continues nothing, to whoever wrote it most likely it does.
    #[error("line {0}: blanks behind a backslash at the end of a line, which continues nothing")]
    Blanks(usize),
    /// A line is neither section, option nor comment.
    #[error("line {0}: expected [section] or option=value")]
    Line(usize),
}

/// One option of a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitOption {
    /// Name of its section, `Service`.
    pub section: String,
    /// Its name, `ExecStart`.
    pub name: String,
    /// Its value without blanks around it. A value over several lines keeps the backslashes and line breaks between
    /// them; [`joined`] makes one line of it.
    pub value: String,
}

/// The options of a unit, in the order of the text; comments, empty lines and sections without options are left out.
///
/// # Errors
/// Where a line is none of a unit, with its number from 1.
pub fn options(text: &str) -> Result<Vec<UnitOption>, UnitError> {
    let entries = entries(text)?;
    let option = |entry| match entry {
        Entry::Section(_) => None,
        Entry::Option(option) => Some(option),
    };
    Ok(entries.into_iter().filter_map(option).collect())
}

/// The text of options: each section where its first option stands, its options in their order, a blank line between
/// sections.
#[must_use]
pub fn write(options: &[UnitOption]) -> String {
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    let mut sections: Vec<String> = Vec::new();
    for UnitOption { section, name, value } in options {
        let at = *known.entry(section).or_insert_with(|| {
            sections.push(format!("[{section}]\n"));
            sections.len() - 1
        });
        sections[at].extend([name, "=", value, "\n"]);
    }
    sections.join("\n")
}

/// The values of an option that count, by their places: an empty one takes back those before it.
#[must_use]
pub fn effective(options: &[UnitOption], section: &str, name: &str) -> Vec<usize> {
    let said =
        options.iter().enumerate().filter(|(_, option)| option.section == section && option.name == name);
    let mut places = Vec::new();
    for (place, option) in said {
        if joined(&option.value).trim().is_empty() {
            places.clear();
        } else {
            places.push(place);
        }
    }
    places
}

/// A value as one line: a backslash at the end of a line, and the blanks around it, are one blank.
#[must_use]
pub fn joined(value: &str) -> String {
    let mut lines = value.split("\\\n");
    let mut line = lines.next().unwrap_or_default().to_owned();
    for next in lines {
        line.truncate(line.trim_end().len());
        line.push(' ');
        line.push_str(next.trim());
    }
    line
}

/// A unit as `{section: {option: [value, …]}}`.
///
/// An option that stands several times, also in several sections of one name, has its values in the order of the
/// text, empty ones too; a backslash at the end of a line joins the next one with a blank, and comments are left out.
///
/// # Errors
/// Where a line is none of a unit, with its number from 1.
pub fn parse(text: &str) -> Result<Value, UnitError> {
    let mut unit = Map::new();
    let section = |unit: &mut Map<String, Value>, name: &str, option: Option<(String, Value)>| {
        let options = unit.entry(name).or_insert_with(|| Value::Object(Map::new()));
        if let (Value::Object(options), Some((name, value))) = (options, option)
            && let Value::Array(values) = options.entry(name).or_insert_with(|| Value::Array(Vec::new()))
        {
            values.push(value);
        }
    };
    for entry in entries(text)? {
        match entry {
            Entry::Section(name) => section(&mut unit, &name, None),
            Entry::Option(option) => {
                section(&mut unit, &option.section, Some((option.name, Value::from(joined(&option.value)))));
            }
        }
    }
    Ok(Value::Object(unit))
}

/// The text of a unit; a scalar in the place of a list is its one value. `None` for what is no map of sections to maps
/// of options.
#[must_use]
pub fn to_string(unit: &Value) -> Option<String> {
    let mut sections = Vec::new();
    for (name, options) in unit.as_object()? {
        let mut text = format!("[{name}]\n");
        for (option, values) in options.as_object()? {
            let values = values.as_array().map_or_else(|| std::slice::from_ref(values), Vec::as_slice);
            for value in values {
                let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                text.extend([option, "=", &value, "\n"]);
            }
        }
        sections.push(text);
    }
    Some(sections.join("\n"))
}

enum Entry {
    Section(String),
    Option(UnitOption),
}

fn entries(text: &str) -> Result<Vec<Entry>, UnitError> {
    let mut found = Vec::new();
    let mut section: Option<String> = None;
    for (number, line) in logical_lines(text)? {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = Some(name.to_owned());
            found.push(Entry::Section(name.to_owned()));
            continue;
        }
        let (name, value) = line.split_once('=').ok_or(UnitError::Line(number))?;
        let section = section.clone().ok_or(UnitError::NoSection(number))?;
        let (name, value) = (name.trim_end().to_owned(), value.trim_start().to_owned());
        found.push(Entry::Option(UnitOption { section, name, value }));
    }
    Ok(found)
}

/// Lines with their continuations as they are written, without empty ones and comments; with the number of their first
/// line.
fn logical_lines(text: &str) -> Result<Vec<(usize, String)>, UnitError> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    let mut open = false;
    for (index, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        if trimmed.starts_with(['#', ';']) {
            continue;
        }
        let continues = is_continued(line);
        if !continues && is_continued(trimmed) {
            return Err(UnitError::Blanks(index + 1));
        }
        match lines.last_mut() {
            // Nothing follows a backslash: it says nothing.
            Some((_, last)) if open && trimmed.is_empty() => close(last),
            Some((_, last)) if open => {
                last.push('\n');
                last.push_str(line.trim_end());
            }
            _ if trimmed.is_empty() => {}
            _ => lines.push((index + 1, trimmed.to_owned())),
        }
        open = continues;
    }
    if let (true, Some((_, last))) = (open, lines.last_mut()) {
        close(last);
    }
    Ok(lines)
}

/// Whether a line goes on in the next one: an odd number of backslashes ends it, and nothing stands behind them.
fn is_continued(line: &str) -> bool {
    line.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}

/// Takes away the backslash at the end that continues nothing, and what blanks and such backslashes stand before it.
fn close(line: &mut String) {
    loop {
        if is_continued(line) || line.ends_with(char::is_whitespace) {
            line.pop();
        } else {
            return;
        }
    }
}

#[cfg(test)]
mod tests;
