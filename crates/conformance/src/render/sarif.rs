//! SARIF 2.1.0, as code scanning reads it: a rule per clause, a result per case that did not hold, at the row that says so.
//!
//! The shape is spelled out here: a crate for the whole of SARIF generates its types from the schema when it is built, and a
//! tenth of it is used.

use std::collections::BTreeMap;

use contract::model::{Level, Location};
use serde::Serialize;
use serde_json::{Value, json};

use super::{again, one_line};
use crate::report::{CaseResult, ClauseResult, ContractResult, Report, Status, WaiverUse};

/// The schema that the log keeps.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
/// Where the tool is at home.
const HOME: &str = "https://github.com/gardener/gardener-conformance";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: String,
    short_description: Text,
    help: Text,
    default_configuration: Value,
    properties: Value,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Finding {
    rule_id: String,
    rule_index: usize,
    level: &'static str,
    message: Text,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    locations: Vec<Value>,
    partial_fingerprints: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suppressions: Vec<Value>,
}

#[derive(Serialize)]
struct Text {
    text: String,
}

/// Rules and results, in the order of contracts.
#[derive(Default)]
struct Log {
    rules: Vec<Rule>,
    results: Vec<Finding>,
}

/// The report as SARIF 2.1.0.
///
/// A case that a waiver accepts is a result with a suppression; what could not be asked is a notification of the invocation.
/// Laws, unexplained changes, gaps, unproven clauses and what is not asked have rules of their own, where there are any.
#[must_use]
pub fn sarif(report: &Report) -> String {
    let mut log = Log::default();
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
                    "a clause is shown able to fail",
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

impl Log {
    /// Adds the rule of a clause.
    fn clause(&mut self, contract: &ContractResult, clause: &ClauseResult) -> usize {
        let source = clause.source.as_ref().map(super::explain::source).unwrap_or_default();
        let word = crate::report::level(clause.level);
        let help =
            format!("{word} · {source}\n`gardener-conformance explain {}` tells the clause.", clause.id);
        self.rules.push(Rule {
            id: clause.id.clone(),
            short_description: Text { text: clause.text.clone() },
            help: Text { text: help },
            default_configuration: json!({"level": level(clause.level)}),
            properties: json!({"tags": [word, contract.component, contract.name]}),
        });
        self.rules.len() - 1
    }

    /// Adds what no clause says of a contract.
    fn contract(&mut self, contract: &ContractResult) {
        // What is about a contract stands where its first clause does.
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
            let text = format!("{name}: {} became {}, and no clause speaks of it", found.path, found.became);
            self.finding(
                "unexplained",
                "nothing changes that no clause speaks of",
                (found.path.clone(), text),
                place(),
            );
        }
        for gap in &contract.gaps {
            let text = format!("{name}: {} changes in {}, and no case would miss it", gap.path, gap.case);
            self.finding("gap", "every change would be missed by a case", (gap.path.clone(), text), place());
        }
        for unasked in &contract.unasked {
            let text = format!("{name}: {unasked}");
            self.finding("unasked", "what changes is asked about", (unasked.path.clone(), text), place());
        }
    }

    /// Adds a result of a rule that is no clause.
    fn finding(&mut self, kind: &str, sentence: &str, (of, text): (String, String), locations: Vec<Value>) {
        let level = match kind {
            "law" | "unexplained" => "error",
            "gap" | "unproven" => "warning",
            _ => "note",
        };
        let id = if kind == "law" { format!("law: {sentence}") } else { kind.to_owned() };
        let known = self.rules.iter().position(|rule| rule.id == id);
        let rule_index = known.unwrap_or_else(|| {
            self.rules.push(Rule {
                id: id.clone(),
                short_description: Text { text: sentence.to_owned() },
                help: Text { text: format!("docs/reports.md of {HOME} says what {kind} is.") },
                default_configuration: json!({"level": level}),
                properties: json!({"tags": [kind]}),
            });
            self.rules.len() - 1
        });
        let partial_fingerprints = BTreeMap::from([("case/v1", format!("{id}/{of}"))]);
        let message = Text { text };
        let suppressions = Vec::new();
        self.results.push(Finding {
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

/// What became of a case, where it did not hold or was not to hold.
fn result(report: &Report, rule_index: usize, clause: &ClauseResult, case: &CaseResult) -> Option<Finding> {
    let id = format!("{}/{}", clause.id, case.name);
    let (level, text) = match case.status {
        Status::Failed | Status::Waived => (level(clause.level), told(report, clause, case, &id)),
        Status::UnexpectedPass => ("error", format!("{id} passes though it is waived: remove the waiver")),
        Status::Vacuous => ("warning", format!("{id} asserts nothing")),
        Status::Passed | Status::Errored | Status::Skipped | Status::NotSupported | Status::NotRun => {
            return None;
        }
    };
    let waivers =
        report.waivers.iter().filter(|used| used.clause == clause.id && case.status == Status::Waived);
    Some(Finding {
        rule_id: clause.id.clone(),
        rule_index,
        level,
        message: Text { text },
        locations: place(&case.location),
        partial_fingerprints: BTreeMap::from([("case/v1", id)]),
        suppressions: waivers.map(suppression).collect(),
    })
}

/// The sentence, what was given and done, what was wanted and what came, and how to ask again.
fn told(report: &Report, clause: &ClauseResult, case: &CaseResult, id: &str) -> String {
    let mut lines = vec![clause.text.clone()];
    lines.extend(case.story.clone());
    lines.extend(case.checks.iter().map(one_line));
    lines.push(format!("again: {}", again(report, id)));
    lines.join("\n")
}

fn suppression(used: &WaiverUse) -> Value {
    let WaiverUse { owner, reason, link, expires, .. } = used;
    let link = if link.is_empty() { String::new() } else { format!(" ({link})") };
    json!({
        "kind": "external", "status": "accepted", "justification": format!("{reason}{link}; {owner} until {expires}"),
    })
}

/// The file and line of a row; none where nobody knows.
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

/// How the run went; what could not be asked is no result, as it says nothing about the target.
fn invocation(report: &Report) -> Value {
    let clauses = report.contracts.iter().flat_map(|contract| &contract.clauses);
    let errored = clauses.flat_map(|clause| {
        clause.cases_with(Status::Errored).map(move |case| {
            let why = case.reason.as_ref().map(|reason| reason.text.as_str()).unwrap_or_default();
            format!("{}/{} could not be asked: {why}", clause.id, case.name)
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
