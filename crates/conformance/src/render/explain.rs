//! Explains a clause: sentence, source, cases, proof, attestations.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use contract::case::Case;
use contract::document::attestation::{Attestation, Seen};
use contract::index::Outline;
use contract::model::{Clause, Contract, Location, Source};
use serde_json::{Value, json};

use super::style::{Tone, View};
use super::{mark, plural};
use crate::gardener::advice;
use crate::report::{ClauseResult, Report, Status};

/// Number of cases that are named; the rest is counted.
const NAMED: usize = 20;

/// A clause of a contract as text: what holds, why, how a webhook in Go keeps it, and which cases fail.
///
/// # Panics
/// Never: writing to memory does not fail.
#[must_use]
pub fn explain(
    (contract, clause): (&Contract, &Clause),
    report: Option<&Report>,
    attestations: &[Attestation],
    view: &View<'_>,
) -> String {
    let mut out = String::new();
    let mut line =
        |text: &str| writeln!(out, "{}", text.trim_end()).expect("writing to memory does not fail");
    line(&format!(
        "{}  {} · {}",
        view.paint(Tone::Strong, &clause.id),
        binding(contract, clause),
        place(&clause.location)
    ));
    line(&view.wrap(&clause.text, "  ", "  "));
    let mut fact = |name: &str, text: &str| {
        line(&view.wrap(text, &format!("  {name:8} "), "           "));
    };
    if let Some(from) = clause.source.as_ref().or(contract.source.as_ref()) {
        fact("Source", &source(from));
    }
    if let Some(why) = advice::why(contract, clause) {
        fact("Why", &why);
    }
    for (number, text) in advice::in_go(contract, clause).iter().enumerate() {
        fact(if number == 0 { "In Go" } else { "" }, text);
    }
    for (name, texts) in
        [("Needs", &clause.needs), ("Presupposes", &clause.presupposes), ("Covers", &clause.covers)]
    {
        if !texts.is_empty() {
            fact(name, &texts.join(", "));
        }
    }
    if let Some(why) = &clause.why {
        fact("Decided", &format!("alone: {why}"));
    }
    if let Some(release) = release(contract, clause) {
        fact("Release", &format!("Gardener {release}"));
    }
    for (who, why) in &clause.differs {
        fact("Differs", &format!("{who}: {why}"));
    }
    for (substrate, why) in &clause.not_on {
        fact("Not on", &format!("{substrate}: {why}"));
    }
    let result = report.and_then(|report| result(report, clause));
    let attested = attestations_of(clause, attestations);
    fact("Cases", &format!("{}{}{attested}", counts(clause, result), proven(result)));
    for text in cases(clause, result, view) {
        line(&view.cut(&text, 0));
    }
    out
}

/// `12, of which 2 failed and 10 passed`; without a result the number alone.
fn counts(clause: &Clause, result: Option<&ClauseResult>) -> String {
    let all = clause.cases.len().to_string();
    let Some(result) = result else { return all };
    let count = |status: Status| result.cases.iter().filter(|case| case.status == status).count();
    let (failed, passed) = (count(Status::Failed), count(Status::Passed));
    let others = result.cases.len() - failed - passed;
    let parts = [(failed, "failed"), (others, "without a result"), (passed, "passed")];
    let parts: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
    if parts.is_empty() { all } else { format!("{all}: {}", parts.join(", ")) }
}

/// The cases to look at: failed ones first, then those without a result; passed ones only with a verbose view. Without a result
/// all of them, up to a number.
fn cases(clause: &Clause, result: Option<&ClauseResult>, view: &View<'_>) -> Vec<String> {
    let status_of = |name: &str| {
        let found = result.and_then(|result| result.cases.iter().find(|found| found.name == name));
        found.map(|found| found.status)
    };
    let rank = |status: Option<Status>| match status {
        Some(Status::Failed) => 0,
        Some(Status::Passed) => 2,
        Some(_) | None => 1,
    };
    let mut shown: Vec<_> = clause.cases.iter().map(|case| (status_of(&case.name), case)).collect();
    shown.retain(|(status, _)| view.verbose || *status != Some(Status::Passed));
    shown.sort_by_key(|(status, _)| rank(*status));
    let named = if view.verbose { shown.len() } else { NAMED };
    let mut lines: Vec<String> = shown
        .iter()
        .take(named)
        .map(|(status, case)| {
            let inputs: Vec<String> =
                case.inputs.iter().map(|(column, value)| format!("{column}={value}")).collect();
            format!("    {} {}  {}", status.map_or("·", mark), case.name, inputs.join(" "))
        })
        .collect();
    if shown.len() > named {
        lines.push(format!("    … and {} (-v prints all)", plural(shown.len() - named, "more case")));
    }
    lines
}

/// The same for programs.
#[must_use]
pub fn explain_json(
    (contract, clause): (&Contract, &Clause),
    report: Option<&Report>,
    attestations: &[Attestation],
) -> Value {
    let result = report.and_then(|report| result(report, clause));
    let case = |case: &Case| {
        let inputs: BTreeMap<&str, &str> =
            case.inputs.iter().map(|(column, value)| (column.as_str(), value.as_str())).collect();
        let found = result.and_then(|result| result.cases.iter().find(|found| found.name == case.name));
        json!({"name": case.name, "inputs": inputs, "status": found.map(|found| found.status)})
    };
    let seen: BTreeMap<String, Value> = attestations
        .iter()
        .filter_map(|attestation| {
            let seen = attestation.clauses.get(&clause.id)?;
            let who = format!("{} {}", attestation.target.name, attestation.target.version);
            Some((
                who,
                json!({"result": seen.result, "stale": seen.hash != clause.hash, "reason": seen.reason}),
            ))
        })
        .collect();
    json!({
        "id": clause.id, "level": crate::report::level(clause.level), "text": clause.text,
        "component": contract.component, "contract": contract.name, "binds": clause.binds,
        "location": clause.location, "source": clause.source.as_ref().or(contract.source.as_ref()),
        "why": advice::why(contract, clause), "inGo": advice::in_go(contract, clause), "needs": clause.needs,
        "presupposes": clause.presupposes, "differs": clause.differs, "notOn": clause.not_on, "attestations": seen,
        "status": result.map(|result| result.status),
        "proven": result.and_then(|result| result.proof.as_ref()).map(|proof| proof.proven),
        "cases": clause.cases.iter().map(case).collect::<Vec<_>>(),
    })
}

/// The level, whom it binds, and the versions: `MUST · binds extensions · Gardener >=1.98`.
fn binding(contract: &Contract, clause: &Clause) -> String {
    let level = crate::report::level(clause.level);
    let letter = clause.strict.map(|strict| format!(", {} with --strict", crate::report::level(strict)));
    let binds = match clause.binds {
        contract::model::Binds::Gardener => "Gardener",
        contract::model::Binds::Extension => "extensions",
        contract::model::Binds::Both => "both sides",
    };
    let whose = if contract.releases.is_some() { "Gardener" } else { "versions" };
    let since = clause.versions.as_ref().map(|versions| format!(" · {whose} {versions}"));
    format!("{level}{} · binds {binds}{}", letter.unwrap_or_default(), since.unwrap_or_default())
}

/// The release of Gardener for which a clause about some releases is verified, and how to set one that is not the default.
fn release(contract: &Contract, clause: &Clause) -> Option<String> {
    let releases = contract.releases.as_ref().filter(|_| clause.versions.is_some())?;
    let gardener = releases.usual(clause.versions.as_deref());
    let hint =
        if gardener == releases.default { "" } else { ", with --gardener or the target file's `gardener`" };
    Some(format!("{gardener}{hint}"))
}

/// Similar ids of clauses, for an unknown id: the nearest, then those with its prefix.
#[must_use]
pub fn near(contracts: &[Outline], id: &str) -> Vec<String> {
    let wanted = id.to_uppercase();
    let prefix = wanted.rsplit_once('-').map_or(wanted.as_str(), |(prefix, _)| prefix);
    let clauses = || contracts.iter().flat_map(|contract| &contract.clauses).map(|clause| clause.id.as_str());
    // The same number with more or fewer zeros is the intended one.
    let number = |id: &str| id.rsplit_once('-').and_then(|(_, digits)| digits.parse::<u32>().ok());
    let is_meant = |id: &&str| {
        number(id).is_some() && number(id) == number(&wanted) && id.starts_with(&format!("{prefix}-"))
    };
    if let Some(meant) = clauses().find(is_meant) {
        return vec![meant.to_owned()];
    }
    let nearest = contract::load::closest(&wanted, clauses());
    let others = clauses().filter(|id| id.starts_with(prefix) && Some(*id) != nearest);
    nearest.into_iter().chain(others).take(5).map(str::to_owned).collect()
}

/// `docs/concepts/resource-manager.md § High Availability Config (v1.63)`, or the file of the original's code.
#[must_use]
pub(crate) fn source(source: &Source) -> String {
    let mut text = source.document.clone().or_else(|| source.code.clone()).unwrap_or_default();
    if let Some(section) = &source.section {
        write!(text, " § {section}").expect("writing to memory does not fail");
    }
    match &source.version {
        Some(version) => format!("{text} ({version})"),
        None => text,
    }
}

/// `contracts/…/replicas.yaml:41`.
pub(crate) fn place(location: &Location) -> String {
    format!("{}:{}", location.file, location.line)
}

pub(crate) fn level(clause: &ClauseResult) -> &'static str {
    crate::report::level(clause.level)
}

/// The result of the clause in the report, if the clause has not changed since.
fn result<'a>(report: &'a Report, clause: &Clause) -> Option<&'a ClauseResult> {
    let clauses = report.contracts.iter().flat_map(|contract| &contract.clauses);
    clauses.into_iter().find(|result| result.id == clause.id && result.hash == clause.hash)
}

fn proven(result: Option<&ClauseResult>) -> String {
    let Some(proof) = result.and_then(|result| result.proof.as_ref()) else {
        return " · no proof in the report".to_owned();
    };
    if proof.proven {
        let kinds: Vec<&str> = proof.caught.keys().map(String::as_str).collect();
        return format!(" · proven by {}", kinds.join(", "));
    }
    let missed = proof.survivors.len() + proof.undamaged.len();
    format!(" · not proven ({} not caught)", plural(missed, "damage"))
}

fn attestations_of(clause: &Clause, attestations: &[Attestation]) -> String {
    let mut text = String::new();
    for attestation in attestations {
        let who = format!("{} {}", attestation.target.name, attestation.target.version);
        let Some(seen) = attestation.clauses.get(&clause.id) else { continue };
        let words = match seen.result {
            _ if seen.hash != clause.hash => "was attested before the clause changed",
            Seen::Kept => "keeps it",
            Seen::Differs => "differs",
            Seen::NotAttestable => "cannot be attested",
        };
        write!(text, " · {who} {words}").expect("writing to memory does not fail");
    }
    text
}
