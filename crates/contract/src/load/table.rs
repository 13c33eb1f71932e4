//! Reads tables with bars: columns, rows, and the values of cells.

use std::collections::BTreeSet;

use formats::yaml::{self, Mark, Node, Style};
use serde_json::Value;

use super::report::Report;
use super::tree::{BareWord, Span, Tree, TreeData};

/// A table as written.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    /// The names of the columns, without `case`.
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<TableRow>,
}

/// A column.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) span: Span,
}

/// A row.
#[derive(Clone, Debug)]
pub(crate) struct TableRow {
    /// One per column.
    pub(crate) cells: Vec<Cell>,
    /// The cell of the column `case`.
    pub(crate) case: Option<String>,
    pub(crate) span: Span,
}

/// A cell.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    /// As written.
    pub(crate) raw: String,
    pub(crate) tree: Tree,
}

/// Columns in which a cell may be empty.
const MAY_BE_EMPTY: [&str; 4] = ["needs", "default", "file", "expires"];

/// The part of a line between two bars.
struct RawCell<'a> {
    raw: &'a str,
    span: Span,
}

/// Reads the table in a block scalar; `None` if there is no table in it, which is reported.
pub(crate) fn read(file: usize, node: &Node, report: &Report<'_>) -> Option<Table> {
    let remedy = "write `table: |`, then lines of `| column | column |`";
    let block = node.scalar().filter(|scalar| scalar.style == Style::Block);
    let Some(block) = block else {
        report.add("table-drawing", Span::of(file, node), "a table must be a block scalar", remedy);
        return None;
    };
    let lines = lines(file, node.start, &report.files[file].text, block.text.lines().count());
    let mut lines = lines.into_iter().filter_map(|(span, line)| raw_cells(span, line, report));
    let Some(header) = lines.next() else {
        report.add("table-drawing", Span::of(file, node), "the table is empty", remedy);
        return None;
    };
    check_header(&header, report);
    let mut rows = Vec::new();
    for line in lines {
        let span = line.first().map_or_else(|| Span::of(file, node), |raw_cell| raw_cell.span);
        if line.len() == header.len() {
            rows.push(row(&header, &line, report));
        } else {
            let message = format!("the row has {} cells, but the table {} columns", line.len(), header.len());
            report.add(
                "table-drawing",
                span,
                message,
                "write one cell for each column; write a bar inside a cell as `\\|`",
            );
        }
    }
    if rows.is_empty() {
        report.add(
            "table-drawing",
            Span::of(file, node),
            "the table has no rows",
            "add a row below the names of the columns",
        );
    }
    let columns = header.iter().filter(|raw_cell| raw_cell.raw != "case");
    let columns =
        columns.map(|raw_cell| Column { name: raw_cell.raw.to_owned(), span: raw_cell.span }).collect();
    Some(Table { columns, rows })
}

/// The lines of the block with their positions. `start` is the position of the block's indicator; the lines follow it.
fn lines(file: usize, start: Mark, text: &str, count: usize) -> Vec<(Span, &str)> {
    let line_start = text[..start.offset].rfind('\n').map_or(0, |at| at + 1);
    let mut offset = line_start;
    let mut found = Vec::new();
    let is_row = |line: &str| line.trim_start().starts_with('|');
    for (number, line) in (start.line..).zip(text[line_start..].split_inclusive('\n')) {
        let content = line.trim_end_matches(['\n', '\r']);
        // The line of the key may end with the indicator `|`, but does not begin with it.
        let skip = number == start.line && !is_row(content);
        if found.len() == count {
            break;
        }
        if !skip {
            let indent = content.len() - content.trim_start().len();
            let mark = Mark { line: number, column: indent + 1, offset: offset + indent };
            found.push((Span { file, mark, length: content.trim().len().max(1) }, content.trim()));
        }
        offset += line.len();
    }
    found.retain(|(_, line)| !line.is_empty());
    found
}

/// The trimmed text between the bars of a line.
fn raw_cells<'a>(span: Span, line: &'a str, report: &Report<'_>) -> Option<Vec<RawCell<'a>>> {
    let closed = line.len() > 1 && line.ends_with('|') && !line.ends_with("\\|");
    if !line.starts_with('|') || !closed {
        report.add(
            "table-drawing",
            span,
            "a line of a table must begin and end with a bar",
            "write `| cell | cell |`",
        );
        return None;
    }
    let mut bars = Vec::new();
    let mut escaped = false;
    for (at, letter) in line.char_indices() {
        if letter == '|' && !escaped {
            bars.push(at);
        }
        escaped = letter == '\\' && !escaped;
    }
    let raw_cell = |pair: &[usize]| {
        let inner = &line[pair[0] + 1..pair[1]];
        let raw = inner.trim();
        let before =
            pair[0] + 1 + (inner.len() - inner.trim_start().len()).min(inner.len().saturating_sub(1));
        let mark = Mark {
            line: span.mark.line,
            column: span.mark.column + line[..before].chars().count(),
            offset: span.mark.offset + before,
        };
        RawCell { raw, span: Span { mark, length: raw.len().max(1), ..span } }
    };
    Some(bars.windows(2).map(raw_cell).collect())
}

fn check_header(header: &[RawCell<'_>], report: &Report<'_>) {
    let mut seen = BTreeSet::new();
    for raw_cell in header {
        if raw_cell.raw.is_empty() || raw_cell.raw.contains(['<', '>']) {
            report.add(
                "table-drawing",
                raw_cell.span,
                "a column has no valid name",
                "write a name without `<` and `>`",
            );
        } else if !seen.insert(raw_cell.raw) {
            let message = format!("two columns are named {:?}", raw_cell.raw);
            report.add("duplicate-column", raw_cell.span, message, "rename one of them");
        }
    }
}

fn row(header: &[RawCell<'_>], line: &[RawCell<'_>], report: &Report<'_>) -> TableRow {
    let mut cells = Vec::new();
    let mut case = None;
    for (column, raw_cell) in header.iter().zip(line) {
        let cell = cell(column.raw, raw_cell, report);
        if column.raw == "case" {
            case = Some(cell.tree.text().map_or_else(|| cell.raw.clone(), str::to_owned));
        } else {
            cells.push(cell);
        }
    }
    let span = line.first().map(|raw_cell| raw_cell.span).unwrap_or_default();
    TableRow { cells, case, span }
}

fn cell(column: &str, raw_cell: &RawCell<'_>, report: &Report<'_>) -> Cell {
    let raw = raw_cell.raw.replace("\\|", "|");
    let data = match BareWord::of(&raw) {
        Some(word) if column != "case" => TreeData::BareWord(word),
        _ => meaning(column, &raw, raw_cell.span, report),
    };
    Cell { raw, tree: Tree { data, span: raw_cell.span } }
}

fn meaning(column: &str, raw: &str, span: Span, report: &Report<'_>) -> TreeData {
    let nothing = TreeData::Scalar(Value::Null);
    if raw.is_empty() {
        if !MAY_BE_EMPTY.contains(&column) {
            let remedy = "write `~` for an absent value, or `\"\"` for an empty string";
            report.add("empty-cell", span, format!("a cell of column {column:?} is empty"), remedy);
        }
        return nothing;
    }
    if raw.starts_with(['"', '\'', '[', '{', '&', '*', '!', '%', '@', '`', '>', '|']) {
        return quoted(raw, span, report);
    }
    if raw.contains(": ") || raw.contains(" #") || raw.ends_with(':') || raw.starts_with(['#', ',']) {
        let remedy = format!("quote it: '{}'", raw.replace('\'', "''"));
        report.add("cell", span, "an unquoted string cannot contain `: ` or ` #`", remedy);
        return nothing;
    }
    check_plain(raw, span, report);
    TreeData::Scalar(yaml::resolve(raw).unwrap_or_else(Value::from))
}

/// A quoted cell, or a list or map.
fn quoted(raw: &str, span: Span, report: &Report<'_>) -> TreeData {
    let parsed = yaml::parse(raw);
    match parsed.as_deref() {
        Ok([node]) => {
            let tree = Tree::of(span.file, &moved(node, span.mark));
            check_inner(node, span, report);
            tree.data
        }
        Ok(_) => {
            report.add("cell", span, "the cell is not one YAML value", "quote it");
            TreeData::Scalar(Value::Null)
        }
        Err(error) => {
            report.add(
                "cell",
                span,
                error.message.clone(),
                "write one YAML value; quote strings with special characters",
            );
            TreeData::Scalar(Value::Null)
        }
    }
}

/// The node with its positions in the file.
fn moved(node: &Node, by: Mark) -> Node {
    let place = |mark: Mark| Mark {
        line: by.line,
        column: by.column + mark.column - 1,
        offset: by.offset + mark.offset,
    };
    let data = match &node.data {
        yaml::Data::List(items) => yaml::Data::List(items.iter().map(|item| moved(item, by)).collect()),
        yaml::Data::Map(entries) => yaml::Data::Map(
            entries
                .iter()
                .map(|entry| yaml::Entry {
                    start: place(entry.start),
                    end: by.offset + entry.end,
                    value: moved(&entry.value, by),
                    ..entry.clone()
                })
                .collect(),
        ),
        scalar @ yaml::Data::Scalar(_) => scalar.clone(),
    };
    Node { data, start: place(node.start), end: by.offset + node.end }
}

fn check_inner(node: &Node, span: Span, report: &Report<'_>) {
    match &node.data {
        yaml::Data::Scalar(scalar) if scalar.style == Style::Plain => check_plain(&scalar.text, span, report),
        yaml::Data::Scalar(_) => {}
        yaml::Data::List(items) => items.iter().for_each(|item| check_inner(item, span, report)),
        yaml::Data::Map(entries) => entries.iter().for_each(|entry| check_inner(&entry.value, span, report)),
    }
}

/// Reports unquoted numbers and booleans that YAML reads differently than they look.
pub(crate) fn check_plain(raw: &str, span: Span, report: &Report<'_>) {
    match yaml::resolve(raw) {
        Ok(Value::Number(number)) if number.to_string() != raw => {
            let message = format!("YAML reads {raw} as the number {number}");
            report.add("number-changes", span, message, format!("write {number}, or quote it: \"{raw}\""));
        }
        Ok(Value::Bool(value)) if raw != value.to_string() => {
            let message = format!("YAML reads {raw} as the boolean {value}");
            report.add("boolean-word", span, message, format!("write {value}, or quote it: \"{raw}\""));
        }
        Err(text) => report.add(
            "number-changes",
            span,
            format!("{text} is not a JSON number"),
            format!("quote it: \"{text}\""),
        ),
        _ => {}
    }
}
