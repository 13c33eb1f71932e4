//! Coverage: counts clauses with cases, passing, proven and attested, against the ledgers. Reads reports, runs nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use contract::document::ledger::Ledger;
use contract::index::{Records, Summary};
use serde::{Deserialize, Serialize};

use crate::report::{Report, Status};

/// Counts of one component, or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Count {
    /// Sentences and rows of the ledger that are in scope.
    pub sentences: usize,
    /// Those of them without a clause.
    pub not_yet: usize,
    /// Clauses, and sentences of the ledger without a clause.
    pub clauses: usize,
    /// Clauses with at least one case.
    pub with_cases: usize,
    /// Clauses that pass in the report.
    pub passing: usize,
    /// Clauses that are proven able to fail.
    pub proven: usize,
    /// Clauses that a foreign implementation keeps, or from which it differs for a stated reason.
    pub attested: usize,
    /// Changes of the component's code that were tried with its contracts as the only tests.
    pub mutants_tried: usize,
    /// Those that a contract noticed.
    pub mutants_noticed: usize,
    /// Those that none noticed, for a stated reason.
    pub mutants_reasoned: usize,
}

/// Counts per component, also of components that have only a ledger, and in total:
/// `{"resource-manager": {…}, "total": {…}}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coverage {
    /// By component.
    #[serde(flatten)]
    pub components: BTreeMap<String, Count>,
    /// Over all.
    pub total: Count,
}

/// Required shares, in per cent of `clauses`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Thresholds {
    /// Of clauses with cases.
    pub with_cases: Option<u8>,
    /// Of proven clauses.
    pub proven: Option<u8>,
    /// Of attested clauses.
    pub attested: Option<u8>,
}

/// Counts clauses. Without a report none passes; a clause that changed after the report does not count as passing, one that
/// changed after its attestation not as attested.
#[must_use]
pub fn coverage(
    clauses: &[Summary],
    report: Option<&Report>,
    ledgers: &[&Ledger],
    records: &Records,
) -> Coverage {
    let results =
        report.into_iter().flat_map(|report| &report.contracts).flat_map(|contract| &contract.clauses);
    let results: BTreeMap<(&str, &str), _> =
        results.map(|clause| ((clause.id.as_str(), clause.hash.as_str()), clause)).collect();
    let attested: BTreeSet<&str> =
        records.attestations.iter().flat_map(|attestation| attestation.attested(clauses)).collect();
    let mut coverage = Coverage::default();
    for clause in clauses {
        let count = coverage.components.entry(clause.component.clone()).or_default();
        let found = results.get(&(clause.id.as_str(), clause.hash.as_str()));
        let found = found.filter(|found| !found.partial);
        count.clauses += 1;
        count.with_cases += usize::from(clause.cases > 0);
        count.passing += usize::from(found.is_some_and(|found| found.status == Status::Passed));
        count.proven +=
            usize::from(found.and_then(|found| found.proof.as_ref()).is_some_and(|proof| proof.proven));
        count.attested += usize::from(attested.contains(clause.id.as_str()));
    }
    // A sentence without a clause counts as a clause that is missing.
    for ledger in ledgers {
        let count = coverage.components.entry(ledger.component.clone()).or_default();
        let open = ledger.entries.iter().filter(|entry| entry.is_open()).count();
        count.sentences += ledger.entries.iter().filter(|entry| entry.out_of_scope.is_none()).count();
        count.not_yet += open;
        count.clauses += open;
    }
    for mutants in &records.mutants {
        let count = coverage.components.entry(mutants.component.clone()).or_default();
        count.mutants_tried += mutants.tried;
        count.mutants_noticed += mutants.noticed;
        count.mutants_reasoned += mutants.reasoned;
    }
    for count in coverage.components.values() {
        coverage.total.add(count);
    }
    coverage
}

impl Coverage {
    /// Descriptions of missed thresholds; empty: exit code 0, else 6.
    #[must_use]
    pub fn shortfalls(&self, wanted: Thresholds) -> Vec<String> {
        let total = &self.total;
        let shares = [
            ("with cases", total.with_cases, wanted.with_cases),
            ("proven", total.proven, wanted.proven),
            ("attested", total.attested, wanted.attested),
        ];
        let short = shares.into_iter().filter_map(|(name, count, least)| {
            let least = usize::from(least?);
            let short = count * 100 < least * total.clauses || (total.clauses == 0 && least > 0);
            short
                .then(|| format!("{name}: {count} of {} clauses, at least {least} % required", total.clauses))
        });
        short.collect()
    }

    /// As a table.
    ///
    /// # Panics
    /// Never: writing to memory does not fail.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = format!(
            "{:24} {:>9} {:>7} {:>8} {:>11} {:>8} {:>7} {:>9} {:>11}\n",
            "component",
            "sentences",
            "not yet",
            "clauses",
            "with cases",
            "passing",
            "proven",
            "attested",
            "mutants"
        );
        let rows = self.components.iter().map(|(name, count)| (name.as_str(), count));
        for (name, count) in rows.chain([("total", &self.total)]) {
            let Count { sentences, not_yet, clauses, with_cases, passing, proven, attested, .. } = count;
            let mutants = match count.mutants_tried {
                0 => "-".to_owned(),
                tried => format!("{} of {tried}", count.mutants_noticed),
            };
            writeln!(
                text,
                "{name:24} {sentences:>9} {not_yet:>7} {clauses:>8} {with_cases:>11} {passing:>8} {proven:>7} {attested:>9} {mutants:>11}"
            )
            .expect("writing to memory does not fail");
        }
        text
    }

    /// As JSON.
    ///
    /// # Panics
    /// Never: counts are JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("counts are JSON")
    }
}

impl Count {
    fn add(&mut self, other: &Self) {
        self.sentences += other.sentences;
        self.not_yet += other.not_yet;
        self.clauses += other.clauses;
        self.with_cases += other.with_cases;
        self.passing += other.passing;
        self.proven += other.proven;
        self.attested += other.attested;
        self.mutants_tried += other.mutants_tried;
        self.mutants_noticed += other.mutants_noticed;
        self.mutants_reasoned += other.mutants_reasoned;
    }
}
