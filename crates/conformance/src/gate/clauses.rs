//! Findings about one clause.

use contract::document::policy::Action;
use contract::model::Level;

use super::baseline::{Baseline, BaselineState, decide};
use super::causes::FindingCause;
use super::contracts::unproven;
use super::{Finding, GateInput, verb};
use crate::causes::{kinds, shared_kind};
use crate::difference::sentences;
use crate::render::{plural, repeat_command};
use crate::report::{CaseResult, ClauseResult, ContractResult, Status, WaiverState, WaiverUse};

/// Number of checks that are listed.
const NAMED: usize = 3;

/// Findings of one clause.
pub(super) fn findings(
    findings: &mut Vec<Finding>,
    gate: &GateInput<'_>,
    (contract, clause): (&ContractResult, &ClauseResult),
    baseline: Option<&Baseline>,
    waivers: &[WaiverUse],
) {
    let used = waivers.iter().find(|used| used.clause == clause.id);
    let (action, reason) = gate.action(contract, &clause.id, clause.level);
    let found = match clause.status {
        Status::Failed => {
            let state_before = baseline.map(|baseline| baseline.clause(&contract.name, clause));
            let state_before = state_before.unwrap_or((BaselineState::New, Vec::new()));
            Some(failed(gate, clause, (action, &reason), state_before, used))
        }
        Status::Waived => used.map(|used| waived(clause, used)),
        Status::Errored => Some(errored(gate, clause)),
        Status::NotRun => Some(not_run(gate, clause, action)),
        Status::Vacuous => Some(Finding::new(&clause.id, Action::Fail, 4).of(clause).with_text(
            "asserts nothing",
            "a check that cannot fail proves nothing",
            "correct the contract: add an assertion to its row",
        )),
        Status::Passed if is_unproven(clause) => {
            let action = gate.of_weakness(gate.against.policy.findings.unproven);
            let (why, remedy) = unproven(action);
            Some(Finding::new(&clause.id, action, 6).of(clause).with_text(
                "passes and is not proven able to fail",
                why,
                remedy,
            ))
        }
        // A waiver that waives nothing is a separate finding.
        Status::Passed | Status::UnexpectedPass | Status::Skipped | Status::NotSupported => None,
    };
    findings.extend(found);
}

fn failed(
    gate: &GateInput<'_>,
    clause: &ClauseResult,
    (action, reason): (Action, &str),
    (state, regressed): (BaselineState, Vec<String>),
    used: Option<&WaiverUse>,
) -> Finding {
    let (action, code, why) = match used.filter(|used| used.state == WaiverState::Expired) {
        Some(used) => (Action::Fail, 7, format!("its waiver expired on {} ({})", used.expires, used.owner)),
        None => decide(gate, state, (clause.level, action, reason), 1),
    };
    // Cases that failed only for a cause that clauses share belong to the finding about that cause.
    let (shared, own): (Vec<&CaseResult>, Vec<&CaseResult>) =
        clause.cases_with(Status::Failed).partition(|case| shared_kind(clause, case).is_some());
    let shared_cause = match (own.is_empty(), shared.first()) {
        (true, Some(case)) => shared_kind(clause, case).map(FindingCause::Shared),
        _ => None,
    };
    let broken = if own.is_empty() { shared } else { own };
    let what = format!("{}: {} of {} failed", clause.text, broken.len(), plural(clause.cases.len(), "case"));
    let first = broken.iter().find(|case| regressed.is_empty() || regressed.contains(&case.name));
    let id = first.map(|case| format!("{}/{}", clause.id, case.name)).unwrap_or_default();
    let remedy = format!(
        "fix it ({}), or waive it with owner, reason and expiry date",
        repeat_command(gate.report, &id)
    );
    let mut finding = Finding::new(&clause.id, action, code).of(clause).with_text(what, why, remedy);
    finding.details.push(id);
    let checks: Vec<_> =
        first.iter().flat_map(|case| kinds(clause, case)).take(1).flat_map(|(_, checks)| checks).collect();
    finding.details.extend(sentences(&checks).into_iter().take(NAMED));
    finding.cause = Some(shared_cause.unwrap_or_else(|| FindingCause::Clause(clause.id.clone())));
    if regressed.len() > 1 {
        finding.details.push(format!("{} passed in the baseline", plural(regressed.len(), "case")));
    }
    finding
}

fn waived(clause: &ClauseResult, used: &WaiverUse) -> Finding {
    let WaiverUse { owner, reason, link, expires, .. } = used;
    let mut finding = Finding::new(&clause.id, Action::Ignore, 0).of(clause).with_text(
        clause.text.clone(),
        format!("waived by {owner} until {expires}: {reason}"),
        "fix it before the waiver expires",
    );
    finding.details = Some(link.clone()).filter(|link| !link.is_empty()).into_iter().collect();
    finding.cause = Some(FindingCause::Clause(clause.id.clone()));
    finding
}

fn errored(gate: &GateInput<'_>, clause: &ClauseResult) -> Finding {
    let errored: Vec<&CaseResult> = clause.cases_with(Status::Errored).collect();
    let mut finding = Finding::new(&clause.id, Action::Fail, 3).of(clause).with_text(
        format!("{} could not run", plural(errored.len(), "case")),
        "it says nothing about the target",
        format!("repair the environment and run again: {}", gate.report.run.command),
    );
    finding.details = errored.first().map(|case| why(case)).into_iter().collect();
    finding
}

fn not_run(gate: &GateInput<'_>, clause: &ClauseResult, action: Action) -> Finding {
    let cases: Vec<&CaseResult> = clause.cases_with(Status::NotRun).collect();
    let presupposed = cases.iter().all(|case| case.is_presupposed());
    let (action, why_so, remedy) = if presupposed {
        // The presupposed clause has a separate finding.
        let action = action.min(gate.against.policy.findings.partial);
        let remedy = "fix the clause that it presupposes; if that one is waived, pass the waiver to the run, too (--waivers)";
        (action, format!("policy: a partial verdict {}", verb(action)), remedy.to_owned())
    } else {
        let remedy = format!("run all cases: {}", gate.report.run.command);
        (Action::Fail, "clauses that did not run may be broken".to_owned(), remedy)
    };
    let text = format!("{} not run", plural(cases.len(), "case"));
    let mut finding = Finding::new(&clause.id, action, 4).of(clause).with_text(text, why_so, remedy);
    finding.details = cases.first().map(|case| why(case)).into_iter().collect();
    if let Some(root) = gate.roots.get(&clause.id) {
        finding.cause = Some(FindingCause::Clause(root.clone()));
        if gate.waived.contains(root) {
            (finding.action, finding.exit_code) = (Action::Ignore, 0);
            finding.why = format!("waived: it follows from {root}, which is waived");
        }
    }
    finding
}

fn why(case: &CaseResult) -> String {
    case.reason.as_ref().map(|reason| reason.text.replace('\n', " ")).unwrap_or_default()
}

fn is_unproven(clause: &ClauseResult) -> bool {
    clause.level == Level::Must && clause.is_unproven()
}
