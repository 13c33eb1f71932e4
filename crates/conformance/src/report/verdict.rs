//! What is concluded from the statuses of clauses.

use contract::model::Level;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::result::{CaseResult, ClauseResult, LawResult, ReasonCode, Status};

/// What is concluded. MUST decides, SHOULD warns, MAY is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Verdict {
    /// Every MUST clause that applies passed.
    Conformant,
    /// None failed, but some MUST clauses could not be asked of this target.
    Partial,
    /// The environment broke, or nothing ran.
    Inconclusive,
    /// A MUST clause or a law was broken, or something was changed that no clause explains.
    NonConformant,
}

impl Verdict {
    /// Concludes of one contract.
    #[must_use]
    pub fn of(clauses: &[ClauseResult], laws: &[LawResult], unexplained: usize) -> Self {
        let must: Vec<&ClauseResult> = clauses.iter().filter(|clause| clause.level == Level::Must).collect();
        let any = |status: Status| must.iter().any(|clause| clause.status == status);
        if any(Status::Failed) || laws.iter().any(|law| !law.broken.is_empty()) || unexplained > 0 {
            return Self::NonConformant;
        }
        let answered = clauses.iter().flat_map(|clause| &clause.cases).any(is_answer);
        if any(Status::Errored) || any(Status::NotRun) || any(Status::Vacuous) || !answered {
            return Self::Inconclusive;
        }
        if must.iter().flat_map(|clause| &clause.cases).any(is_withheld) {
            Self::Partial
        } else {
            Self::Conformant
        }
    }

    /// Concludes of several contracts; one that does not apply at all does not count.
    #[must_use]
    pub fn over<'a>(contracts: impl IntoIterator<Item = (Self, &'a [ClauseResult])>) -> Self {
        let counted = contracts.into_iter().filter(|(_, clauses)| !clauses.iter().all(is_out));
        counted.map(|(verdict, _)| verdict).max().unwrap_or(Self::Inconclusive)
    }

    /// `conformant`, `partial`, `not conformant`, `inconclusive`.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Conformant => "conformant",
            Self::Partial => "partial",
            Self::Inconclusive => "inconclusive",
            Self::NonConformant => "not conformant",
        }
    }
}

impl ClauseResult {
    /// What a clause became, from its cases: the worst of them.
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

fn is_answer(case: &CaseResult) -> bool {
    matches!(case.status, Status::Passed | Status::Failed | Status::Waived | Status::UnexpectedPass)
}

/// Not asked for a reason that lies with how the target was given, not with what it declares.
fn is_withheld(case: &CaseResult) -> bool {
    let codes = [
        ReasonCode::Facts,
        ReasonCode::Configuration,
        ReasonCode::Registration,
        ReasonCode::NotServed,
        ReasonCode::Form,
    ];
    case.status == Status::NotSupported
        && case.reason.as_ref().is_some_and(|reason| codes.contains(&reason.code))
}

fn is_out(clause: &ClauseResult) -> bool {
    matches!(clause.status, Status::Skipped)
}
