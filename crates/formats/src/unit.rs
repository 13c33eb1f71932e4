//! systemd units: sections, options, and for each option its values in order.
//!
//! Parses as systemd does and writes as go-systemd does, which Gardener's extensions use.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use thiserror::Error;

/// Reason a text is not a unit.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UnitError {
    /// An option precedes the first section.
    #[error("line {0}: option outside of a section")]
    NoSection(usize),
    /// Blanks follow the backslash at the end of a line. To systemd the line does not continue, but the author most likely
    /// meant it to.
    #[error("line {0}: blanks after the backslash at the end of the line, so the line does not continue")]
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
    /// Its value without surrounding blanks. A value of several lines keeps its backslashes and line breaks; [`joined`]
    /// makes one line of it.
    pub value: String,
}

/// The options of a unit, in the order of the text; comments, empty lines and sections without options are omitted.
///
/// # Errors
/// If a line is malformed, with its number from 1.
pub fn options(text: &str) -> Result<Vec<UnitOption>, UnitError> {
    let entries = entries(text)?;
    let option = |entry| match entry {
        UnitEntry::Section(_) => None,
        UnitEntry::Option(option) => Some(option),
    };
    Ok(entries.into_iter().filter_map(option).collect())
}

/// Writes options as a unit: sections in the order of their first options, options in their order, a blank line between
/// sections.
#[must_use]
pub fn write(options: &[UnitOption]) -> String {
    let mut positions: BTreeMap<&str, usize> = BTreeMap::new();
    let mut sections: Vec<String> = Vec::new();
    for UnitOption { section, name, value } in options {
        let at = *positions.entry(section).or_insert_with(|| {
            sections.push(format!("[{section}]\n"));
            sections.len() - 1
        });
        sections[at].extend([name, "=", value, "\n"]);
    }
    sections.join("\n")
}

/// The indices of the effective values of an option: an empty value cancels the earlier ones.
#[must_use]
pub fn effective(options: &[UnitOption], section: &str, name: &str) -> Vec<usize> {
    let occurrences =
        options.iter().enumerate().filter(|(_, option)| option.section == section && option.name == name);
    let mut indices = Vec::new();
    for (index, option) in occurrences {
        if joined(&option.value).trim().is_empty() {
            indices.clear();
        } else {
            indices.push(index);
        }
    }
    indices
}

/// A value as one line: a backslash at the end of a line, with the blanks around it, becomes one blank.
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

/// Parses a unit as `{section: {option: [value, …]}}`.
///
/// A repeated option, also in several sections of one name, has all its values in the order of the text, including empty
/// ones. Continued lines are joined with a blank, and comments are omitted.
///
/// # Errors
/// If a line is malformed, with its number from 1.
pub fn parse(text: &str) -> Result<Value, UnitError> {
    let mut unit = Map::new();
    let insert = |unit: &mut Map<String, Value>, name: &str, option: Option<(String, Value)>| {
        let options = unit.entry(name).or_insert_with(|| Value::Object(Map::new()));
        if let (Value::Object(options), Some((name, value))) = (options, option)
            && let Value::Array(values) = options.entry(name).or_insert_with(|| Value::Array(Vec::new()))
        {
            values.push(value);
        }
    };
    for entry in entries(text)? {
        match entry {
            UnitEntry::Section(name) => insert(&mut unit, &name, None),
            UnitEntry::Option(option) => {
                insert(&mut unit, &option.section, Some((option.name, Value::from(joined(&option.value)))));
            }
        }
    }
    Ok(Value::Object(unit))
}

/// Writes a unit in the form of [`parse`]; a scalar counts as a list of one value. `None` if `unit` is not a map of
/// sections to maps of options.
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

enum UnitEntry {
    Section(String),
    Option(UnitOption),
}

fn entries(text: &str) -> Result<Vec<UnitEntry>, UnitError> {
    let mut found = Vec::new();
    let mut section: Option<String> = None;
    for (number, line) in logical_lines(text)? {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = Some(name.to_owned());
            found.push(UnitEntry::Section(name.to_owned()));
            continue;
        }
        let (name, value) = line.split_once('=').ok_or(UnitError::Line(number))?;
        let section = section.clone().ok_or(UnitError::NoSection(number))?;
        let (name, value) = (name.trim_end().to_owned(), value.trim_start().to_owned());
        found.push(UnitEntry::Option(UnitOption { section, name, value }));
    }
    Ok(found)
}

/// Lines with their unchanged continuation lines, without empty lines and comments; with the number of the first line.
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
            // A backslash before an empty line continues nothing.
            Some((_, last)) if open && trimmed.is_empty() => trim_continuation(last),
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
        trim_continuation(last);
    }
    Ok(lines)
}

/// Whether a line continues in the next one: it ends with an odd number of backslashes.
fn is_continued(line: &str) -> bool {
    line.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}

/// Removes the trailing backslash that continues nothing, and the blanks and further such backslashes before it.
fn trim_continuation(line: &mut String) {
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
