//! Checks unquoted scalars that YAML reads differently than they look.

use formats::yaml::{Data, Mark, Node, Style};

use super::report::Report;
use super::table;
use super::tree::Span;

/// Reports unquoted numbers and booleans that YAML reads differently than they look, anywhere in a node.
pub(super) fn check_plain(node: &Node, file: usize, report: &Report<'_>) {
    match &node.data {
        Data::Scalar(scalar) if scalar.style == Style::Plain => {
            table::check_plain(&scalar.text, Span::of(file, node), report);
        }
        Data::Scalar(_) => {}
        Data::List(items) => items.iter().for_each(|item| check_plain(item, file, report)),
        Data::Map(entries) => {
            for entry in entries {
                let written = &report.files[file].text[entry.start.offset..entry.end.max(entry.start.offset)];
                if entry.plain && written != entry.key {
                    let mark = Mark { ..entry.start };
                    let span = Span { file, mark, length: written.len().max(1) };
                    let message = format!("YAML reads the key {written} as {}", entry.key);
                    report.add("boolean-word", span, message, format!("quote it: \"{written}\""));
                }
                check_plain(&entry.value, file, report);
            }
        }
    }
}
