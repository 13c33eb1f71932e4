//! How something stood in an earlier report.

use std::collections::BTreeMap;

use contract::document::policy::Action;
use contract::model::Level;

use super::{Asked, Finding, verb};
use crate::render::plural;
use crate::report::{ClauseResult, ContractResult, Report, Status};
use crate::waivers;

/// An earlier report, its waivers taken back.
pub(super) struct Baseline {
    contracts: Vec<ContractResult>,
}

/// What is wrong now, beside how it stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// There is no baseline, or it does not know of it.
    New,
    /// It was right in the baseline.
    Worse,
    /// It was as wrong in the baseline.
    Known,
}

impl Baseline {
    pub(super) fn of(report: &Report) -> Self {
        Self { contracts: waivers::taken_back(&report.contracts) }
    }

    pub(super) fn contract(&self, name: &str) -> Option<&ContractResult> {
        self.contracts.iter().find(|contract| contract.name == name)
    }

    /// How the cases that fail now stood, and those that passed there.
    pub(super) fn clause(&self, contract: &str, clause: &ClauseResult) -> (Standing, Vec<String>) {
        let before = self.contract(contract);
        let before = before.and_then(|before| before.clauses.iter().find(|other| other.id == clause.id));
        let Some(before) = before else { return (Standing::New, Vec::new()) };
        let passed: Vec<String> = clause
            .cases_with(Status::Failed)
            .filter(|case| before.cases_with(Status::Passed).any(|other| other.name == case.name))
            .map(|case| case.name.clone())
            .collect();
        let standing = match before.status {
            _ if !passed.is_empty() => Standing::Worse,
            Status::Failed => Standing::Known,
            _ => Standing::New,
        };
        (standing, passed)
    }
}

/// What becomes of a thing of this level that is wrong: the action, the exit code, and why.
pub(super) fn weigh(
    asked: &Asked<'_>,
    standing: Standing,
    (level, action, said): (Level, Action, &str),
    code: u8,
) -> (Action, u8, String) {
    let policy = asked.against.policy;
    match standing {
        Standing::New => (action, code, said.to_owned()),
        Standing::Worse => {
            let regression = policy.regression(level);
            let why = format!("it was right in the baseline, and a regression {}", verb(regression));
            if regression >= action { (regression, 5, why) } else { (action, code, said.to_owned()) }
        }
        Standing::Known => match policy.baseline.as_ref().and_then(|baseline| baseline.known) {
            Some(known) if known < action => {
                (known, code, format!("the baseline has it as well, and what is known {}", verb(known)))
            }
            _ => (action, code, said.to_owned()),
        },
    }
}

/// What the baseline passed and this report does not ask, though contracts still have it.
pub(super) fn lost(
    findings: &mut Vec<Finding>,
    asked: &Asked<'_>,
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
        for clause in contract.clauses.iter().filter(|clause| asked.is_of(contract, &clause.id)) {
            let found = now.get(clause.id.as_str());
            compared |= found.is_some();
            if let Some(gone) = gone(asked, clause, found.copied()) {
                findings.push(missing(asked, clause, &gone));
            }
        }
    }
    if !compared {
        findings.push(Finding::new("baseline", Action::Fail, 4).says(
            "the baseline and the report have no clause in common",
            "nothing could be compared",
            "name a report of the same contracts with --baseline",
        ));
    }
    let target = asked.against.baseline.map(|(_, report)| &report.target.name);
    if let Some(other) = target.filter(|name| **name != asked.report.target.name) {
        findings.push(Finding::new("baseline", Action::Warn, 0).says(
            format!("the baseline is a report of {other}, this one of {}", asked.report.target.name),
            "what differs may lie with the target, not with its changes",
            "keep a baseline for each target",
        ));
    }
    findings.extend(asked.against.baseline.and_then(|(_, before)| of_another_release(before, asked.report)));
}

/// What is to be said where the reports were not asked of one release, or not as strictly.
fn of_another_release(before: &Report, now: &Report) -> Option<Finding> {
    let [first, second] = [before, now].map(|report| report.run.asked_in_words());
    (first != second).then(|| {
        Finding::new("baseline", Action::Warn, 0).says(
            format!("the baseline was asked for {first}, this report for {second}"),
            "what differs may lie with the release, or with how strictly it was asked, not with the target's changes",
            "keep a baseline for each release, or ask again with the same --gardener and --strict",
        )
    })
}

/// Cases that passed and are not asked any more. Those of a clause that was changed since are not missed.
fn gone(asked: &Asked<'_>, before: &ClauseResult, now: Option<&ClauseResult>) -> Option<Vec<String>> {
    let unchanged =
        now.map_or_else(|| asked.against.clauses.contains(before.id.as_str()), |now| now.hash == before.hash);
    let is_asked = |name: &str| {
        now.is_some_and(|now| {
            let case = now.cases.iter().find(|case| case.name == name);
            case.is_some_and(|case| !matches!(case.status, Status::Skipped | Status::NotSupported))
        })
    };
    let cases: Vec<String> = before
        .cases_with(Status::Passed)
        .filter(|case| !is_asked(&case.name))
        .map(|case| case.name.clone())
        .collect();
    (unchanged && !cases.is_empty()).then_some(cases)
}

fn missing(asked: &Asked<'_>, clause: &ClauseResult, cases: &[String]) -> Finding {
    let action = asked.against.policy.regression(clause.level);
    let mut finding = Finding::new(&clause.id, action, 5).of(clause).says(
        format!(
            "{} passed in the baseline and {} not asked any more",
            plural(cases.len(), "case"),
            are(cases)
        ),
        format!("what is not asked may be broken, and a regression {}", verb(action)),
        "ask the same suite of a target with the same configuration and features, or renew the baseline",
    );
    finding.details = cases.iter().take(3).map(|case| format!("{}/{case}", clause.id)).collect();
    finding
}

fn are(cases: &[String]) -> &'static str {
    if cases.len() == 1 { "is" } else { "are" }
}
