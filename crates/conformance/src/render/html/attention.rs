//! What needs attention, as the page shows it.

use contract::model::Level;
use serde::Serialize;
use serde_json::Value;

use crate::causes::{Cause, CauseKind, causes};
use crate::difference::{DiffLine, diff, first_of};
use crate::render::explain::place;
use crate::render::program_message::program_message;
use crate::render::unexplained::{REMEDY, UnexplainedChange, unexplained_of};
use crate::render::{failure, mark, repeat_command};
use crate::report::{ContractResult, Evidence, Gap, Report, Status, Unasked, level};

#[derive(Serialize)]
pub(super) struct Attention {
    subject: String,
    sentence: String,
    summary: String,
    place: String,
    case: String,
    /// Separated by blanks, for the filter.
    components: String,
    level: &'static str,
    status: &'static str,
    sign: &'static str,
    class: &'static str,
    story: Vec<String>,
    diff: Vec<DiffRow>,
    reason: String,
    said: String,
    said_at: String,
    also: Vec<VariantView>,
    not_run: Vec<String>,
    others: Vec<String>,
    repeat_command: String,
    why: String,
    output: String,
    request: String,
    response: String,
    asked: String,
}

#[derive(Serialize)]
struct VariantView {
    case: String,
    text: String,
}

#[derive(Serialize)]
pub(super) struct DiffRow {
    sign: char,
    text: String,
    note: String,
}

#[derive(Serialize)]
pub(super) struct ChangeView {
    contract: String,
    component: String,
    objects: String,
    diff: Vec<DiffRow>,
    cases: Vec<String>,
    again: String,
    remedy: &'static str,
    path: String,
}

#[derive(Serialize)]
pub(super) struct FindingView {
    kind: &'static str,
    component: String,
    text: String,
}

#[derive(Serialize)]
pub(super) struct UnprovenClause {
    id: String,
    text: String,
    component: String,
    level: &'static str,
    lines: Vec<String>,
}

/// Failed and errored causes, worst first.
pub(super) fn failures(report: &Report) -> Vec<Attention> {
    let of = |status| causes(&report.contracts, status).into_iter().map(move |cause| (status, cause));
    let mut found: Vec<(Status, Cause<'_>)> = of(Status::Failed).chain(of(Status::Errored)).collect();
    // MUST clauses first, then cases that could not run, then SHOULD clauses.
    found.sort_by_key(|(status, cause)| match (status, cause.level()) {
        (Status::Failed, Level::Must) => 0,
        (Status::Errored, _) => 1,
        _ => 2,
    });
    found.iter().map(|(status, cause)| attention(report, *status, cause)).collect()
}

fn attention(report: &Report, status: Status, cause: &Cause<'_>) -> Attention {
    let first = cause.case;
    let said =
        program_message(first).filter(|_| !matches!(cause.kind, CauseKind::Clause(..) | CauseKind::Law(_)));
    let evidence = first.evidence.as_ref();
    let mut lines = rows(&diff(&cause.checks));
    lines.extend(cause.text.map(|text| DiffRow { sign: ' ', text: text.to_owned(), note: String::new() }));
    let also = cause.variants().into_iter().map(|(other, sentences)| VariantView {
        case: format!("{}/{}", other.clause.id, other.case.name),
        text: first_of(&sentences),
    });
    let (sign, class) = match (status, cause.level()) {
        (Status::Failed, Level::Must) => ("✗", "bad"),
        (Status::Failed, _) => ("!", "warn"),
        _ => (mark(status), "warn"),
    };
    Attention {
        subject: cause.subject(),
        sentence: cause.sentence().to_owned(),
        summary: failure::summary(cause),
        place: place(&first.location),
        case: cause.id(),
        components: components(report, cause),
        level: level(cause.level()),
        status: if status == Status::Failed { "failed" } else { "errored" },
        sign,
        class,
        story: first.story.clone(),
        diff: lines,
        reason: first.reason.as_ref().map(|reason| reason.text.clone()).unwrap_or_default(),
        said_at: said.as_ref().and_then(|message| message.place.clone()).unwrap_or_default(),
        said: said.map(|message| message.text).unwrap_or_default(),
        also: also.collect(),
        not_run: cause.not_run.iter().map(|clause| (*clause).to_owned()).collect(),
        others: cause.other_ids(),
        repeat_command: repeat_command(report, &cause.id()),
        why: match cause.kind {
            CauseKind::Law(law) => crate::laws::why(law).to_owned(),
            CauseKind::Exchange(failure) => failure.why().to_owned(),
            CauseKind::Clause(..) | CauseKind::Environment(_) => String::new(),
        },
        output: evidence.map(|evidence| evidence.output.clone()).unwrap_or_default(),
        request: evidence.map(|evidence| pretty(&evidence.request)).unwrap_or_default(),
        response: evidence.map(response).unwrap_or_default(),
        asked: evidence.map(|evidence| evidence.asked.clone()).unwrap_or_default(),
    }
}

/// The components of the contracts of a cause, each once.
fn components(report: &Report, cause: &Cause<'_>) -> String {
    let names = cause.contracts();
    let contracts = report.contracts.iter().filter(|contract| names.contains(&contract.name.as_str()));
    component_names(&contracts.collect::<Vec<_>>())
}

/// The components of contracts, each once.
fn component_names(contracts: &[&ContractResult]) -> String {
    let mut components: Vec<&str> = contracts.iter().map(|contract| contract.component.as_str()).collect();
    components.dedup();
    components.join(" ")
}

/// The lines of a diff.
pub(super) fn rows(lines: &[DiffLine]) -> Vec<DiffRow> {
    let row = |line: &DiffLine| DiffRow {
        sign: line.sign,
        text: format!("{}{}", "  ".repeat(line.depth), line.text),
        note: line.note.to_string(),
    };
    lines.iter().map(row).collect()
}

/// Changes that no clause explains.
pub(super) fn changes(report: &Report) -> Vec<ChangeView> {
    let found = unexplained_of(report).into_iter();
    let change = |found: UnexplainedChange<'_>| ChangeView {
        contract: found.contracts(),
        component: component_names(&found.contracts),
        objects: found.objects(),
        diff: rows(&found.diff()),
        cases: found.cases().iter().map(|case| (*case).to_owned()).collect(),
        again: found.again(report),
        remedy: REMEDY,
        path: found.path().to_owned(),
    };
    found.map(change).collect()
}

/// Changes of clauses that did not run.
pub(super) fn unasked(report: &Report) -> Vec<FindingView> {
    let of_contract = |contract: &ContractResult| -> Vec<FindingView> {
        let text = |unasked: &Unasked| format!("{}: {unasked}", contract.name);
        contract.unasked.iter().map(|unasked| finding("not run", contract, text(unasked))).collect()
    };
    report.contracts.iter().flat_map(of_contract).collect()
}

/// Gaps.
pub(super) fn gaps(report: &Report) -> Vec<FindingView> {
    let of_contract = |contract: &ContractResult| -> Vec<FindingView> {
        let text = |gap: &Gap| {
            format!("{}: {} changes in {}, and no case would miss it", contract.name, gap.path, gap.case)
        };
        contract.gaps.iter().map(|gap| finding("gap", contract, text(gap))).collect()
    };
    report.contracts.iter().flat_map(of_contract).collect()
}

fn finding(kind: &'static str, contract: &ContractResult, text: String) -> FindingView {
    FindingView { kind, component: contract.component.clone(), text }
}

/// Clauses that pass and are not proven able to fail.
pub(super) fn unproven(report: &Report) -> Vec<UnprovenClause> {
    let clauses = report
        .contracts
        .iter()
        .flat_map(|contract| contract.clauses.iter().map(move |clause| (contract, clause)));
    let of_clause = |(contract, clause): (&crate::report::ContractResult, &crate::report::ClauseResult)| {
        let proof = clause.proof.as_ref().filter(|proof| !proof.proven && clause.status == Status::Passed)?;
        let survivors = proof.survivors.iter().map(|survivor| {
            format!("{} passes though {}: {}", survivor.case, survivor.damage, survivor.text)
        });
        let undamaged = proof.undamaged.iter().map(|assertion| format!("nothing can break {assertion}"));
        Some(UnprovenClause {
            id: clause.id.clone(),
            text: clause.text.clone(),
            component: contract.component.clone(),
            level: level(clause.level),
            lines: survivors.chain(undamaged).collect(),
        })
    };
    clauses.filter_map(of_clause).collect()
}

fn response(evidence: &Evidence) -> String {
    match evidence.status {
        None => "no answer".to_owned(),
        Some(status) => format!("HTTP {status}\n{}", pretty(&evidence.response)),
    }
}

fn pretty(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => serde_json::to_string_pretty(value).unwrap_or_default(),
    }
}
