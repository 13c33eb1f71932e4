//! SARIF 2.1.0 for code scanning: a rule per clause, and a result per case that did not pass, at its row.
//!
//! The types are defined here: a crate for all of SARIF generates its types from the schema at build time, and only a tenth of
//! them is needed.

use std::collections::BTreeMap;

use contract::model::{Level, Location};
use serde::Serialize;
use serde_json::{Value, json};

use super::{one_line, repeat_command};
use crate::report::{CaseResult, ClauseResult, ContractResult, Report, Status, WaiverUse};

/// The schema of the log.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
/// The home page of the tool.
const HOME: &str = "https://github.com/gardener/gardener-conformance";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifRule {
    id: String,
    short_description: SarifText,
    help: SarifText,
    default_configuration: Value,
    properties: Value,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifResult {
    rule_id: String,
    rule_index: usize,
    level: &'static str,
    message: SarifText,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    locations: Vec<Value>,
    partial_fingerprints: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suppressions: Vec<Value>,
}

#[derive(Serialize)]
struct SarifText {
    text: String,
}

/// Rules and results, in the order of contracts.
#[derive(Default)]
struct SarifLog {
    rules: Vec<SarifRule>,
    results: Vec<SarifResult>,
}

/// The report as SARIF 2.1.0.
///
/// A waived case is a result with a suppression; a case that could not run is a notification of the invocation. Laws, unexplained
/// changes, gaps, unproven clauses and changes of clauses that did not run have rules of their own, if there are any.
#[must_use]
pub fn sarif(report: &Report) -> String {
    let mut log = SarifLog::default();
    for contract in &report.contracts {
        for clause in &contract.clauses {
            let rule = log.clause(contract, clause);
            for case in &clause.cases {
                log.results.extend(result(report, rule, clause, case));
            }
            if clause.status == Status::Passed && clause.proof.as_ref().is_some_and(|proof| !proof.proven) {
                let text = format!("{} passes and is not proven able to fail", clause.id);
                log.finding(
                    "unproven",
                    "a clause is proven able to fail",
                    (clause.id.clone(), text),
                    place(&clause.location),
                );
            }
        }
        log.contract(contract);
    }
    let document = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "gardener-conformance", "informationUri": HOME, "version": report.run.version, "rules": log.rules,
            }},
            "automationDetails": {"id": format!("gardener-conformance/{}/", report.target.name)},
            "invocations": [invocation(report)],
            "results": log.results,
            "columnKind": "unicodeCodePoints",
        }],
    });
    format!("{document:#}\n")
}

impl SarifLog {
    /// Adds the rule of a clause.
    fn clause(&mut self, contract: &ContractResult, clause: &ClauseResult) -> usize {
        let source = clause.source.as_ref().map(super::explain::source).unwrap_or_default();
        let word = crate::report::level(clause.level);
        let help =
            format!("{word} · {source}\n`gardener-conformance explain {}` explains the clause.", clause.id);
        self.rules.push(SarifRule {
            id: clause.id.clone(),
            short_description: SarifText { text: clause.text.clone() },
            help: SarifText { text: help },
            default_configuration: json!({"level": level(clause.level)}),
            properties: json!({"tags": [word, contract.component, contract.name]}),
        });
        self.rules.len() - 1
    }

    /// Adds the findings about a contract.
    fn contract(&mut self, contract: &ContractResult) {
        // Findings about a contract have the location of its first clause.
        let first = contract.clauses.first();
        let place = || first.map(|clause| place(&clause.location)).unwrap_or_default();
        let name = &contract.name;
        for law in &contract.laws {
            for breach in &law.broken {
                let text = format!("{}: {}", breach.case, breach.text);
                self.finding("law", crate::laws::sentence(law.law), (breach.case.clone(), text), place());
            }
        }
        for found in &contract.unexplained {
            let text = format!("{name}: {} became {}, which no clause explains", found.path, found.became);
            self.finding(
                "unexplained",
                "a clause explains every change",
                (found.path.clone(), text),
                place(),
            );
        }
        for gap in &contract.gaps {
            let text = format!("{name}: {} changes in {}, and no case would miss it", gap.path, gap.case);
            self.finding("gap", "a case would miss every change", (gap.path.clone(), text), place());
        }
        for unasked in &contract.unasked {
            let text = format!("{name}: {unasked}");
            self.finding("unasked", "the clauses of every change run", (unasked.path.clone(), text), place());
        }
    }

    /// Adds a result of a rule that is not a clause.
    fn finding(&mut self, kind: &str, sentence: &str, (of, text): (String, String), locations: Vec<Value>) {
        let level = match kind {
            "law" | "unexplained" => "error",
            "gap" | "unproven" => "warning",
            _ => "note",
        };
        let id = if kind == "law" { format!("law: {sentence}") } else { kind.to_owned() };
        let known = self.rules.iter().position(|rule| rule.id == id);
        let rule_index = known.unwrap_or_else(|| {
            self.rules.push(SarifRule {
                id: id.clone(),
                short_description: SarifText { text: sentence.to_owned() },
                help: SarifText { text: format!("docs/reports.md of {HOME} explains {kind}.") },
                default_configuration: json!({"level": level}),
                properties: json!({"tags": [kind]}),
            });
            self.rules.len() - 1
        });
        let partial_fingerprints = BTreeMap::from([("case/v1", format!("{id}/{of}"))]);
        let message = SarifText { text };
        let suppressions = Vec::new();
        self.results.push(SarifResult {
            rule_id: id,
            rule_index,
            level,
            message,
            locations,
            partial_fingerprints,
            suppressions,
        });
    }
}

/// The result of a case that did not pass, or was not expected to pass.
fn result(
    report: &Report,
    rule_index: usize,
    clause: &ClauseResult,
    case: &CaseResult,
) -> Option<SarifResult> {
    let id = format!("{}/{}", clause.id, case.name);
    let (level, text) = match case.status {
        Status::Failed | Status::Waived => (level(clause.level), message_text(report, clause, case, &id)),
        Status::UnexpectedPass => ("error", format!("{id} passes though it is waived: remove the waiver")),
        Status::Vacuous => ("warning", format!("{id} asserts nothing")),
        Status::Passed | Status::Errored | Status::Skipped | Status::NotSupported | Status::NotRun => {
            return None;
        }
    };
    let waivers =
        report.waivers.iter().filter(|used| used.clause == clause.id && case.status == Status::Waived);
    Some(SarifResult {
        rule_id: clause.id.clone(),
        rule_index,
        level,
        message: SarifText { text },
        locations: place(&case.location),
        partial_fingerprints: BTreeMap::from([("case/v1", id)]),
        suppressions: waivers.map(suppression).collect(),
    })
}

/// The message: sentence, given and when, failed checks, and the command that repeats the case.
fn message_text(report: &Report, clause: &ClauseResult, case: &CaseResult, id: &str) -> String {
    let mut lines = vec![clause.text.clone()];
    lines.extend(case.story.clone());
    lines.extend(case.checks.iter().map(one_line));
    lines.push(format!("again: {}", repeat_command(report, id)));
    lines.join("\n")
}

fn suppression(used: &WaiverUse) -> Value {
    let WaiverUse { owner, reason, link, expires, .. } = used;
    let link = if link.is_empty() { String::new() } else { format!(" ({link})") };
    json!({
        "kind": "external", "status": "accepted", "justification": format!("{reason}{link}; {owner} until {expires}"),
    })
}

/// The file and line of a row; empty if unknown.
fn place(location: &Location) -> Vec<Value> {
    if location.file.is_empty() {
        return Vec::new();
    }
    let mut physical =
        json!({"artifactLocation": {"uri": location.file.replace('%', "%25").replace(' ', "%20")}});
    if location.line > 0 {
        physical["region"] = json!({"startLine": location.line, "startColumn": location.column.max(1)});
    }
    vec![json!({"physicalLocation": physical})]
}

/// The invocation; cases that could not run are notifications, since they say nothing about the target.
fn invocation(report: &Report) -> Value {
    let clauses = report.contracts.iter().flat_map(|contract| &contract.clauses);
    let errored = clauses.flat_map(|clause| {
        clause.cases_with(Status::Errored).map(move |case| {
            let why = case.reason.as_ref().map(|reason| reason.text.as_str()).unwrap_or_default();
            format!("{}/{} could not run: {why}", clause.id, case.name)
        })
    });
    let notes: Vec<Value> = report
        .environment_errors
        .iter()
        .cloned()
        .chain(errored)
        .map(|text| json!({"level": "error", "message": {"text": text}}))
        .collect();
    let mut invocation = json!({
        "executionSuccessful": report.interrupted.is_none() && notes.is_empty(),
        "commandLine": report.run.command,
        "exitCode": report.exit_code(),
        "toolExecutionNotifications": notes,
    });
    if !report.run.started_at.is_empty() {
        invocation["startTimeUtc"] = json!(report.run.started_at);
    }
    invocation
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Must => "error",
        Level::Should => "warning",
        Level::May => "note",
    }
}
