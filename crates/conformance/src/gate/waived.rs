//! Waivers of the gate: applies all waivers, also those of the run, at today's date.

use contract::document::policy::Action;
use contract::document::waivers::Waiver;
use jiff::civil::Date;

use super::{Against, Finding};
use crate::report::{ContractResult, Report, Status, WaiverState, WaiverUse};
use crate::{laws, waivers};

/// Number of days before expiry from which a waiver is a warning.
const SOON: i32 = 14;

/// The results of a report with every waiver applied at today's date, and the state of each waiver.
pub(super) fn apply(report: &Report, against: &Against<'_>) -> (Vec<ContractResult>, Vec<WaiverUse>) {
    let mut all: Vec<Waiver> = Vec::new();
    let of_run = report.waivers.iter().filter_map(waivers::to_waiver);
    for waiver in against.waivers.iter().chain(&against.policy.waivers).cloned().chain(of_run) {
        let is_ours =
            waiver.target.as_deref().is_none_or(|name| report.target.name.split(", ").any(|one| one == name));
        // A renewed waiver wins over the one of the run.
        if is_ours && !all.iter().any(|known| known.clause == waiver.clause) {
            all.push(waiver);
        }
    }
    let mut contracts = waivers::without_waivers(&report.contracts);
    let today = against.today.to_string();
    let uses = waivers::apply(&all, &report.target.name, &today, &mut contracts);
    (contracts, uses)
}

/// Findings about waivers that are not already findings about their clauses.
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
            WaiverState::Used if laws::named(clause).is_some() && !is_soon(against.today, expires) => {
                let sentence = laws::named(clause).map(laws::sentence).unwrap_or_default();
                Finding::new(format!("law {clause}"), Action::Ignore, 0).with_text(
                    sentence,
                    format!("waived by {owner} until {expires}: {reason}"),
                    "fix it before the waiver expires",
                )
            }
            WaiverState::Used => match days(against.today, expires) {
                Some(days @ 0..=SOON) => Finding::new(subject, Action::Warn, 0).with_text(
                    format!("expires on {expires}, in {days} days ({owner})"),
                    "until then the gate passes",
                    "fix the clause, or renew the waiver with a reason",
                ),
                _ => continue,
            },
            WaiverState::UnexpectedPass => Finding::new(subject, Action::Fail, 7).with_text(
                format!("{clause} passes though {owner} waived it: {reason}"),
                "a waiver that waives nothing would hide the next failure",
                "remove the waiver",
            ),
            // The finding about the clause mentions it.
            WaiverState::Expired if is_broken(clause) => continue,
            WaiverState::Expired => Finding::new(subject, Action::Fail, 7).with_text(
                format!("expired on {expires} ({owner}): {reason}"),
                "an expired waiver fails the gate until it is reviewed",
                "fix the clause and remove the waiver, or renew it with a reason",
            ),
            WaiverState::Unused => Finding::new(subject, Action::Warn, 0).with_text(
                format!("{clause} was not judged ({owner})"),
                "it waives nothing here",
                "remove the waiver, or run the clause",
            ),
        };
        let link = (!link.is_empty()).then(|| link.clone());
        findings.push(Finding { details: link.into_iter().collect(), ..finding });
    }
}

fn is_soon(today: Date, expires: &str) -> bool {
    days(today, expires).is_some_and(|days| (0..=SOON).contains(&days))
}

/// Whole days until a day.
fn days(today: Date, expires: &str) -> Option<i32> {
    let expires: Date = expires.parse().ok()?;
    today.until(expires).ok().map(|span| span.get_days())
}
