//! SARIF 2.1.0 for code scanning: a rule per clause, and a result per cause of cases that did not pass. A result lies on the
//! author's own file, if the report names one, with the rows of the contract as related locations; else at the first row.
//!
//! The types are defined here: a crate for all of SARIF generates its types from the schema at build time, and only a tenth of
//! them is needed.

use std::collections::BTreeMap;

use contract::model::{Level, Location};
use serde::Serialize;
use serde_json::{Value, json};

use super::findings::ABOUT_CONTRACTS;
use super::program_message::program_message;
use super::unexplained::{REMEDY, UnexplainedChange, unexplained_of};
use super::{explain_command, plural, repeat_command};
use crate::causes::{Cause, CauseKind, causes};
use crate::difference::{first_of, sentences};
use crate::report::{ClauseResult, ContractResult, Report, Status, WaiverUse};

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
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Value>,
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
    /// The author's own file.
    own: Vec<Value>,
}

/// Number of related locations of a result.
const RELATED: usize = 10;

/// The report as SARIF 2.1.0.
///
/// A waived cause is a result with a suppression; a case that could not run is a notification of the invocation. Laws, unexplained
/// changes, gaps, unproven clauses and changes of clauses that did not run have rules of their own, if there are any.
#[must_use]
pub fn sarif(report: &Report) -> String {
    let mut log = SarifLog { own: own_file(report), ..SarifLog::default() };
    for contract in &report.contracts {
        contract.clauses.iter().for_each(|clause| log.clause(report, contract, clause));
    }
    for status in [Status::Failed, Status::Waived] {
        for cause in &causes(&report.contracts, status) {
            log.cause(report, cause, status);
        }
    }
    for change in &unexplained_of(report) {
        log.change(report, change);
    }
    for contract in &report.contracts {
        contract.clauses.iter().for_each(|clause| log.about_waiver_or_proof(report, clause));
        log.contract(report, contract);
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
    fn clause(&mut self, report: &Report, contract: &ContractResult, clause: &ClauseResult) {
        let source = clause.source.as_ref().map(super::explain::source).unwrap_or_default();
        let word = crate::report::level(clause.level);
        let help =
            format!("{word} · {source}\n`{}` explains the clause.", explain_command(report, &clause.id));
        self.rules.push(SarifRule {
            id: clause.id.clone(),
            short_description: SarifText { text: clause.text.clone() },
            help: SarifText { text: help },
            default_configuration: json!({"level": level(clause.level)}),
            properties: json!({"tags": [word, contract.component, contract.name]}),
        });
    }

    /// Adds a cause of failed or waived cases.
    fn cause(&mut self, report: &Report, cause: &Cause<'_>, status: Status) {
        let rows = std::iter::once(&cause.case.location)
            .chain(cause.others.iter().map(|other| &other.case.location));
        let mut locations: Vec<Value> = Vec::new();
        for row in rows.flat_map(place) {
            if locations.len() < RELATED && !locations.contains(&row) {
                locations.push(row);
            }
        }
        let text = message_text(report, cause);
        let rule = match cause.kind {
            CauseKind::Clause(..) | CauseKind::Environment(_) => cause.clause.id.clone(),
            CauseKind::Law(_) | CauseKind::Exchange(_) => {
                let kind = cause.subject().split(' ').next().unwrap_or_default().to_owned();
                self.rule(&kind, cause.sentence())
            }
        };
        let of = cause.id();
        self.push(rule, level(cause.level()), (of, text), locations);
        let waived =
            report.waivers.iter().filter(|used| status == Status::Waived && is_waiver_of(used, cause));
        if let Some(result) = self.results.last_mut() {
            result.suppressions = waived.map(suppression).collect();
        }
    }

    /// Adds what is wrong with a clause that did not fail.
    fn about_waiver_or_proof(&mut self, report: &Report, clause: &ClauseResult) {
        for (status, level, text) in [
            (Status::UnexpectedPass, "error", "passes though it is waived: remove the waiver"),
            (Status::Vacuous, "warning", "asserts nothing"),
        ] {
            for case in clause.cases_with(status) {
                let id = format!("{}/{}", clause.id, case.name);
                self.push(
                    clause.id.clone(),
                    level,
                    (id.clone(), format!("{id} {text}")),
                    place(&case.location),
                );
            }
        }
        if clause.status == Status::Passed && clause.proof.as_ref().is_some_and(|proof| !proof.proven) {
            let text = apart(report, &format!("{} passes and is not proven able to fail", clause.id));
            let locations = place(&clause.location);
            let level = level_of_weakness(report);
            let rule = self.rule("unproven", "a clause is proven able to fail");
            self.push(rule, level, (clause.id.clone(), text), locations);
        }
    }

    /// Adds a change that no clause explains.
    fn change(&mut self, report: &Report, found: &UnexplainedChange<'_>) {
        let cases = found.cases();
        let text = format!(
            "{}: no clause explains a change of {}: {}\nin {}, first {}\n{REMEDY}: {}\nagain: {}",
            found.contracts(),
            found.objects(),
            found.sentence(),
            plural(cases.len(), "case"),
            cases.first().copied().unwrap_or_default(),
            found.path(),
            found.again(report)
        );
        let first = found.contracts.iter().filter_map(|contract| contract.clauses.first());
        let locations = first.flat_map(|clause| place(&clause.location)).collect();
        let of = found.path().to_owned();
        self.finding("unexplained", "a clause explains every change", (of, text), locations);
    }

    /// Adds the findings about a contract.
    fn contract(&mut self, report: &Report, contract: &ContractResult) {
        // Findings about a contract have the location of its first clause.
        let first = contract.clauses.first();
        let place = || first.map(|clause| place(&clause.location)).unwrap_or_default();
        let name = &contract.name;
        for gap in &contract.gaps {
            let text = format!("{name}: {} changes in {}, and no case would miss it", gap.path, gap.case);
            let rule = self.rule("gap", "a case would miss every change");
            let about = (gap.path.clone(), apart(report, &text));
            self.push(rule, level_of_weakness(report), about, place());
        }
        for unasked in &contract.unasked {
            let text = format!("{name}: {unasked}");
            self.finding("unasked", "the clauses of every change run", (unasked.path.clone(), text), place());
        }
    }

    /// Adds a result of a rule that is not a clause.
    fn finding(&mut self, kind: &str, sentence: &str, about: (String, String), locations: Vec<Value>) {
        let rule = self.rule(kind, sentence);
        self.push(rule, level_of(kind), about, locations);
    }

    /// The id of a rule that is not a clause; adds the rule if it is new.
    fn rule(&mut self, kind: &str, sentence: &str) -> String {
        let id = match kind {
            "law" | "exchange" => format!("{kind}: {sentence}"),
            kind => kind.to_owned(),
        };
        if !self.rules.iter().any(|rule| rule.id == id) {
            self.rules.push(SarifRule {
                id: id.clone(),
                short_description: SarifText { text: sentence.to_owned() },
                help: SarifText { text: format!("docs/reports.md of {HOME} explains {kind}.") },
                default_configuration: json!({"level": level_of(kind)}),
                properties: json!({"tags": [kind]}),
            });
        }
        id
    }

    /// Adds a result of a rule about something, with a text.
    fn push(&mut self, rule: String, level: &'static str, (of, text): (String, String), rows: Vec<Value>) {
        let rule_index = self.rules.iter().position(|known| known.id == rule).unwrap_or_default();
        let of = if rule.contains(':') {
            rule.clone()
        } else if of.starts_with(&rule) {
            of
        } else {
            format!("{rule}/{of}")
        };
        let (locations, related_locations) = if self.own.is_empty() {
            (rows.into_iter().take(1).collect(), Vec::new())
        } else {
            (self.own.clone(), rows)
        };
        self.results.push(SarifResult {
            rule_id: rule,
            rule_index,
            level,
            message: SarifText { text },
            locations,
            related_locations,
            partial_fingerprints: BTreeMap::from([("case/v1", of)]),
            suppressions: Vec::new(),
        });
    }
}

fn level_of(kind: &str) -> &'static str {
    match kind {
        "law" | "exchange" | "unexplained" => "error",
        "gap" | "unproven" => "warning",
        _ => "note",
    }
}

/// The level of gaps and unproven clauses: of targets that are not ours they do not count.
fn level_of_weakness(report: &Report) -> &'static str {
    if report.target.kind.is_foreign() { "note" } else { "warning" }
}

/// The text of a gap or an unproven clause, which is not about a target that is not ours.
fn apart(report: &Report, text: &str) -> String {
    if report.target.kind.is_foreign() { format!("{ABOUT_CONTRACTS}: {text}") } else { text.to_owned() }
}

/// The source file that the target file names, else the target file.
fn own_file(report: &Report) -> Vec<Value> {
    report.run.file.as_ref().map(|file| json!({"physicalLocation": {"artifactLocation": {"uri": uri(file)}, "region": {"startLine": 1, "startColumn": 1}}}))
        .into_iter()
        .collect()
}

fn is_waiver_of(used: &WaiverUse, cause: &Cause<'_>) -> bool {
    match cause.kind {
        CauseKind::Law(law) => used.clause == crate::laws::name(law) || used.clause == cause.clause.id,
        _ => used.clause == cause.clause.id,
    }
}

/// The message: sentence, given and when, differences, how many cases, and the command that repeats the first.
fn message_text(report: &Report, cause: &Cause<'_>) -> String {
    let mut lines = vec![cause.sentence().to_owned()];
    lines.extend(cause.case.story.clone());
    lines.extend(sentences(&cause.checks));
    lines.extend(cause.text.map(str::to_owned));
    if let (CauseKind::Exchange(_), Some(message)) = (&cause.kind, program_message(cause.case)) {
        let place = message.place.map(|place| format!(" at {place}")).unwrap_or_default();
        lines.push(format!("the webhook said: {}{place}", message.text));
    }
    let also = |(other, sentences): (&crate::causes::Affected<'_>, Vec<String>)| {
        format!("also {}/{}: {}", other.clause.id, other.case.name, first_of(&sentences))
    };
    lines.extend(cause.variants().into_iter().take(RELATED).map(also));
    if !cause.others.is_empty() {
        let clauses = cause.clauses();
        lines.push(format!("{} of {}", plural(cause.others.len() + 1, "case"), clauses.join(", ")));
    }
    if !cause.not_run.is_empty() {
        lines.push(format!("not run for this reason: {}", cause.not_run.join(", ")));
    }
    lines.push(format!("again: {}", repeat_command(report, &cause.id())));
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
    let mut physical = json!({"artifactLocation": {"uri": uri(&location.file)}});
    if location.line > 0 {
        physical["region"] = json!({"startLine": location.line, "startColumn": location.column.max(1)});
    }
    vec![json!({"physicalLocation": physical})]
}

/// A path as a relative reference of a URI.
fn uri(path: &str) -> String {
    path.strip_prefix("./").unwrap_or(path).replace('%', "%25").replace(' ', "%20")
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
