//! The form flags: rows of one id are one clause, whose cases are asked as those of any mutation.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::draft::{self, Clause};
use super::emitted::Drawn;
use super::fields::Fields;
use super::report::{Report, nearest};
use super::setting::Setting;
use super::table::{self, Cell, Column, Row, Table};
use super::tree::{Data, Key, Span, Tree, Word};
use super::wanted;
use super::words::{FLAGS_CLAUSE, FLAGS_COLUMNS, LEVELS};
use crate::expect::{Rules, compare};
use crate::flags::{self, Explains, Line, Named};
use crate::model::{Binds, Level};

/// What a row says of a flag.
struct Said<'a> {
    row: &'a Row,
    flag: String,
    emitted: Tree,
    wanted: Tree,
    keeps: bool,
    explains: Explains,
}

/// What `emits` may say.
const EMITTED: &str = "any, present, absent, is V, has M, lacks M";
/// What `webhook` may say.
const ASKED: &str = "keeps, keeps except M …, may add, may change, absent, present, is V, has M, lacks M";
/// What both may say of flags whose names hold `*`.
const OF_MANY: &str = "keeps, may add, may change, any, absent, present";

/// The clauses that the table of a contract draws, and what its rows speak of.
pub(super) fn clauses(spec: &Fields<'_>) -> (Vec<Clause>, Option<Named>) {
    let mut named = Vec::new();
    let clauses = drawn_clauses(spec, &mut named);
    (clauses, line_of(spec).map(|line| Named { line, rows: named }))
}

fn drawn_clauses(spec: &Fields<'_>, named: &mut Vec<flags::Row>) -> Vec<Clause> {
    let Some(node) = spec.node("flags") else {
        let remedy = "draw them: `flags: |`, then lines of `| id | flag | emits | webhook | level | needs |`";
        spec.report.add("missing-key", spec.span(), "flags is missing", remedy);
        return Vec::new();
    };
    let Some(table) = table::read(spec.file, node, spec.report) else { return Vec::new() };
    let Some(at) = columns(&table, spec, Span::of(spec.file, node)) else { return Vec::new() };
    let texts = texts(spec);
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
        spec.report.add("flags", *span, format!("no row is of {id}"), remedy);
    }
    let rows = |id: &str| table.rows.iter().filter(|row| row.cells[at["id"]].raw == id).collect::<Vec<_>>();
    ids.into_iter().filter_map(|id| clause(id, &rows(id), &at, texts.get(id), (spec, named))).collect()
}

/// Whether a row of a drawn table asks anything of a webhook.
pub(super) fn asks(row: &Row) -> bool {
    row.cells.get(1).is_none_or(|wanted| !matches!(wanted.tree.data, Data::Word(Word::Any)))
}

/// What is given must itself be as Gardener emits it.
pub(super) fn check_emitted(emitted: &Tree, object: &Value, rules: &Rules, span: Span, report: &Report<'_>) {
    let expect = wanted::read(emitted, rules, report);
    for mismatch in compare(&expect, None, Some(object), rules) {
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        let got = mismatch.got.map_or_else(|| "nothing".to_owned(), |got| got.to_string());
        let message =
            format!("{name} is not as `emits` says: {} is {got}, not {}", mismatch.path, mismatch.want);
        report.add("emits", span, message, "mend the fixture, or what the row says of Gardener");
    }
}

/// What is asserted of both sides, for the hash of a clause.
pub(super) fn both(asserted: &Tree, emitted: Option<&Tree>) -> Value {
    match emitted {
        Some(emitted) => json!([asserted.to_value(), emitted.to_value()]),
        None => asserted.to_value(),
    }
}

/// Where the columns stand; all must be there, and no others.
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
        spec.report.add("flags", span, format!("the table has no column {}", missing.join(", ")), "draw it");
        return None;
    }
    Some(at)
}

/// What `clauses` says of an id beside its rows, with its place.
fn texts<'a>(spec: &Fields<'a>) -> BTreeMap<String, (Fields<'a>, Span)> {
    let items = spec.node("clauses").and_then(|node| node.items()).unwrap_or_default();
    let fields =
        items.iter().filter_map(|node| Fields::of(spec.file, node, "a clause", &FLAGS_CLAUSE, spec.report));
    let named =
        fields.filter_map(|fields| Some((fields.required("id", "name a clause of the table")?, fields)));
    named.map(|(id, fields)| (id, (fields, fields.span()))).collect()
}

fn clause(
    id: &str,
    rows: &[&Row],
    at: &BTreeMap<&str, usize>,
    beside: Option<&(Fields<'_>, Span)>,
    (spec, named): (&Fields<'_>, &mut Vec<flags::Row>),
) -> Option<Clause> {
    let first = rows.first()?;
    agree(id, rows, at, spec);
    let said: Vec<Said<'_>> = rows.iter().filter_map(|row| said(row, at, spec)).collect();
    if said.len() < rows.len() {
        return None;
    }
    named.extend(said.iter().map(|said| flags::Row {
        clause: id.to_owned(),
        flag: said.flag.clone(),
        explains: said.explains,
    }));
    let asked: Vec<&Said<'_>> = said.iter().filter(|said| said.explains == Explains::Judged).collect();
    let text = beside.and_then(|(fields, _)| fields.text("text")).or_else(|| sentence(&asked));
    // What only may be done is said by the clause of another contract.
    let Some(text) = text.or_else(|| asked.is_empty().then(String::new)) else {
        let remedy = format!("say it: `clauses: [{{id: {id}, text: …}}]`");
        spec.report.add("flags", first.span, format!("nothing says what {id} means"), remedy);
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
        source: fields.and_then(draft::source),
        config: None,
        table: Some(drawn(&said, first.span)),
        given: spec.tree("given"),
        when: Some(
            spec.tree("when")
                .unwrap_or_else(|| map(first.span, [("admission", text_of("CREATE", first.span))])),
        ),
        then: Some(map(first.span, [("object", place(spec, "<wanted>", first.span)?)])),
        emits: Some(place(spec, "<emitted>", first.span)?),
        drawn: Drawn::default(),
        steps: None,
        faults: Vec::new(),
        setting: Setting::default(),
    })
}

/// The level that a cell says; noted if it says none.
fn level(cell: &Cell, spec: &Fields<'_>) -> Level {
    let level = LEVELS.iter().find(|(name, _)| *name == cell.raw).map(|(_, level)| *level);
    if level.is_none() {
        let remedy = nearest(&cell.raw, LEVELS.iter().map(|(name, _)| *name));
        spec.report.add("flags", cell.tree.span, format!("{:?} is no level", cell.raw), remedy);
    }
    level.unwrap_or(Level::Must)
}

/// Notes rows of one id that differ in what a clause has once.
fn agree(id: &str, rows: &[&Row], at: &BTreeMap<&str, usize>, spec: &Fields<'_>) {
    let Some(first) = rows.first() else { return };
    for (row, name) in rows.iter().flat_map(|row| [(row, "level"), (row, "needs")]) {
        if row.cells[at[name]].raw != first.cells[at[name]].raw {
            let message = format!("the rows of {id} differ in {name}");
            spec.report.add("flags", row.span, message, "one clause has one: give the row another id");
        }
    }
}

/// What a row says; what cannot be read is noted.
fn said<'a>(row: &'a Row, at: &BTreeMap<&str, usize>, spec: &Fields<'_>) -> Option<Said<'a>> {
    let cell = |name: &str| &row.cells[at[name]];
    let (flag, emits, webhook) = (cell("flag"), cell("emits"), cell("webhook"));
    if !flag.raw.starts_with("--") {
        spec.report.add(
            "flags",
            flag.tree.span,
            format!("{:?} is no flag", flag.raw),
            "write `--secure-port`",
        );
        return None;
    }
    let read = if flag.raw.contains('*') { said_of_many } else { said_of_one };
    let emitted = if is_asked_only(&emits.raw) { None } else { read(&flag.raw, &emits.raw, emits.tree.span) };
    let wanted = if webhook.raw == "any" { None } else { read(&flag.raw, &webhook.raw, webhook.tree.span) };
    for (cell, known, found) in [(emits, EMITTED, &emitted), (webhook, ASKED, &wanted)] {
        if found.is_none() {
            let known = if flag.raw.contains('*') { OF_MANY } else { known };
            let message = format!("{:?} says nothing that can be asked of a webhook or an object", cell.raw);
            spec.report.add("flags", cell.tree.span, message, format!("write one of {known}"));
        }
    }
    let explains = match webhook.raw.as_str() {
        "may add" => Explains::Added,
        "may change" => Explains::Changed,
        _ => Explains::Judged,
    };
    let (emitted, wanted) = (emitted?, wanted?);
    Some(Said { row, flag: flag.raw.clone(), emitted, wanted, keeps: webhook.raw == "keeps", explains })
}

/// What only a webhook can be asked.
fn is_asked_only(raw: &str) -> bool {
    raw.starts_with("keeps") || raw.starts_with("may ")
}

/// What is said of one flag, as a map of it.
fn said_of_one(flag: &str, raw: &str, span: Span) -> Option<Tree> {
    Some(map(span, [(flag, asked(raw, span)?)]))
}

/// What is said of all flags whose names are like one with `*`.
fn said_of_many(flag: &str, raw: &str, span: Span) -> Option<Tree> {
    let operator = match raw {
        "any" | "may add" | "may change" => return Some(any(span)),
        "keeps" => "$unchangedLike",
        "present" => "$anyKey",
        "absent" => "$noKey",
        _ => return None,
    };
    let patterns = Tree { data: Data::List(vec![text_of(flag, span)]), span };
    Some(map(span, [(operator, patterns)]))
}

/// What stands in `webhook`.
fn asked(raw: &str, span: Span) -> Option<Tree> {
    if matches!(raw, "may add" | "may change") {
        return Some(any(span));
    }
    if let Some(members) = raw.strip_prefix("keeps except ") {
        let members = members.split_whitespace().map(|member| text_of(member, span)).collect();
        return Some(map(span, [("$unchangedBut", Tree { data: Data::List(members), span })]));
    }
    if raw == "keeps" { Some(text_of("$unchanged", span)) } else { expected(raw, span) }
}

/// What both sides may say. A member of a list or map is its key.
fn expected(raw: &str, span: Span) -> Option<Tree> {
    match raw.split_once(' ') {
        None if raw == "any" => Some(any(span)),
        None if raw == "present" => Some(text_of("$present", span)),
        None if raw == "absent" => Some(text_of("$absent", span)),
        Some(("is", value)) => Some(match value.trim().strip_prefix('$') {
            Some(name) => map(span, [("$parameter", text_of(name, span))]),
            None => text_of(value.trim(), span),
        }),
        Some(("has", value)) if value.trim().starts_with('$') => {
            Some(map(span, [("$members", text_of(value.trim().trim_start_matches('$'), span))]))
        }
        Some(("has", member)) => Some(member_of(member.trim(), "$present", span)),
        Some(("lacks", member)) => Some(member_of(member.trim(), "$absent", span)),
        _ => None,
    }
}

/// `M` of a list, or `M=V` of a map.
fn member_of(member: &str, otherwise: &str, span: Span) -> Tree {
    match member.split_once('=') {
        Some((key, value)) if otherwise == "$present" => map(span, [(key, text_of(value, span))]),
        _ => map(span, [(member, text_of(otherwise, span))]),
    }
}

/// The rows as a table: named by their flags, with what must hold in cells.
fn drawn(said: &[Said<'_>], span: Span) -> Table {
    let column = |name: &str| Column { name: name.to_owned(), span };
    let cell = |tree: &Tree| Cell { raw: format!("{:?}", tree.to_value()), tree: tree.clone() };
    let rows = said.iter().map(|said| Row {
        cells: vec![cell(&text_of(&said.flag, said.row.span)), cell(&wanted_cell(said)), cell(&said.emitted)],
        case: Some(said.flag.clone()),
        span: said.row.span,
    });
    Table { columns: ["flag", "wanted", "emitted"].map(column).into(), rows: rows.collect() }
}

/// What a row asks; one that lets a webhook do something asks nothing.
fn wanted_cell(said: &Said<'_>) -> Tree {
    if said.explains == Explains::Judged { said.wanted.clone() } else { any(said.wanted.span) }
}

/// Where the flag stands in an object: in the container or the unit that the target names.
fn place(spec: &Fields<'_>, cell: &str, span: Span) -> Option<Tree> {
    let flags = map(span, [("$flags", text_of(cell, span))]);
    let list = |item: Tree| Tree { data: Data::List(vec![item]), span };
    match line(spec, span)? {
        Line::Container(container) => {
            let item = map(span, [("name", text_of(&container, span)), ("$is", flags)]);
            let pod = map(span, [("spec", map(span, [("containers", list(item))]))]);
            Some(map(span, [("spec", map(span, [("template", pod)]))]))
        }
        Line::Unit(unit) => {
            let service = map(span, [("Service", map(span, [("ExecStart", list(flags))]))]);
            let content = map(span, [("$unit", service)]);
            let item = map(span, [("name", text_of(&unit, span)), ("content", content)]);
            Some(map(span, [("spec", map(span, [("units", list(item))]))]))
        }
    }
}

/// Whose command line the target names; noted if it names none, or two.
fn line(spec: &Fields<'_>, span: Span) -> Option<Line> {
    let line = line_of(spec);
    if line.is_none() {
        let message = "the target names neither a container nor a unit, or both";
        let remedy = "name one: `target: {webhook: controlplane, container: kube-apiserver}`";
        spec.report.add("flags", span, message, remedy);
    }
    line
}

fn line_of(spec: &Fields<'_>) -> Option<Line> {
    let target = spec.node("target")?;
    let named = |key: &str| target.get(key).and_then(|node| node.as_str()).map(str::to_owned);
    match (named("container"), named("unit")) {
        (Some(container), None) => Some(Line::Container(container)),
        (None, Some(unit)) => Some(Line::Unit(unit)),
        _ => None,
    }
}

/// `--a and --b are left as Gardener sets them`, where that is all that the rows say.
fn sentence(said: &[&Said<'_>]) -> Option<String> {
    if said.is_empty() || !said.iter().all(|said| said.keeps) {
        return None;
    }
    let (last, others) = said.split_last()?;
    let others: Vec<&str> = others.iter().map(|said| said.flag.as_str()).collect();
    Some(match others.as_slice() {
        [] => format!("{} is left as Gardener sets it", last.flag),
        others => format!("{} and {} are left as Gardener sets them", others.join(", "), last.flag),
    })
}

fn any(span: Span) -> Tree {
    Tree { data: Data::Word(Word::Any), span }
}

fn text_of(text: &str, span: Span) -> Tree {
    Tree { data: Data::Scalar(Value::from(text)), span }
}

fn map<const N: usize>(span: Span, entries: [(&str, Tree); N]) -> Tree {
    let entry = |(name, tree): (&str, Tree)| (Key { name: name.to_owned(), span }, tree);
    Tree { data: Data::Map(entries.into_iter().map(entry).collect()), span }
}
