//! Waivers: clauses that a target may break until a date; expired and unnecessary waivers are reported.

use contract::document::waivers::Waiver;
use contract::index::Outline;
use jiff::civil::Date;

use crate::report::{ClauseResult, ContractResult, Status, WaiverState, WaiverUse};

/// Clauses of waivers that are in no contract.
#[must_use]
pub fn unknown<'a>(waivers: &'a [Waiver], contracts: &[Outline]) -> Vec<&'a str> {
    let clauses = || contracts.iter().flat_map(|contract| &contract.clauses);
    let ids = waivers.iter().map(|waiver| waiver.clause.as_str());
    ids.filter(|id| !clauses().any(|clause| clause.id == *id)).collect()
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
            let clause = contracts
                .iter_mut()
                .flat_map(|contract| &mut contract.clauses)
                .find(|clause| clause.id == waiver.clause);
            let expired = today.is_some_and(|today| waiver.is_expired(today));
            WaiverUse {
                clause: waiver.clause.clone(),
                state: clause.map_or(WaiverState::Unused, |clause| apply_to_clause(clause, expired)),
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
