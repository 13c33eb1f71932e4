//! The form flags: rows with one id are one clause, whose cases run like those of the form mutation.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::draft::{self, Clause};
use super::emitted::ObjectsForm;
use super::expectation;
use super::fields::Fields;
use super::gardener::versions_form::VersionsForm;
use super::keywords::{FLAGS_CLAUSE, FLAGS_COLUMNS, LEVELS};
use super::report::{Report, nearest};
use super::table::{self, Cell, Column, Table, TableRow};
use super::tree::{BareWord, Key, Span, Tree, TreeData};
use crate::expect::{Rules, compare};
use crate::flags::{self, CommandLine, Explains, FlagTable};
use crate::model::{Binds, Level};

/// A row, read.
struct FlagRule<'a> {
    row: &'a TableRow,
    flag: String,
    emitted: Tree,
    wanted: Tree,
    keeps: bool,
    explains: Explains,
}

/// The values of the column `emits`.
const EMITS_VALUES: &str = "any, present, absent, is V, has M, lacks M";
/// The values of the column `webhook`.
const WEBHOOK_VALUES: &str =
    "keeps, keeps except M …, may add, may change, absent, present, is V, has M, lacks M";
/// The values of both columns for flags with `*` in their names.
const PATTERN_VALUES: &str = "keeps, may add, may change, any, absent, present";

/// The clauses in the table of a contract, and the flags in its rows.
pub(super) fn clauses(spec: &Fields<'_>) -> (Vec<Clause>, Option<FlagTable>) {
    let mut named = Vec::new();
    let clauses = clauses_of_table(spec, &mut named);
    (clauses, command_line(spec).map(|line| FlagTable { line, rows: named }))
}

fn clauses_of_table(spec: &Fields<'_>, named: &mut Vec<flags::FlagRow>) -> Vec<Clause> {
    let Some(node) = spec.node("flags") else {
        let remedy = "write `flags: |`, then lines of `| id | flag | emits | webhook | level | needs |`";
        spec.report.add("missing-key", spec.span(), "flags is missing", remedy);
        return Vec::new();
    };
    let Some(table) = table::read(spec.file, node, spec.report) else { return Vec::new() };
    let Some(at) = columns(&table, spec, Span::of(spec.file, node)) else { return Vec::new() };
    let texts = clause_fields(spec);
    let mut ids: Vec<&str> = Vec::new();
    for row in &table.rows {
        let id = row.cells[at["id"]].raw.as_str();
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    let unknown = texts.iter().filter(|(id, _)| !ids.contains(&id.as_str()));
    for (id, (_, span)) in unknown {
        let remedy = nearest(id, ids.iter().copied());
        spec.report.add("flags", *span, format!("no row has the id {id}"), remedy);
    }
    let rows = |id: &str| table.rows.iter().filter(|row| row.cells[at["id"]].raw == id).collect::<Vec<_>>();
    ids.into_iter().filter_map(|id| clause(id, &rows(id), &at, texts.get(id), (spec, named))).collect()
}

/// Whether a row of the table that [`rules_table`] makes asserts anything about the webhook.
pub(super) fn has_cases(row: &TableRow) -> bool {
    row.cells.get(1).is_none_or(|wanted| !matches!(wanted.tree.data, TreeData::BareWord(BareWord::Any)))
}

/// Checks the given object against the column `emits`.
pub(super) fn check_emitted(emitted: &Tree, object: &Value, rules: &Rules, span: Span, report: &Report<'_>) {
    let expect = expectation::read(emitted, rules, report);
    for mismatch in compare(&expect, None, Some(object), rules) {
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        let got = mismatch.got.map_or_else(|| "nothing".to_owned(), |got| got.to_string());
        let message = format!(
            "fixture {name} does not match `emits`: {} is {got}, expected {}",
            mismatch.path, mismatch.want
        );
        report.add("emits", span, message, "correct the fixture, or the column `emits` of the row");
    }
}

/// The assertions about Gardener and the webhook, for the hash of a clause.
pub(super) fn assertions_for_hash(asserted: &Tree, emitted: Option<&Tree>) -> Value {
    match emitted {
        Some(emitted) => json!([asserted.to_value(), emitted.to_value()]),
        None => asserted.to_value(),
    }
}

/// Positions of the columns; reports missing and unknown ones.
fn columns<'a>(table: &'a Table, spec: &Fields<'_>, span: Span) -> Option<BTreeMap<&'a str, usize>> {
    let known: Vec<&str> = FLAGS_COLUMNS.to_vec();
    let unknown = table.columns.iter().filter(|column| !known.contains(&column.name.as_str()));
    for column in unknown {
        let message = format!("a table of flags has no column {:?}", column.name);
        spec.report.add("flags", column.span, message, nearest(&column.name, known.iter().copied()));
    }
    let at: BTreeMap<&str, usize> =
        table.columns.iter().enumerate().map(|(at, column)| (column.name.as_str(), at)).collect();
    let missing: Vec<&str> = known.into_iter().filter(|name| !at.contains_key(name)).collect();
    if !missing.is_empty() {
        spec.report.add("flags", span, format!("the table has no column {}", missing.join(", ")), "add it");
        return None;
    }
    Some(at)
}

/// The fields of `clauses` by id, with their positions.
fn clause_fields<'a>(spec: &Fields<'a>) -> BTreeMap<String, (Fields<'a>, Span)> {
    let items = spec.node("clauses").and_then(|node| node.items()).unwrap_or_default();
    let fields =
        items.iter().filter_map(|node| Fields::of(spec.file, node, "a clause", &FLAGS_CLAUSE, spec.report));
    let named = fields
        .filter_map(|fields| Some((fields.required("id", "write the id of a clause in the table")?, fields)));
    named.map(|(id, fields)| (id, (fields, fields.span()))).collect()
}

fn clause(
    id: &str,
    rows: &[&TableRow],
    at: &BTreeMap<&str, usize>,
    beside: Option<&(Fields<'_>, Span)>,
    (spec, named): (&Fields<'_>, &mut Vec<flags::FlagRow>),
) -> Option<Clause> {
    let first = rows.first()?;
    check_agreement(id, rows, at, spec);
    let rules: Vec<FlagRule<'_>> = rows.iter().filter_map(|row| read_rule(row, at, spec)).collect();
    if rules.len() < rows.len() {
        return None;
    }
    named.extend(rules.iter().map(|rule| flags::FlagRow {
        clause: id.to_owned(),
        flag: rule.flag.clone(),
        explains: rule.explains,
    }));
    let judged: Vec<&FlagRule<'_>> = rules.iter().filter(|rule| rule.explains == Explains::Judged).collect();
    let text = beside.and_then(|(fields, _)| fields.text("text")).or_else(|| sentence(&judged));
    // The sentence for rows `may add` and `may change` is in the clause of another contract.
    let Some(text) = text.or_else(|| judged.is_empty().then(String::new)) else {
        let remedy = format!("add `clauses: [{{id: {id}, text: …}}]`");
        spec.report.add("flags", first.span, format!("text is missing for {id}"), remedy);
        return None;
    };
    let needs = &first.cells[at["needs"]].raw;
    let fields = beside.map(|(fields, _)| fields);
    Some(Clause {
        id: id.to_owned(),
        span: first.span,
        text,
        level: level(&first.cells[at["level"]], spec),
        strict: None,
        binds: Binds::Extension,
        versions: fields.and_then(|fields| fields.text("versions")),
        needs: needs.split(',').map(str::trim).filter(|need| !need.is_empty()).map(str::to_owned).collect(),
        presupposes: fields.map(|fields| fields.texts("presupposes")).unwrap_or_default(),
        covers: Vec::new(),
        instance: None,
        differs: fields.map(|fields| fields.pairs("differs")).unwrap_or_default(),
        not_on: BTreeMap::new(),
        source: fields.and_then(draft::source),
        config: None,
        table: Some(rules_table(&rules, first.span)),
        given: spec.tree("given"),
        when: Some(
            spec.tree("when")
                .unwrap_or_else(|| map(first.span, [("admission", scalar("CREATE", first.span))])),
        ),
        then: Some(map(first.span, [("object", command_line_assertion(spec, "<wanted>", first.span)?)])),
        emits: Some(command_line_assertion(spec, "<emitted>", first.span)?),
        objects_form: ObjectsForm::default(),
        steps: None,
        faults: Vec::new(),
        versions_form: VersionsForm::default(),
    })
}

/// The level in a cell; reports an unknown one.
fn level(cell: &Cell, spec: &Fields<'_>) -> Level {
    let level = LEVELS.iter().find(|(name, _)| *name == cell.raw).map(|(_, level)| *level);
    if level.is_none() {
        let remedy = nearest(&cell.raw, LEVELS.iter().map(|(name, _)| *name));
        spec.report.add("flags", cell.tree.span, format!("unknown level {:?}", cell.raw), remedy);
    }
    level.unwrap_or(Level::Must)
}

/// Reports rows with one id that differ in level or needs.
fn check_agreement(id: &str, rows: &[&TableRow], at: &BTreeMap<&str, usize>, spec: &Fields<'_>) {
    let Some(first) = rows.first() else { return };
    for (row, name) in rows.iter().flat_map(|row| [(row, "level"), (row, "needs")]) {
        if row.cells[at[name]].raw != first.cells[at[name]].raw {
            let message = format!("the rows of {id} differ in {name}");
            spec.report.add(
                "flags",
                row.span,
                message,
                "use the same value in all rows of a clause, or give the row another id",
            );
        }
    }
}

/// Reads a row; reports cells that cannot be read.
fn read_rule<'a>(row: &'a TableRow, at: &BTreeMap<&str, usize>, spec: &Fields<'_>) -> Option<FlagRule<'a>> {
    let cell = |name: &str| &row.cells[at[name]];
    let (flag, emits, webhook) = (cell("flag"), cell("emits"), cell("webhook"));
    if !flag.raw.starts_with("--") {
        spec.report.add(
            "flags",
            flag.tree.span,
            format!("{:?} is not a flag", flag.raw),
            "write `--secure-port`",
        );
        return None;
    }
    let read = if flag.raw.contains('*') { assertion_for_pattern } else { assertion_for_flag };
    let emitted =
        if is_webhook_only(&emits.raw) { None } else { read(&flag.raw, &emits.raw, emits.tree.span) };
    let wanted = if webhook.raw == "any" { None } else { read(&flag.raw, &webhook.raw, webhook.tree.span) };
    for (cell, known, found) in [(emits, EMITS_VALUES, &emitted), (webhook, WEBHOOK_VALUES, &wanted)] {
        if found.is_none() {
            let known = if flag.raw.contains('*') { PATTERN_VALUES } else { known };
            let message = format!("{:?} is not a valid cell here", cell.raw);
            spec.report.add("flags", cell.tree.span, message, format!("write one of {known}"));
        }
    }
    let explains = match webhook.raw.as_str() {
        "may add" => Explains::Added,
        "may change" => Explains::Changed,
        _ => Explains::Judged,
    };
    let (emitted, wanted) = (emitted?, wanted?);
    Some(FlagRule { row, flag: flag.raw.clone(), emitted, wanted, keeps: webhook.raw == "keeps", explains })
}

/// Whether a cell is valid only in the column `webhook`.
fn is_webhook_only(raw: &str) -> bool {
    raw.starts_with("keeps") || raw.starts_with("may ")
}

/// The assertion about one flag, as a map with that flag.
fn assertion_for_flag(flag: &str, raw: &str, span: Span) -> Option<Tree> {
    Some(map(span, [(flag, webhook_assertion(raw, span)?)]))
}

/// The assertion about all flags that match a pattern with `*`.
fn assertion_for_pattern(flag: &str, raw: &str, span: Span) -> Option<Tree> {
    let operator = match raw {
        "any" | "may add" | "may change" => return Some(any_value(span)),
        "keeps" => "$unchangedLike",
        "present" => "$anyKey",
        "absent" => "$noKey",
        _ => return None,
    };
    let patterns = Tree { data: TreeData::List(vec![scalar(flag, span)]), span };
    Some(map(span, [(operator, patterns)]))
}

/// Reads a cell of the column `webhook`.
fn webhook_assertion(raw: &str, span: Span) -> Option<Tree> {
    if matches!(raw, "may add" | "may change") {
        return Some(any_value(span));
    }
    if let Some(members) = raw.strip_prefix("keeps except ") {
        let members = members.split_whitespace().map(|member| scalar(member, span)).collect();
        return Some(map(span, [("$unchangedBut", Tree { data: TreeData::List(members), span })]));
    }
    if raw == "keeps" { Some(scalar("$unchanged", span)) } else { shared_assertion(raw, span) }
}

/// Reads a cell that both columns may contain. A member of a list or map is its key.
fn shared_assertion(raw: &str, span: Span) -> Option<Tree> {
    match raw.split_once(' ') {
        None if raw == "any" => Some(any_value(span)),
        None if raw == "present" => Some(scalar("$present", span)),
        None if raw == "absent" => Some(scalar("$absent", span)),
        Some(("is", value)) => Some(match value.trim().strip_prefix('$') {
            Some(name) => map(span, [("$parameter", scalar(name, span))]),
            None => scalar(value.trim(), span),
        }),
        Some(("has", value)) if value.trim().starts_with('$') => {
            Some(map(span, [("$members", scalar(value.trim().trim_start_matches('$'), span))]))
        }
        Some(("has", member)) => Some(member_of(member.trim(), "$present", span)),
        Some(("lacks", member)) => Some(member_of(member.trim(), "$absent", span)),
        _ => None,
    }
}

/// `M` of a list, or `M=V` of a map.
fn member_of(member: &str, otherwise: &str, span: Span) -> Tree {
    match member.split_once('=') {
        Some((key, value)) if otherwise == "$present" => map(span, [(key, scalar(value, span))]),
        _ => map(span, [(member, scalar(otherwise, span))]),
    }
}

/// The rows as a table: named by their flags, with assertions as cells.
fn rules_table(rules: &[FlagRule<'_>], span: Span) -> Table {
    let column = |name: &str| Column { name: name.to_owned(), span };
    let cell = |tree: &Tree| Cell { raw: format!("{:?}", tree.to_value()), tree: tree.clone() };
    let rows = rules.iter().map(|rule| TableRow {
        cells: vec![cell(&scalar(&rule.flag, rule.row.span)), cell(&wanted_cell(rule)), cell(&rule.emitted)],
        case: Some(rule.flag.clone()),
        span: rule.row.span,
    });
    Table { columns: ["flag", "wanted", "emitted"].map(column).into(), rows: rows.collect() }
}

/// The assertion of a row; `may add` and `may change` assert nothing.
fn wanted_cell(rule: &FlagRule<'_>) -> Tree {
    if rule.explains == Explains::Judged { rule.wanted.clone() } else { any_value(rule.wanted.span) }
}

/// An assertion about the command line of the container or the unit that the target names.
fn command_line_assertion(spec: &Fields<'_>, cell: &str, span: Span) -> Option<Tree> {
    let flags = map(span, [("$flags", scalar(cell, span))]);
    let list = |item: Tree| Tree { data: TreeData::List(vec![item]), span };
    match required_command_line(spec, span)? {
        CommandLine::Container(container) => {
            let item = map(span, [("name", scalar(&container, span)), ("$is", flags)]);
            let pod = map(span, [("spec", map(span, [("containers", list(item))]))]);
            Some(map(span, [("spec", map(span, [("template", pod)]))]))
        }
        CommandLine::Unit(unit) => {
            let service = map(span, [("Service", map(span, [("ExecStart", list(flags))]))]);
            let content = map(span, [("$unit", service)]);
            let item = map(span, [("name", scalar(&unit, span)), ("content", content)]);
            Some(map(span, [("spec", map(span, [("units", list(item))]))]))
        }
    }
}

/// The command line that the target names; reports a target that names none or two.
fn required_command_line(spec: &Fields<'_>, span: Span) -> Option<CommandLine> {
    let line = command_line(spec);
    if line.is_none() {
        let message = "the target needs either container or unit";
        let remedy = "write `target: {webhook: controlplane, container: kube-apiserver}`";
        spec.report.add("flags", span, message, remedy);
    }
    line
}

fn command_line(spec: &Fields<'_>) -> Option<CommandLine> {
    let target = spec.node("target")?;
    let named = |key: &str| target.get(key).and_then(|node| node.as_str()).map(str::to_owned);
    match (named("container"), named("unit")) {
        (Some(container), None) => Some(CommandLine::Container(container)),
        (None, Some(unit)) => Some(CommandLine::Unit(unit)),
        _ => None,
    }
}

/// `--a and --b are left as Gardener sets them`, if all rows say `keeps`.
fn sentence(rules: &[&FlagRule<'_>]) -> Option<String> {
    if rules.is_empty() || !rules.iter().all(|rule| rule.keeps) {
        return None;
    }
    let (last, others) = rules.split_last()?;
    let others: Vec<&str> = others.iter().map(|rule| rule.flag.as_str()).collect();
    Some(match others.as_slice() {
        [] => format!("{} is left as Gardener sets it", last.flag),
        others => format!("{} and {} are left as Gardener sets them", others.join(", "), last.flag),
    })
}

fn any_value(span: Span) -> Tree {
    Tree { data: TreeData::BareWord(BareWord::Any), span }
}

fn scalar(text: &str, span: Span) -> Tree {
    Tree { data: TreeData::Scalar(Value::from(text)), span }
}

fn map<const N: usize>(span: Span, entries: [(&str, Tree); N]) -> Tree {
    let entry = |(name, tree): (&str, Tree)| (Key { name: name.to_owned(), span }, tree);
    Tree { data: TreeData::Map(entries.into_iter().map(entry).collect()), span }
}
