//! Counts of cases and clauses.

use std::collections::BTreeMap;

use contract::model::Level;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::result::{CaseResult, ClauseResult, ContractResult, Status};

/// Numbers of cases by result, and of clauses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Clauses.
    pub clauses: usize,
    /// Clauses that are proven able to fail.
    pub proven: usize,
    /// Clauses of which at least one case was answered.
    pub answered: usize,
    /// Changes that no case would miss.
    pub gaps: usize,
    /// Changes that no clause explains.
    pub unexplained: usize,
    /// Laws that were broken.
    pub laws_broken: usize,
    /// Cases.
    pub cases: usize,
    /// Cases that passed.
    pub passed: usize,
    /// Cases that failed.
    pub failed: usize,
    /// Cases that could not run because of the environment.
    pub errored: usize,
    /// Cases left out.
    pub skipped: usize,
    /// Cases that target or substrate do not support.
    pub not_supported: usize,
    /// Cases that failed and are waived.
    pub waived: usize,
    /// Cases that passed though waived.
    pub unexpected_pass: usize,
    /// Cases that asserted nothing.
    pub vacuous: usize,
    /// Cases that did not run because the run ended.
    pub not_run: usize,
    /// Cases that did not run as usual on the run's substrate: see their `asked`.
    #[serde(default)]
    pub asked_otherwise: usize,
}

/// Clauses of one level.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LevelCounts {
    /// Clauses that hold.
    pub passed: usize,
    /// Clauses that count: all but skipped and not supported ones.
    pub total: usize,
    /// Clauses that hold of which not every case ran.
    #[serde(default)]
    pub partly: usize,
    /// Clauses that target or substrate do not support.
    pub not_supported: usize,
    /// Clauses that are proven able to fail.
    pub proven: usize,
}

/// Sums over all contracts, and their clauses by level.
#[must_use]
pub fn sums(contracts: &[ContractResult]) -> (Counts, BTreeMap<String, LevelCounts>) {
    let (mut counts, mut levels) = (Counts::default(), BTreeMap::<String, LevelCounts>::new());
    for contract in contracts {
        counts.add(&contract.counts);
        for clause in &contract.clauses {
            levels.entry(level(clause.level).to_owned()).or_default().count(clause);
        }
    }
    (counts, levels)
}

/// `MUST`, `SHOULD`, `MAY`.
#[must_use]
pub fn level(level: Level) -> &'static str {
    match level {
        Level::Must => "MUST",
        Level::Should => "SHOULD",
        Level::May => "MAY",
    }
}

impl Counts {
    /// Sums over clauses.
    #[must_use]
    pub fn of(clauses: &[ClauseResult]) -> Self {
        let mut counts = Self { clauses: clauses.len(), ..Self::default() };
        for clause in clauses {
            counts.proven += usize::from(clause.proof.as_ref().is_some_and(|proof| proof.proven));
            counts.answered += usize::from(clause.proof.is_some());
            clause.cases.iter().for_each(|case| counts.count(case));
        }
        counts
    }

    /// Adds another sum.
    pub fn add(&mut self, other: &Self) {
        self.clauses += other.clauses;
        self.proven += other.proven;
        self.answered += other.answered;
        self.gaps += other.gaps;
        self.unexplained += other.unexplained;
        self.laws_broken += other.laws_broken;
        self.cases += other.cases;
        self.passed += other.passed;
        self.failed += other.failed;
        self.errored += other.errored;
        self.skipped += other.skipped;
        self.not_supported += other.not_supported;
        self.waived += other.waived;
        self.unexpected_pass += other.unexpected_pass;
        self.vacuous += other.vacuous;
        self.not_run += other.not_run;
        self.asked_otherwise += other.asked_otherwise;
    }

    fn count(&mut self, case: &CaseResult) {
        self.cases += 1;
        self.asked_otherwise += usize::from(case.asked.is_some());
        *match case.status {
            Status::Passed => &mut self.passed,
            Status::Failed => &mut self.failed,
            Status::Errored => &mut self.errored,
            Status::Skipped => &mut self.skipped,
            Status::NotSupported => &mut self.not_supported,
            Status::Waived => &mut self.waived,
            Status::UnexpectedPass => &mut self.unexpected_pass,
            Status::Vacuous => &mut self.vacuous,
            Status::NotRun => &mut self.not_run,
        } += 1;
    }
}

impl LevelCounts {
    /// Adds a clause.
    pub fn count(&mut self, clause: &ClauseResult) {
        match clause.status {
            Status::Skipped => return,
            Status::NotSupported => {
                self.not_supported += 1;
                return;
            }
            Status::Passed | Status::UnexpectedPass => {
                self.passed += 1;
                self.partly += usize::from(clause.is_partly_answered());
            }
            Status::Failed | Status::Errored | Status::Waived | Status::Vacuous | Status::NotRun => {}
        }
        self.total += 1;
        self.proven += usize::from(clause.proof.as_ref().is_some_and(|proof| proof.proven));
    }
}
