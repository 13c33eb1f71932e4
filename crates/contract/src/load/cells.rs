//! Replaces `<name>` by the cell of that column: as a value, inside a string, and as a key.

use std::cell::RefCell;
use std::collections::BTreeSet;

use serde_json::Value;

use super::report::{Report, nearest};
use super::table::{Table, TableRow};
use super::tree::{Key, Span, Tree, TreeData};

/// The cells of one row, and the columns that were used.
pub(crate) struct Cells<'a> {
    table: Option<(&'a Table, &'a TableRow)>,
    used: RefCell<BTreeSet<usize>>,
    report: &'a Report<'a>,
}

/// A segment of a string: literal text, or the name of a column.
#[derive(Debug, PartialEq)]
enum TextPart<'a> {
    Literal(&'a str),
    Name(&'a str),
}

impl<'a> Cells<'a> {
    pub(crate) fn of(table: &'a Table, row: &'a TableRow, report: &'a Report<'a>) -> Self {
        Self { table: Some((table, row)), used: RefCell::default(), report }
    }

    /// For a clause without a table: every name is an error.
    pub(crate) fn none(report: &'a Report<'a>) -> Self {
        Self { table: None, used: RefCell::default(), report }
    }

    /// Takes the positions of the columns that were used since the last call.
    pub(crate) fn take_used(&self) -> BTreeSet<usize> {
        self.used.take()
    }

    /// The tree with names replaced by cells.
    pub(crate) fn fill(&self, tree: &Tree) -> Tree {
        let data = match &tree.data {
            TreeData::Scalar(Value::String(text)) if text.contains('<') => return self.text(text, tree.span),
            TreeData::List(items) => TreeData::List(items.iter().map(|item| self.fill(item)).collect()),
            TreeData::Map(entries) => {
                TreeData::Map(entries.iter().filter_map(|entry| self.entry(entry)).collect())
            }
            other => other.clone(),
        };
        Tree { data, span: tree.span }
    }

    /// The string with names replaced by cells.
    pub(crate) fn fill_text(&self, text: &str, span: Span) -> String {
        let filled = if text.contains('<') { self.text(text, span).text().map(str::to_owned) } else { None };
        filled.unwrap_or_else(|| text.to_owned())
    }

    /// A map entry; `None` if its key is `~`.
    fn entry(&self, (key, value): &(Key, Tree)) -> Option<(Key, Tree)> {
        let value = self.fill(value);
        if !key.name.contains('<') {
            return Some((key.clone(), value));
        }
        let filled = self.text(&key.name, key.span);
        let name = match &filled.data {
            TreeData::Scalar(Value::Null) => return None,
            TreeData::Scalar(Value::String(name)) => name.clone(),
            TreeData::Scalar(other) => other.to_string(),
            TreeData::BareWord(_) | TreeData::List(_) | TreeData::Map(_) => {
                self.report.add(
                    "cell",
                    filled.span,
                    "the cell cannot be a key",
                    "write a string in the cell",
                );
                return None;
            }
        };
        Some((Key { name, span: key.span }, value))
    }

    fn text(&self, text: &str, span: Span) -> Tree {
        let text_parts = text_parts(text);
        if let [TextPart::Name(name)] = text_parts.as_slice() {
            return self.cell(name, span).unwrap_or(Tree { data: TreeData::Scalar(Value::Null), span });
        }
        let mut joined = String::new();
        for part in text_parts {
            match part {
                TextPart::Literal(text) => joined.push_str(text),
                TextPart::Name(name) => match self.cell(name, span).map(|cell| cell.data) {
                    Some(TreeData::Scalar(Value::String(text))) => joined.push_str(&text),
                    // A string with an absent part is absent as a whole.
                    None | Some(TreeData::Scalar(Value::Null)) => {
                        return Tree { data: TreeData::Scalar(Value::Null), span };
                    }
                    Some(TreeData::Scalar(other)) => joined.push_str(&other.to_string()),
                    Some(TreeData::BareWord(word)) => joined.push_str(word.name()),
                    Some(TreeData::List(_) | TreeData::Map(_)) => {
                        self.report.add(
                            "cell",
                            span,
                            format!("<{name}> is a list or a map and cannot be part of a string"),
                            "use a column with strings, numbers or booleans",
                        );
                    }
                },
            }
        }
        Tree { data: TreeData::Scalar(Value::from(joined)), span }
    }

    fn cell(&self, name: &str, span: Span) -> Option<Tree> {
        let found = self.table.and_then(|(table, row)| {
            let at = table.columns.iter().position(|column| column.name == name)?;
            self.used.borrow_mut().insert(at);
            row.cells.get(at).map(|cell| cell.tree.clone())
        });
        if found.is_none() {
            let columns = self
                .table
                .iter()
                .flat_map(|(table, _)| table.columns.iter().map(|column| column.name.as_str()));
            let near = nearest(name, columns);
            let remedy = format!(
                "{near}{}write `<<{name}>>` for the literal text",
                if near.is_empty() { "" } else { " " }
            );
            self.report.add("unknown-column", span, format!("the table has no column {name:?}"), remedy);
        }
        found
    }
}

/// Splits a string: `<name>` is a name, `<<name>>` is the literal `<name>`, any other `<` is literal.
fn text_parts(text: &str) -> Vec<TextPart<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    let mut start = 0;
    while let Some(at) = rest[start..].find('<').map(|at| at + start) {
        let after = &rest[at + 1..];
        let doubled = after
            .strip_prefix('<')
            .and_then(name_at)
            .filter(|name| after[name.len() + 1..].starts_with(">>"));
        let (part, end) = match (doubled, name_at(after)) {
            (Some(name), _) => (TextPart::Literal(&rest[at + 1..at + name.len() + 3]), at + name.len() + 4),
            (None, Some(name)) => (TextPart::Name(name), at + name.len() + 2),
            (None, None) => {
                start = at + 1;
                continue;
            }
        };
        if at > 0 {
            found.push(TextPart::Literal(&rest[..at]));
        }
        found.push(part);
        (rest, start) = (&rest[end..], 0);
    }
    if !rest.is_empty() {
        found.push(TextPart::Literal(rest));
    }
    found
}

/// The name before `>`: it begins with a letter and contains neither `<` nor a line break.
pub(super) fn name_at(text: &str) -> Option<&str> {
    let name = &text[..text.find('>')?];
    let fits = name.starts_with(char::is_alphabetic) && !name.contains(['<', '\n']) && !name.ends_with(' ');
    fits.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinguished_from_literal_signs() {
        use TextPart::{Literal, Name};
        let table: [(&str, Vec<TextPart<'_>>); 8] = [
            ("<a>", vec![Name("a")]),
            ("x-<a b>-y", vec![Literal("x-"), Name("a b"), Literal("-y")]),
            ("<a><b>", vec![Name("a"), Name("b")]),
            ("<<a>>", vec![Literal("<a>")]),
            ("<<a>> <a>", vec![Literal("<a>"), Literal(" "), Name("a")]),
            ("1 < 2 > 0", vec![Literal("1 < 2 > 0")]),
            ("a <", vec![Literal("a <")]),
            ("<1>", vec![Literal("<1>")]),
        ];
        for (text, wanted) in table {
            assert_eq!(text_parts(text), wanted, "{text}");
        }
    }
}
