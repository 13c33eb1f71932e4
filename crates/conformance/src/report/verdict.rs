//! Concludes a verdict from the statuses of clauses.

use contract::model::{Clause, Contract, Level};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Counts;
use super::proof::Proof;
use super::result::{CaseResult, ClauseResult, ContractResult, LawResult, ReasonCode, Status};
use crate::digest::digest;

/// The verdict. MUST decides, SHOULD warns, MAY is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Verdict {
    /// Every MUST clause that applies passed.
    Conformant,
    /// None failed, but some MUST clauses could not run for this target, or presuppose a broken SHOULD.
    Partial,
    /// The environment broke, or nothing ran.
    Inconclusive,
    /// A MUST clause or a law was broken, or a change is unexplained.
    NonConformant,
}

impl Verdict {
    /// The verdict on one contract. A case of any level that should have run and did not makes it inconclusive, consistent with
    /// the exit code.
    #[must_use]
    pub fn of(clauses: &[ClauseResult], laws: &[LawResult], unexplained: usize) -> Self {
        let failed =
            clauses.iter().any(|clause| clause.level == Level::Must && clause.status == Status::Failed);
        if failed || laws.iter().any(LawResult::is_broken) || unexplained > 0 {
            return Self::NonConformant;
        }
        if cases(clauses).any(is_open) || !cases(clauses).any(is_answer) {
            return Self::Inconclusive;
        }
        if is_withheld(clauses) { Self::Partial } else { Self::Conformant }
    }

    /// The verdict on several contracts. A contract that does not apply (skipped, or its feature or substrate is missing) does not
    /// count if others were answered; a withheld contract makes the verdict partial.
    #[must_use]
    pub fn over<'a>(contracts: impl IntoIterator<Item = (Self, &'a [ClauseResult])>) -> Self {
        let counted: Vec<_> =
            contracts.into_iter().filter(|(_, clauses)| !clauses.iter().all(is_skipped)).collect();
        let answered = counted.iter().any(|(_, clauses)| cases(clauses).any(is_answer));
        let share = |(verdict, clauses): (Self, &[ClauseResult])| {
            if verdict != Self::Inconclusive || !answered || !cases(clauses).all(is_excluded) {
                verdict
            } else if is_withheld(clauses) {
                Self::Partial
            } else {
                Self::Conformant
            }
        };
        counted.into_iter().map(share).max().unwrap_or(Self::Inconclusive)
    }

    /// The verdict on a run: environment errors and signals make it inconclusive, unless a contract was broken.
    #[must_use]
    pub(crate) fn concluded(
        contracts: &[ContractResult],
        broken: &[String],
        interrupted: Option<u8>,
    ) -> Self {
        let over = Self::over(contracts.iter().map(|found| (found.verdict, found.clauses.as_slice())));
        let disturbed = !broken.is_empty() || interrupted.is_some();
        if disturbed && over != Self::NonConformant { Self::Inconclusive } else { over }
    }

    /// `conformant`, `partial`, `not conformant`, `inconclusive`.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Conformant => "conformant",
            Self::Partial => "partial",
            Self::Inconclusive => "inconclusive",
            Self::NonConformant => "not conformant",
        }
    }
}

impl ContractResult {
    /// A contract's result with these clauses only.
    #[must_use]
    pub fn of(contract: &Contract, clauses: Vec<ClauseResult>, duration_ms: f64) -> Self {
        let hashes: Vec<&str> = contract.clauses.iter().map(|clause| clause.hash.as_str()).collect();
        Self {
            name: contract.name.clone(),
            component: contract.component.clone(),
            digest: digest(&hashes.join("\n")),
            verdict: Verdict::Inconclusive,
            counts: Counts::default(),
            duration_ms,
            clauses,
            laws: Vec::new(),
            gaps: Vec::new(),
            unasked: Vec::new(),
            unexplained: Vec::new(),
        }
    }

    /// Whether a SHOULD clause of it is broken, which is a warning.
    #[must_use]
    pub fn has_broken_should(&self) -> bool {
        self.clauses.iter().any(|clause| clause.level == Level::Should && clause.status == Status::Failed)
    }

    /// Sums up and concludes, from clauses, laws, gaps and unexplained mutations.
    pub fn conclude(&mut self) {
        self.counts = Counts::of(&self.clauses);
        self.counts.gaps = self.gaps.len();
        self.counts.unexplained = self.unexplained.len();
        self.counts.laws_broken = self.laws.iter().filter(|law| law.is_broken()).count();
        self.verdict = Verdict::of(&self.clauses, &self.laws, self.unexplained.len());
    }
}

impl ClauseResult {
    /// A clause's result from its cases.
    #[must_use]
    pub fn of(contract: &Contract, clause: &Clause, proof: Option<Proof>, cases: Vec<CaseResult>) -> Self {
        Self {
            id: clause.id.clone(),
            text: clause.text.clone(),
            level: clause.level,
            status: Self::conclude(&cases),
            partial: clause.is_partial,
            hash: clause.hash.clone(),
            source: clause.source.clone().or_else(|| contract.source.clone()),
            location: clause.location.clone(),
            proof,
            cases,
        }
    }

    /// Whether it is not proven able to fail. If only a part of its cases ran, only uncaught damages count: other cases may assert
    /// what no damage applied to.
    #[must_use]
    pub fn is_unproven(&self) -> bool {
        match &self.proof {
            Some(proof) if self.partial => !proof.survivors.is_empty(),
            Some(proof) => !proof.proven,
            None => true,
        }
    }

    /// The status of a clause: the worst of its cases.
    #[must_use]
    pub fn conclude(cases: &[CaseResult]) -> Status {
        const WORST_FIRST: [Status; 8] = [
            Status::Failed,
            Status::Errored,
            Status::NotRun,
            Status::Vacuous,
            Status::UnexpectedPass,
            Status::Waived,
            Status::Passed,
            Status::NotSupported,
        ];
        let there = |status: &Status| cases.iter().any(|case| case.status == *status);
        WORST_FIRST.into_iter().find(there).unwrap_or(Status::Skipped)
    }
}

fn cases(clauses: &[ClauseResult]) -> impl Iterator<Item = &CaseResult> {
    clauses.iter().flat_map(|clause| &clause.cases)
}

fn is_answer(case: &CaseResult) -> bool {
    case.status.is_answer()
}

/// Whether the case should have run and has no answer. One that presupposes a broken clause should not have run: the broken
/// clause decides.
fn is_open(case: &CaseResult) -> bool {
    matches!(case.status, Status::Errored | Status::NotRun | Status::Vacuous) && !case.is_presupposed()
}

fn is_excluded(case: &CaseResult) -> bool {
    matches!(case.status, Status::Skipped | Status::NotSupported) || case.is_presupposed()
}

/// Whether a MUST case has no result for a reason that is not a missing feature.
fn is_withheld(clauses: &[ClauseResult]) -> bool {
    let must = clauses.iter().filter(|clause| clause.level == Level::Must);
    must.flat_map(|clause| &clause.cases).any(|case| case.is_withheld() || case.is_presupposed())
}

impl CaseResult {
    /// Whether it did not run because a clause that it presupposes is broken.
    #[must_use]
    pub fn is_presupposed(&self) -> bool {
        self.status == Status::NotRun
            && self.reason.as_ref().is_some_and(|reason| reason.code == ReasonCode::Presupposed)
    }

    /// Whether it did not run because of missing information about the target, not because of the target's features.
    pub(crate) fn is_withheld(&self) -> bool {
        let codes = [
            ReasonCode::Facts,
            ReasonCode::Configuration,
            ReasonCode::Registration,
            ReasonCode::NotServed,
            ReasonCode::Form,
            ReasonCode::Object,
        ];
        self.status == Status::NotSupported
            && self.reason.as_ref().is_some_and(|reason| codes.contains(&reason.code))
    }
}

fn is_skipped(clause: &ClauseResult) -> bool {
    matches!(clause.status, Status::Skipped)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Reason;

    fn clause(status: Status, code: ReasonCode) -> ClauseResult {
        let location = contract::model::Location::default();
        let case = CaseResult::without_checks("case", &location, status, Reason::new(code, "a reason"));
        ClauseResult {
            id: "A-1".to_owned(),
            text: String::new(),
            level: Level::Must,
            status,
            partial: false,
            hash: String::new(),
            source: None,
            location,
            proof: None,
            cases: vec![case],
        }
    }

    #[test]
    fn a_withheld_contract_makes_the_verdict_partial() {
        let passed = [clause(Status::Passed, ReasonCode::Facts)];
        let withheld = [clause(Status::NotSupported, ReasonCode::Configuration)];
        let elsewhere = [clause(Status::NotSupported, ReasonCode::Substrate)];
        let without = [clause(Status::NotSupported, ReasonCode::Feature)];
        let errored = [clause(Status::Errored, ReasonCode::Facts)];
        let of = |clauses: &[ClauseResult]| Verdict::of(clauses, &[], 0);
        let over = |both: [&[ClauseResult]; 2]| Verdict::over(both.map(|clauses| (of(clauses), clauses)));
        let table = [
            (over([&passed, &withheld]), Verdict::Partial),
            (over([&withheld, &withheld]), Verdict::Inconclusive),
            (over([&passed, &elsewhere]), Verdict::Conformant),
            (over([&passed, &without]), Verdict::Conformant),
            (over([&elsewhere, &withheld]), Verdict::Inconclusive),
            (over([&passed, &errored]), Verdict::Inconclusive),
            (over([&passed, &passed]), Verdict::Conformant),
        ];
        for (got, wanted) in table {
            assert_eq!(got, wanted);
        }
        let broken = Verdict::over([(of(&passed), &passed[..]), (Verdict::NonConformant, &withheld[..])]);
        assert_eq!(broken, Verdict::NonConformant);
    }
}
