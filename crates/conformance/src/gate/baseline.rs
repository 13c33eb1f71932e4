//! Compares findings with an earlier report.

use std::collections::BTreeMap;

use contract::document::policy::Action;
use contract::model::Level;

use super::{Finding, GateInput, verb};
use crate::render::plural;
use crate::report::{ClauseResult, ContractResult, Report, Status};
use crate::waivers;

/// An earlier report without its waivers.
pub(super) struct Baseline {
    contracts: Vec<ContractResult>,
}

/// The state in the baseline of something that is wrong now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BaselineState {
    /// There is no baseline, or it does not contain it.
    New,
    /// It was right in the baseline.
    Worse,
    /// It was as wrong in the baseline.
    AlreadyFailed,
}

impl Baseline {
    pub(super) fn of(report: &Report) -> Self {
        Self { contracts: waivers::without_waivers(&report.contracts) }
    }

    pub(super) fn contract(&self, name: &str) -> Option<&ContractResult> {
        self.contracts.iter().find(|contract| contract.name == name)
    }

    /// The state of a failed clause in the baseline, and its cases that passed there.
    pub(super) fn clause(&self, contract: &str, clause: &ClauseResult) -> (BaselineState, Vec<String>) {
        let before = self.contract(contract);
        let before = before.and_then(|before| before.clauses.iter().find(|other| other.id == clause.id));
        let Some(before) = before else { return (BaselineState::New, Vec::new()) };
        let passed: Vec<String> = clause
            .cases_with(Status::Failed)
            .filter(|case| before.cases_with(Status::Passed).any(|other| other.name == case.name))
            .map(|case| case.name.clone())
            .collect();
        let state = match before.status {
            _ if !passed.is_empty() => BaselineState::Worse,
            Status::Failed => BaselineState::AlreadyFailed,
            _ => BaselineState::New,
        };
        (state, passed)
    }
}

/// The action, exit code and reason for something of this level that is wrong.
pub(super) fn decide(
    gate: &GateInput<'_>,
    state: BaselineState,
    (level, action, reason): (Level, Action, &str),
    code: u8,
) -> (Action, u8, String) {
    let policy = gate.against.policy;
    match state {
        BaselineState::New => (action, code, reason.to_owned()),
        BaselineState::Worse => {
            let regression = policy.regression(level);
            let why = format!("it passed in the baseline, and a regression {}", verb(regression));
            if regression >= action { (regression, 5, why) } else { (action, code, reason.to_owned()) }
        }
        BaselineState::AlreadyFailed => match policy.baseline.as_ref().and_then(|baseline| baseline.known) {
            Some(known) if known < action => {
                (known, code, format!("the baseline has it, too, and a known finding {}", verb(known)))
            }
            _ => (action, code, reason.to_owned()),
        },
    }
}

/// Findings about cases that passed in the baseline and do not run in this report, though contracts still have their clauses.
pub(super) fn missing_clauses(
    findings: &mut Vec<Finding>,
    gate: &GateInput<'_>,
    before: &Baseline,
    contracts: &[ContractResult],
) {
    let now: BTreeMap<&str, &ClauseResult> = contracts
        .iter()
        .flat_map(|contract| &contract.clauses)
        .map(|clause| (clause.id.as_str(), clause))
        .collect();
    let mut compared = false;
    for contract in &before.contracts {
        for clause in contract.clauses.iter().filter(|clause| gate.is_judged(contract, &clause.id)) {
            let found = now.get(clause.id.as_str());
            compared |= found.is_some();
            if let Some(gone) = no_longer_run(gate, clause, found.copied()) {
                findings.push(missing(gate, clause, &gone));
            }
        }
    }
    if !compared {
        findings.push(Finding::new("baseline", Action::Fail, 4).with_text(
            "the baseline and the report have no clause in common",
            "nothing could be compared",
            "name a report of the same contracts with --baseline",
        ));
    }
    let target = gate.against.baseline.map(|(_, report)| &report.target.name);
    if let Some(other) = target.filter(|name| **name != gate.report.target.name) {
        findings.push(Finding::new("baseline", Action::Warn, 0).with_text(
            format!("the baseline is a report of {other}, this one of {}", gate.report.target.name),
            "differences may be caused by the target, not by its changes",
            "keep a baseline for each target",
        ));
    }
    findings.extend(gate.against.baseline.and_then(|(_, before)| of_another_release(before, gate.report)));
}

/// The finding that the reports are for different releases, or not equally strict.
fn of_another_release(before: &Report, now: &Report) -> Option<Finding> {
    let [first, second] = [before, now].map(|report| report.run.describe_requirements());
    (first != second).then(|| {
        Finding::new("baseline", Action::Warn, 0).with_text(
            format!("the baseline is for {first}, this report for {second}"),
            "differences may be caused by the release or by the strictness, not by the target's changes",
            "keep a baseline for each release, or run again with the same --gardener and --strict",
        )
    })
}

/// Cases that passed in the baseline and no longer run; none if the clause has changed since.
fn no_longer_run(
    gate: &GateInput<'_>,
    before: &ClauseResult,
    now: Option<&ClauseResult>,
) -> Option<Vec<String>> {
    let unchanged =
        now.map_or_else(|| gate.against.clauses.contains(before.id.as_str()), |now| now.hash == before.hash);
    let is_answered = |name: &str| {
        now.is_some_and(|now| {
            let case = now.cases.iter().find(|case| case.name == name);
            case.is_some_and(|case| !matches!(case.status, Status::Skipped | Status::NotSupported))
        })
    };
    let cases: Vec<String> = before
        .cases_with(Status::Passed)
        .filter(|case| !is_answered(&case.name))
        .map(|case| case.name.clone())
        .collect();
    (unchanged && !cases.is_empty()).then_some(cases)
}

fn missing(gate: &GateInput<'_>, clause: &ClauseResult, cases: &[String]) -> Finding {
    let action = gate.against.policy.regression(clause.level);
    let mut finding = Finding::new(&clause.id, action, 5).of(clause).with_text(
        format!(
            "{} passed in the baseline and {} not run any more",
            plural(cases.len(), "case"),
            is_or_are(cases)
        ),
        format!("cases that do not run may be broken, and a regression {}", verb(action)),
        "run the same suite for a target with the same configuration and features, or renew the baseline",
    );
    finding.details = cases.iter().take(3).map(|case| format!("{}/{case}", clause.id)).collect();
    finding
}

fn is_or_are(cases: &[String]) -> &'static str {
    if cases.len() == 1 { "is" } else { "are" }
}
