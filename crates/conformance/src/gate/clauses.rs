//! What is found of one clause, and what that does to the gate.

use contract::document::policy::Action;
use contract::model::Level;

use super::contracts::unproven;
use super::standing::{Baseline, Standing, weigh};
use super::{Asked, Finding};
use crate::render::{again, one_line, plural};
use crate::report::{CaseResult, ClauseResult, ContractResult, ReasonCode, Status, WaiverState, WaiverUse};

/// Cases that are named.
const NAMED: usize = 3;

/// Findings of one clause.
pub(super) fn findings(
    findings: &mut Vec<Finding>,
    asked: &Asked<'_>,
    (contract, clause): (&ContractResult, &ClauseResult),
    baseline: Option<&Baseline>,
    waivers: &[WaiverUse],
) {
    let used = waivers.iter().find(|used| used.clause == clause.id);
    let (action, said) = asked.action(contract, &clause.id, clause.level);
    let found = match clause.status {
        Status::Failed => {
            let stood = baseline.map(|baseline| baseline.clause(&contract.name, clause));
            let stood = stood.unwrap_or((Standing::New, Vec::new()));
            Some(failed(asked, clause, (action, &said), stood, used))
        }
        Status::Waived => used.map(|used| waived(clause, used)),
        Status::Errored => Some(errored(asked, clause)),
        Status::NotRun => Some(not_run(asked, clause, action)),
        Status::Vacuous => Some(Finding::new(&clause.id, Action::Fail, 4).of(clause).says(
            "asserts nothing",
            "a check that cannot fail says nothing",
            "the contract is at fault: give its row something that differs",
        )),
        Status::Passed if is_unproven(clause) => {
            let action = asked.against.policy.findings.unproven;
            let (why, remedy) = unproven(action);
            Some(Finding::new(&clause.id, action, 6).of(clause).says(
                "passes and is not proven able to fail",
                why,
                remedy,
            ))
        }
        // A waiver that waives nothing is told of as such.
        Status::Passed | Status::UnexpectedPass | Status::Skipped | Status::NotSupported => None,
    };
    findings.extend(found);
}

fn failed(
    asked: &Asked<'_>,
    clause: &ClauseResult,
    (action, said): (Action, &str),
    (standing, regressed): (Standing, Vec<String>),
    used: Option<&WaiverUse>,
) -> Finding {
    let (action, code, why) = match used.filter(|used| used.state == WaiverState::Expired) {
        Some(used) => (Action::Fail, 7, format!("its waiver ended on {} ({})", used.expires, used.owner)),
        None => weigh(asked, standing, (clause.level, action, said), 1),
    };
    let broken: Vec<&CaseResult> = clause.cases_with(Status::Failed).collect();
    let what = format!("{}: {} of {} failed", clause.text, broken.len(), plural(clause.cases.len(), "case"));
    let first = broken.iter().find(|case| regressed.is_empty() || regressed.contains(&case.name));
    let id = first.map(|case| format!("{}/{}", clause.id, case.name)).unwrap_or_default();
    let remedy = format!("mend it ({}), or waive it with owner, reason and end", again(asked.report, &id));
    let mut finding = Finding::new(&clause.id, action, code).of(clause).says(what, why, remedy);
    finding.details.push(id);
    let checks = first.iter().flat_map(|case| &case.checks).take(NAMED);
    finding.details.extend(checks.map(|check| one_line(check).replace('\n', " ")));
    if regressed.len() > 1 {
        finding.details.push(format!("{} passed in the baseline", plural(regressed.len(), "case")));
    }
    finding
}

fn waived(clause: &ClauseResult, used: &WaiverUse) -> Finding {
    let WaiverUse { owner, reason, link, expires, .. } = used;
    let mut finding = Finding::new(&clause.id, Action::Ignore, 0).of(clause).says(
        clause.text.clone(),
        format!("waived by {owner} until {expires}: {reason}"),
        "mend it before the waiver ends",
    );
    finding.details = Some(link.clone()).filter(|link| !link.is_empty()).into_iter().collect();
    finding
}

fn errored(asked: &Asked<'_>, clause: &ClauseResult) -> Finding {
    let errored: Vec<&CaseResult> = clause.cases_with(Status::Errored).collect();
    let mut finding = Finding::new(&clause.id, Action::Fail, 3).of(clause).says(
        format!("{} could not be asked", plural(errored.len(), "case")),
        "it says nothing about the target",
        format!("repair the environment and run again: {}", asked.report.run.command),
    );
    finding.details = errored.first().map(|case| why(case)).into_iter().collect();
    finding
}

fn not_run(asked: &Asked<'_>, clause: &ClauseResult, action: Action) -> Finding {
    let cases: Vec<&CaseResult> = clause.cases_with(Status::NotRun).collect();
    let presupposed = cases
        .iter()
        .filter_map(|case| case.reason.as_ref())
        .any(|reason| reason.code == ReasonCode::Presupposed);
    let remedy = if presupposed {
        "mend the clause that it presupposes; if that one is waived, give the waiver to the run as well (--waivers)".to_owned()
    } else {
        format!("run to the end: {}", asked.report.run.command)
    };
    let mut finding = Finding::new(&clause.id, action, 4).of(clause).says(
        format!("{} not run", plural(cases.len(), "case")),
        "what was not asked may be broken",
        remedy,
    );
    finding.details = cases.first().map(|case| why(case)).into_iter().collect();
    finding
}

fn why(case: &CaseResult) -> String {
    case.reason.as_ref().map(|reason| reason.text.replace('\n', " ")).unwrap_or_default()
}

fn is_unproven(clause: &ClauseResult) -> bool {
    clause.level == Level::Must && clause.proof.as_ref().is_none_or(|proof| !proof.proven)
}
