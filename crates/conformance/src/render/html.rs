//! One HTML file: no network access, light and dark, printable; first what needs attention, then everything.

use std::collections::BTreeMap;

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment};
use serde::Serialize;
use serde_json::Value;

use super::attention::causes;
use super::diff::diff;
use super::{duration, mark, repeat_command, thousands};
use crate::report::{ClauseResult, ContractResult, Evidence, Report, Status, Verdict};

const PAGE: &str = include_str!("../../templates/report.html");
/// The CSS of our pages.
pub const PAGE_STYLE: &str = include_str!("../../templates/report.css");

/// Why the page cannot be rendered.
#[derive(Debug, thiserror::Error)]
#[error("failed to write HTML: {0}")]
pub struct HtmlError(#[from] minijinja::Error);

#[derive(Serialize)]
struct Page<'a> {
    report: &'a Report,
    verdict: &'static str,
    verdict_class: &'static str,
    style: &'static str,
    failures: Vec<Failure>,
    strip: Vec<ContractCell>,
    unproven: Vec<&'a ClauseResult>,
    sentences: BTreeMap<String, &'static str>,
    levels: [&'static str; 3],
    untold_release: Option<String>,
}

#[derive(Serialize)]
struct Failure {
    contract: String,
    clause: String,
    text: String,
    level: &'static str,
    source: String,
    place: String,
    case: String,
    status: Status,
    sign: &'static str,
    story: Vec<String>,
    diff: Vec<DiffRow>,
    reason: String,
    others: Vec<String>,
    repeat_command: String,
    request: String,
    response: String,
    asked: String,
}

#[derive(Serialize)]
struct DiffRow {
    sign: char,
    text: String,
    note: &'static str,
}

#[derive(Serialize)]
struct ContractCell {
    name: String,
    component: String,
    sign: &'static str,
    class: &'static str,
    words: String,
}

/// The page.
///
/// # Errors
/// If the template fails.
pub fn html(report: &Report) -> Result<String, HtmlError> {
    let mut environment = Environment::new();
    environment
        .set_auto_escape_callback(|name| if name == "page" { AutoEscape::Html } else { AutoEscape::None });
    environment.add_filter("duration", |milliseconds: f64| duration(milliseconds));
    environment.add_filter("thousands", |number: usize| thousands(number));
    environment.add_filter("mark", |status: String| status_of(&status).map_or("", mark));
    environment.add_template("page", PAGE)?;
    let page = environment.get_template("page")?;
    let failures: Vec<Failure> =
        [Status::Failed, Status::Errored].into_iter().flat_map(|status| failures(report, status)).collect();
    let strip: Vec<ContractCell> = report.contracts.iter().map(cell).collect();
    let unproven: Vec<_> = report
        .contracts
        .iter()
        .flat_map(|contract| &contract.clauses)
        .filter(|clause| {
            clause.status == Status::Passed && clause.proof.as_ref().is_some_and(|proof| !proof.proven)
        })
        .collect();
    let sentences: BTreeMap<String, &'static str> = crate::laws::ALL
        .into_iter()
        .map(|law| (crate::laws::name(law), crate::laws::sentence(law)))
        .collect();
    let content = Page {
        report,
        verdict: report.verdict.label(),
        verdict_class: class(report.verdict),
        style: PAGE_STYLE,
        failures,
        strip,
        unproven,
        sentences,
        levels: ["MUST", "SHOULD", "MAY"],
        untold_release: report.unknown_release_note(),
    };
    Ok(page.render(minijinja::Value::from(Serde(content)))?)
}

fn failures(report: &Report, status: Status) -> Vec<Failure> {
    let found = causes(report, status).into_iter().map(|cause| {
        let (clause, case) = (cause.clause, cause.case);
        let id = format!("{}/{}", clause.id, case.name);
        let pieces = diff(&case.checks).into_iter();
        Failure {
            contract: cause.contract.name.clone(),
            clause: clause.id.clone(),
            text: clause.text.clone(),
            level: super::explain::level(clause),
            source: clause.source.as_ref().map(super::explain::source).unwrap_or_default(),
            place: super::explain::place(&case.location),
            case: case.name.clone(),
            status,
            sign: mark(status),
            story: case.story.clone(),
            diff: pieces
                .map(|piece| DiffRow { sign: piece.sign, text: piece.text, note: piece.note })
                .collect(),
            reason: case.reason.as_ref().map(|reason| reason.text.clone()).unwrap_or_default(),
            others: cause.others,
            repeat_command: repeat_command(report, &id),
            request: case.evidence.as_ref().map(|evidence| pretty(&evidence.request)).unwrap_or_default(),
            response: case.evidence.as_ref().map(response).unwrap_or_default(),
            asked: case.evidence.as_ref().map(|evidence| evidence.asked.clone()).unwrap_or_default(),
        }
    });
    found.collect()
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

fn cell(contract: &ContractResult) -> ContractCell {
    let counts = &contract.counts;
    let warns = contract.verdict <= Verdict::Partial && contract.has_broken_should();
    let sign = match contract.verdict {
        _ if warns => "!",
        Verdict::Conformant => "✓",
        Verdict::Partial => "◐",
        Verdict::Inconclusive => "!",
        Verdict::NonConformant => "✗",
    };
    ContractCell {
        name: contract.name.clone(),
        component: contract.component.clone(),
        sign,
        class: if warns { "warn" } else { class(contract.verdict) },
        words: format!("{}: {} of {} cases passed", contract.verdict.label(), counts.passed, counts.cases),
    }
}

fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Conformant => "good",
        Verdict::Partial | Verdict::Inconclusive => "warn",
        Verdict::NonConformant => "bad",
    }
}

fn status_of(name: &str) -> Option<Status> {
    serde_json::from_value(Value::String(name.to_owned())).ok()
}
