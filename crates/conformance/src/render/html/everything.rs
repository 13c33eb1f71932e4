//! Every contract, clause and case, as the page shows them.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use serde::Serialize;

use crate::causes::kinds;
use crate::difference::sentences;
use crate::render::explain::place;
use crate::render::{contract_sign, duration, mark, plural, thousands};
use crate::report::{CaseResult, ClauseResult, ContractResult, LawResult, Report, Status, level};

#[derive(Serialize)]
pub(super) struct ContractView {
    name: String,
    component: String,
    anchor: String,
    sign: &'static str,
    class: &'static str,
    words: String,
    size: String,
    counts: Vec<CountView>,
    laws: Vec<LawView>,
    clauses: Vec<ClauseView>,
}

#[derive(Serialize)]
struct CountView {
    class: &'static str,
    text: String,
}

#[derive(Serialize)]
struct LawView {
    sentence: &'static str,
    held: usize,
    broken: usize,
    proven: String,
}

#[derive(Serialize)]
struct ClauseView {
    id: String,
    text: String,
    level: &'static str,
    status: String,
    /// Those of its cases, for the filter.
    statuses: String,
    sign: &'static str,
    class: &'static str,
    place: String,
    counts: Vec<CountView>,
    cases: Vec<CaseView>,
}

#[derive(Serialize)]
struct CaseView {
    name: String,
    status: String,
    sign: &'static str,
    took: String,
    lines: Vec<String>,
    /// The number of its deviation, from 1.
    deviation: Option<usize>,
}

/// How cases ran that did not run as the substrate says.
#[derive(Serialize)]
pub(super) struct Deviation {
    text: String,
    cases: usize,
}

/// The deviations of all cases, each once.
pub(super) fn deviations(report: &Report) -> Vec<Deviation> {
    let mut found: Vec<Deviation> = Vec::new();
    for text in all_cases(report).filter_map(|case| case.asked.as_ref()) {
        match found.iter_mut().find(|known| known.text == *text) {
            Some(known) => known.cases += 1,
            None => found.push(Deviation { text: text.clone(), cases: 1 }),
        }
    }
    found
}

/// The components, sorted.
pub(super) fn components(report: &Report) -> Vec<String> {
    let names: BTreeSet<&String> = report.contracts.iter().map(|contract| &contract.component).collect();
    names.into_iter().cloned().collect()
}

/// The statuses of cases, worst first.
pub(super) fn statuses(report: &Report) -> Vec<String> {
    let found: BTreeSet<(u8, String)> =
        all_cases(report).map(|case| (badness(case.status), name(case.status))).collect();
    found.into_iter().rev().map(|(_, name)| name).collect()
}

/// Contracts and their clauses, worst first, else in the order of the report.
pub(super) fn contracts(report: &Report, deviations: &[Deviation]) -> Vec<ContractView> {
    let mut contracts: Vec<&ContractResult> = report.contracts.iter().collect();
    let worst =
        |contract: &ContractResult| contract.clauses.iter().map(|clause| badness(clause.status)).max();
    contracts.sort_by_key(|contract| Reverse((contract.verdict, worst(contract))));
    contracts.into_iter().map(|contract| view(contract, deviations)).collect()
}

fn view(contract: &ContractResult, deviations: &[Deviation]) -> ContractView {
    let counts = &contract.counts;
    let (sign, tone) = contract_sign(contract);
    let mut clauses: Vec<&ClauseResult> = contract.clauses.iter().collect();
    clauses.sort_by_key(|clause| (Reverse(badness(clause.status)), clause.level));
    let size = format!(
        "{}, {}, {}",
        plural(counts.clauses, "clause"),
        plural(counts.cases, "case"),
        duration(contract.duration_ms)
    );
    ContractView {
        name: contract.name.clone(),
        component: contract.component.clone(),
        anchor: format!("{}-{}", contract.component, contract.name),
        sign,
        class: tone.class(),
        words: format!("{}: {} of {} cases passed", contract.verdict.label(), counts.passed, counts.cases),
        size,
        counts: case_counts(contract.clauses.iter().flat_map(|clause| &clause.cases)),
        laws: contract.laws.iter().map(law).collect(),
        clauses: clauses.into_iter().map(|clause| clause_view(clause, deviations)).collect(),
    }
}

fn law(law: &LawResult) -> LawView {
    let proven = match (&law.exempt, law.proven) {
        (Some(reason), _) => format!("exempt: {reason}"),
        (None, Some(true)) => "yes".to_owned(),
        (None, Some(false)) => "no".to_owned(),
        (None, None) => "no occasion".to_owned(),
    };
    LawView { sentence: crate::laws::sentence(law.law), held: law.held, broken: law.broken.len(), proven }
}

fn clause_view(clause: &ClauseResult, deviations: &[Deviation]) -> ClauseView {
    let statuses: BTreeSet<String> =
        clause.cases.iter().map(|case| name(case.status)).chain([name(clause.status)]).collect();
    ClauseView {
        id: clause.id.clone(),
        text: clause.text.clone(),
        level: level(clause.level),
        status: name(clause.status),
        statuses: statuses.into_iter().collect::<Vec<_>>().join(" "),
        sign: mark(clause.status),
        class: class(clause.status),
        place: place(&clause.location),
        counts: case_counts(&clause.cases),
        cases: clause.cases.iter().map(|case| case_view(clause, case, deviations)).collect(),
    }
}

fn case_view(clause: &ClauseResult, case: &CaseResult, deviations: &[Deviation]) -> CaseView {
    let mut lines: Vec<String> = case.reason.iter().map(|reason| reason.text.clone()).collect();
    for (kind, checks) in kinds(clause, case).into_iter().filter(|(_, checks)| !checks.is_empty()) {
        lines.extend(kind.sentence().map(str::to_owned));
        lines.extend(sentences(&checks));
    }
    let deviation =
        case.asked.as_ref().and_then(|text| deviations.iter().position(|known| known.text == *text));
    CaseView {
        name: case.name.clone(),
        status: name(case.status),
        sign: mark(case.status),
        took: duration(case.duration_ms),
        lines,
        deviation: deviation.map(|at| at + 1),
    }
}

/// How many cases have which status, worst first.
fn case_counts<'a>(cases: impl IntoIterator<Item = &'a CaseResult>) -> Vec<CountView> {
    let mut counted: Vec<(Status, usize)> = Vec::new();
    for case in cases {
        match counted.iter_mut().find(|(status, _)| *status == case.status) {
            Some((_, count)) => *count += 1,
            None => counted.push((case.status, 1)),
        }
    }
    counted.sort_by_key(|(status, _)| Reverse(badness(*status)));
    let count = |(status, count): (Status, usize)| CountView {
        class: class(status),
        text: format!("{} {} {}", mark(status), thousands(count), words(status)),
    };
    counted.into_iter().map(count).collect()
}

fn all_cases(report: &Report) -> impl Iterator<Item = &CaseResult> {
    report.contracts.iter().flat_map(|contract| &contract.clauses).flat_map(|clause| &clause.cases)
}

/// `notSupported`, as in the report.
fn name(status: Status) -> String {
    serde_json::to_value(status).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
}

fn words(status: Status) -> &'static str {
    match status {
        Status::Passed => "passed",
        Status::Failed => "failed",
        Status::Errored => "errored",
        Status::Skipped => "skipped",
        Status::NotSupported => "not supported",
        Status::Waived => "waived",
        Status::UnexpectedPass => "passed though waived",
        Status::Vacuous => "vacuous",
        Status::NotRun => "not run",
    }
}

fn class(status: Status) -> &'static str {
    match status {
        Status::Passed => "good",
        Status::Failed => "bad",
        Status::Errored | Status::UnexpectedPass | Status::Vacuous | Status::Waived | Status::NotRun => {
            "warn"
        }
        Status::Skipped | Status::NotSupported => "faint",
    }
}

/// How much a status matters to a reader.
fn badness(status: Status) -> u8 {
    match status {
        Status::Failed => 8,
        Status::Errored => 7,
        Status::UnexpectedPass => 6,
        Status::Vacuous => 5,
        Status::NotRun => 4,
        Status::Waived => 3,
        Status::NotSupported => 2,
        Status::Skipped => 1,
        Status::Passed => 0,
    }
}
