//! Waivers of the gate: those that a run applied are judged anew at today's date.

use contract::document::policy::Action;
use contract::document::waivers::Waiver;
use jiff::civil::Date;

use super::{Against, Finding};
use crate::report::{ContractResult, Report, Status, WaiverState, WaiverUse};
use crate::waivers;

/// Days before its end on which a waiver is told of.
const SOON: i32 = 14;

/// What a report found, every waiver applied at today's date, and what became of each.
pub(super) fn apply(report: &Report, against: &Against<'_>) -> (Vec<ContractResult>, Vec<WaiverUse>) {
    let mut all: Vec<Waiver> = Vec::new();
    let of_run = report.waivers.iter().filter_map(waivers::given);
    for waiver in against.waivers.iter().chain(&against.policy.waivers).cloned().chain(of_run) {
        let is_ours =
            waiver.target.as_deref().is_none_or(|name| report.target.name.split(", ").any(|one| one == name));
        // A waiver that was renewed stands before the one that a run applied.
        if is_ours && !all.iter().any(|known| known.clause == waiver.clause) {
            all.push(waiver);
        }
    }
    let mut contracts = waivers::taken_back(&report.contracts);
    let today = against.today.to_string();
    let uses = waivers::apply(&all, &report.target.name, &today, &mut contracts);
    (contracts, uses)
}

/// What is to be said of waivers that is not said of their clauses.
pub(super) fn findings(
    findings: &mut Vec<Finding>,
    against: &Against<'_>,
    contracts: &[ContractResult],
    uses: &[WaiverUse],
) {
    let clauses = || contracts.iter().flat_map(|contract| &contract.clauses);
    let is_broken = |id: &str| clauses().any(|clause| clause.id == id && clause.status == Status::Failed);
    for used in uses {
        let WaiverUse { clause, state, owner, reason, link, expires } = used;
        let subject = format!("waiver of {clause}");
        let finding = match state {
            WaiverState::Used => match days(against.today, expires) {
                Some(days @ 0..=SOON) => Finding::new(subject, Action::Warn, 0).says(
                    format!("ends on {expires}, in {days} days ({owner})"),
                    "until then the gate holds",
                    "mend the clause, or renew the waiver with a reason",
                ),
                _ => continue,
            },
            WaiverState::UnexpectedPass => Finding::new(subject, Action::Fail, 7).says(
                format!("{clause} passes though {owner} waived it: {reason}"),
                "what waives nothing would hide the next breach",
                "remove the waiver",
            ),
            // The finding of the clause tells of it.
            WaiverState::Expired if is_broken(clause) => continue,
            WaiverState::Expired => Finding::new(subject, Action::Fail, 7).says(
                format!("ended on {expires} ({owner}): {reason}"),
                "a waiver that has ended fails the gate until somebody looks at it",
                "mend the clause and remove the waiver, or renew it with a reason",
            ),
            WaiverState::Unused => Finding::new(subject, Action::Warn, 0).says(
                format!("{clause} was not judged ({owner})"),
                "it waives nothing here",
                "remove the waiver, or ask the clause",
            ),
        };
        let link = (!link.is_empty()).then(|| link.clone());
        findings.push(Finding { details: link.into_iter().collect(), ..finding });
    }
}

/// Whole days until a day.
fn days(today: Date, expires: &str) -> Option<i32> {
    let expires: Date = expires.parse().ok()?;
    today.until(expires).ok().map(|span| span.get_days())
}
