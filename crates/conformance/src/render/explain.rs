//! Explains a clause: sentence, source, cases, proof, attestations.

use std::fmt::Write as _;

use contract::document::attestation::{Attestation, Seen};
use contract::index::Outline;
use contract::model::{Clause, Contract, Location, Source};

use super::style::{Tone, View};
use super::{mark, plural};
use crate::report::{ClauseResult, Report};

/// A clause of a contract as text.
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
    line(&format!("  {}", clause.text));
    if let Some(from) = clause.source.as_ref().or(contract.source.as_ref()) {
        line(&format!("  Source   {}", source(from)));
    }
    for (name, texts) in
        [("Needs", &clause.needs), ("Presupposes", &clause.presupposes), ("Covers", &clause.covers)]
    {
        if !texts.is_empty() {
            line(&format!("  {name:8} {}", texts.join(", ")));
        }
    }
    if let Some(why) = &clause.why {
        line(&format!("  Decided  alone: {why}"));
    }
    if let Some(release) = release(contract, clause) {
        line(&format!("  Release  Gardener {release}"));
    }
    for (who, why) in &clause.differs {
        line(&format!("  Differs  {who}: {why}"));
    }
    let result = report.and_then(|report| result(report, clause));
    line(&format!(
        "  Cases    {}{}{}",
        clause.cases.len(),
        proven(result),
        attestations_of(clause, attestations)
    ));
    for case in &clause.cases {
        let found = result.and_then(|result| result.cases.iter().find(|found| found.name == case.name));
        let sign = found.map_or("·", |found| mark(found.status));
        let inputs: Vec<String> =
            case.inputs.iter().map(|(column, value)| format!("{column}={value}")).collect();
        line(&view.cut(&format!("    {sign} {}  {}", case.name, inputs.join(" ")), 0));
    }
    out
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

/// Similar ids of clauses, for an unknown id.
#[must_use]
pub fn near(contracts: &[Outline], id: &str) -> Vec<String> {
    let wanted = id.to_uppercase();
    let prefix = wanted.rsplit_once('-').map_or(wanted.as_str(), |(prefix, _)| prefix);
    let clauses = contracts.iter().flat_map(|contract| &contract.clauses);
    clauses.filter(|clause| clause.id.starts_with(prefix)).map(|clause| clause.id.clone()).take(5).collect()
}

/// `docs/concepts/resource-manager.md § High Availability Config (sentence 4f1c…)`, or the file of the original's code.
#[must_use]
pub(crate) fn source(source: &Source) -> String {
    let mut text = source.document.clone().or_else(|| source.code.clone()).unwrap_or_default();
    if let Some(section) = &source.section {
        write!(text, " § {section}").expect("writing to memory does not fail");
    }
    let details: Vec<String> = source
        .version
        .iter()
        .cloned()
        .chain(source.sentence.iter().map(|sentence| format!("sentence {sentence}")))
        .collect();
    if details.is_empty() { text } else { format!("{text} ({})", details.join(", ")) }
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
