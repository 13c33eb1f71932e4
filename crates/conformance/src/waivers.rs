//! Waivers: clauses and laws that a target may break until a date; expired and unnecessary waivers are reported.

use contract::document::waivers::Waiver;
use contract::index::Outline;
use contract::model::Law;
use jiff::civil::Date;

use crate::laws;
use crate::report::{CaseResult, Check, ClauseResult, ContractResult, Status, WaiverState, WaiverUse};

/// Names of waivers that are neither clauses of a contract nor laws.
#[must_use]
pub fn unknown<'a>(waivers: &'a [Waiver], contracts: &[Outline]) -> Vec<&'a str> {
    let clauses = || contracts.iter().flat_map(|contract| &contract.clauses);
    let ids = waivers.iter().map(|waiver| waiver.clause.as_str());
    ids.filter(|id| laws::named(id).is_none() && !clauses().any(|clause| clause.id == *id)).collect()
}

/// Applies waivers to results and returns their states; `target` may be several, `a, b`. `today` is `2026-03-02`; with an invalid
/// date, no waiver expires.
pub fn apply(
    waivers: &[Waiver],
    target: &str,
    today: &str,
    contracts: &mut [ContractResult],
) -> Vec<WaiverUse> {
    let today: Option<Date> = today.parse().ok();
    let for_target = waivers.iter().filter(|waiver| {
        waiver.target.as_deref().is_none_or(|name| target.split(", ").any(|one| one == name))
    });
    for_target
        .map(|waiver| {
            let expired = today.is_some_and(|today| waiver.is_expired(today));
            let state = match laws::named(&waiver.clause) {
                Some(law) => apply_to_law(law, contracts, expired),
                None => contracts
                    .iter_mut()
                    .flat_map(|contract| &mut contract.clauses)
                    .find(|clause| clause.id == waiver.clause)
                    .map_or(WaiverState::Unused, |clause| apply_to_clause(clause, expired)),
            };
            WaiverUse {
                clause: waiver.clause.clone(),
                state,
                owner: waiver.owner.clone(),
                reason: waiver.reason.clone(),
                link: waiver.link.clone().unwrap_or_default(),
                expires: waiver.expires.to_string(),
            }
        })
        .collect()
}

/// The results without waivers.
pub(crate) fn without_waivers(contracts: &[ContractResult]) -> Vec<ContractResult> {
    let mut contracts = contracts.to_vec();
    let back = |status: &mut Status| match status {
        Status::Waived => *status = Status::Failed,
        Status::UnexpectedPass => *status = Status::Passed,
        _ => {}
    };
    contracts.iter_mut().flat_map(|contract| &mut contract.laws).for_each(|law| law.waived = false);
    for clause in contracts.iter_mut().flat_map(|contract| &mut contract.clauses) {
        back(&mut clause.status);
        clause.cases.iter_mut().for_each(|case| back(&mut case.status));
    }
    contracts
}

/// The waiver of a waiver's state in a report.
pub(crate) fn to_waiver(used: &WaiverUse) -> Option<Waiver> {
    Some(Waiver {
        clause: used.clause.clone(),
        target: None,
        owner: used.owner.clone(),
        reason: used.reason.clone(),
        link: Some(used.link.clone()).filter(|link| !link.is_empty()),
        expires: used.expires.parse().ok()?,
    })
}

/// Waives a law, and the cases that failed only for it.
fn apply_to_law(law: Law, contracts: &mut [ContractResult], expired: bool) -> WaiverState {
    let laws = || contracts.iter().flat_map(|contract| &contract.laws).filter(|result| result.law == law);
    if !laws().any(|result| !result.broken.is_empty()) {
        return match (laws().any(|result| result.held > 0), expired) {
            (true, _) => WaiverState::UnexpectedPass,
            (false, true) => WaiverState::Expired,
            (false, false) => WaiverState::Unused,
        };
    }
    if expired {
        return WaiverState::Expired;
    }
    for contract in contracts {
        contract.laws.iter_mut().filter(|result| result.law == law).for_each(|result| result.waived = true);
        for clause in &mut contract.clauses {
            let is_waived = |case: &CaseResult| case.status == Status::Failed && fails_only_by(law, case);
            let waived = clause.cases.iter_mut().filter(|case| is_waived(case));
            let count = waived.map(|case| case.status = Status::Waived).count();
            if count > 0 {
                clause.status = ClauseResult::conclude(&clause.cases);
            }
        }
    }
    WaiverState::Used
}

fn fails_only_by(law: Law, case: &CaseResult) -> bool {
    let is_of_law = |check: &Check| check.part == "law" && laws::named(&check.path) == Some(law);
    !case.checks.is_empty() && case.checks.iter().all(is_of_law)
}

fn apply_to_clause(clause: &mut ClauseResult, expired: bool) -> WaiverState {
    let (from, to, state) = match clause.status {
        Status::Failed if expired => return WaiverState::Expired,
        Status::Failed => (Status::Failed, Status::Waived, WaiverState::Used),
        Status::Passed => (Status::Passed, Status::UnexpectedPass, WaiverState::UnexpectedPass),
        _ if expired => return WaiverState::Expired,
        _ => return WaiverState::Unused,
    };
    for case in &mut clause.cases {
        if case.status == from {
            case.status = to;
        }
    }
    clause.status = to;
    state
}
