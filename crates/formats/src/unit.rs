//! systemd units: sections, options, and for each option its values in order.

use serde_json::{Map, Value};
use thiserror::Error;

/// Why a text is no unit.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UnitError {
    /// An option stands before any section.
    #[error("line {0}: option outside of a section")]
    NoSection(usize),
    /// A line is neither section, option nor comment.
    #[error("line {0}: expected [section] or option=value")]
    Line(usize),
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
    let mut section: Option<String> = None;
    for (number, line) in logical_lines(text) {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            unit.entry(name).or_insert_with(|| Value::Object(Map::new()));
            section = Some(name.to_owned());
            continue;
        }
        let (option, value) = line.split_once('=').ok_or(UnitError::Line(number))?;
        let name = section.as_ref().ok_or(UnitError::NoSection(number))?;
        let Some(Value::Object(options)) = unit.get_mut(name) else { continue };
        let values = options.entry(option.trim_end()).or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(values) = values {
            values.push(Value::from(value.trim_start()));
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

/// Lines with their continuations, without empty ones and comments; with the number of their first line.
fn logical_lines(text: &str) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    let mut open = false;
    for (index, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        if trimmed.starts_with(['#', ';']) {
            continue;
        }
        let (part, continues) = match trimmed.strip_suffix('\\') {
            Some(part) => (part.trim_end(), true),
            None => (trimmed, false),
        };
        match lines.last_mut() {
            Some((_, last)) if open => {
                last.push(' ');
                last.push_str(part);
            }
            _ if trimmed.is_empty() => {}
            _ => lines.push((index + 1, part.to_owned())),
        }
        open = continues;
    }
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const KUBELET: &str = "# made by hand\n[Unit]\nAfter=docker.service\n\n[Service]\nExecStartPre=/bin/a\n\
        ExecStartPre=/bin/b --x=y\nExecStart=/kubelet \\\n; in between\n    --one \\\n    --two\n[Unit]\nAfter = containerd.service\nWants=\n";

    #[test]
    fn an_option_has_its_values_in_order() {
        let unit = json!({
            "Unit": {"After": ["docker.service", "containerd.service"], "Wants": [""]},
            "Service": {
                "ExecStartPre": ["/bin/a", "/bin/b --x=y"],
                "ExecStart": ["/kubelet --one --two"],
            },
        });
        assert_eq!(parse(KUBELET), Ok(unit));
    }

    #[test]
    fn what_is_written_reads_back() {
        let unit = parse(KUBELET).expect("a unit");
        assert_eq!(to_string(&unit).map(|text| parse(&text)), Some(Ok(unit)));
        assert_eq!(to_string(&json!({"Unit": {"After": "x"}})).as_deref(), Some("[Unit]\nAfter=x\n"));
        assert_eq!(to_string(&json!([])), None);
    }

    #[test]
    fn what_is_no_unit_says_where() {
        assert_eq!(parse("\nAfter=x"), Err(UnitError::NoSection(2)));
        assert_eq!(parse("[Unit]\nAfter"), Err(UnitError::Line(2)));
        assert_eq!(parse(""), Ok(json!({})));
    }
}
