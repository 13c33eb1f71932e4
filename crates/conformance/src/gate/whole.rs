//! What is to be said of a report as a whole: whether it is one, and whether anything was asked.

use std::collections::BTreeMap;

use contract::document::policy::Action;
use contract::model::Level;

use super::{Asked, Finding, verb};
use crate::render::plural;
use crate::report::{CaseResult, ContractResult, Status};

/// Interrupted, broken around the target, nothing asked, a profile of which nothing is there, clauses that were withheld.
pub(super) fn findings(asked: &Asked<'_>, contracts: &[ContractResult]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let report = asked.report;
    if let Some(signal) = report.interrupted {
        findings.push(Finding::new("run", Action::Fail, 128 + signal).says(
            format!("the run was interrupted by signal {signal}"),
            "what was not asked may be broken",
            format!("run again: {}", report.run.command),
        ));
    }
    if let Some(shard) = &report.selection.shard {
        findings.push(Finding::new("report", Action::Fail, 4).says(
            format!("it is shard {} of {} alone", shard.index, shard.of),
            "what the others ask may be broken",
            "put them together: gardener-conformance report merge SHARD…",
        ));
    }
    for error in &report.environment_errors {
        findings.push(Finding::new("environment", Action::Fail, 3).says(
            error.clone(),
            "it says nothing about the target",
            format!("repair the environment and run again: {}", report.run.command),
        ));
    }
    let is_answered = |contract: &ContractResult, clauses: &dyn Fn(&str) -> bool| {
        let clauses = contract.clauses.iter().filter(|clause| clauses(&clause.id));
        clauses.flat_map(|clause| &clause.cases).any(|case| case.status.is_answer())
    };
    if !contracts.iter().any(|contract| is_answered(contract, &|clause| asked.is_of(contract, clause))) {
        findings.push(Finding::new("report", Action::Fail, 4).says(
            "no case that is judged was answered",
            "a gate does not hold over nothing",
            "look at the selection, and at why cases are not supported",
        ));
    }
    for profile in asked.profiles() {
        let there = contracts.iter().any(|contract| {
            is_answered(contract, &|clause| profile.covers(&contract.component, &contract.name, clause))
        });
        if !there {
            findings.push(Finding::new(format!("profile {:?}", profile.name), Action::Fail, 4).says(
                "no case of it was answered",
                "a profile is wanted of which the report says nothing",
                "run the contracts that it names, or judge other profiles with --profile",
            ));
        }
    }
    findings.extend(partial(asked, contracts));
    findings
}

/// MUST clauses that could not be asked for how the target was given.
fn partial(asked: &Asked<'_>, contracts: &[ContractResult]) -> Option<Finding> {
    let action = asked.against.policy.findings.partial;
    let withheld: Vec<&CaseResult> = contracts
        .iter()
        .flat_map(|contract| contract.clauses.iter().filter(|clause| asked.is_of(contract, &clause.id)))
        .filter(|clause| clause.level == Level::Must)
        .flat_map(|clause| clause.cases_with(Status::NotSupported))
        .filter(|case| case.is_withheld())
        .collect();
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for case in &withheld {
        *reasons.entry(case.reason.as_ref().map_or("", |reason| &reason.text)).or_default() += 1;
    }
    let finding = Finding::new("report", action, 4).says(
        format!(
            "{} of MUST clauses could not be asked for how the target was given",
            plural(withheld.len(), "case")
        ),
        format!("policy: a partial verdict {}", verb(action)),
        "give the target's facts, configuration and registration (docs/targets.md)",
    );
    let details = reasons.iter().map(|(reason, count)| format!("{count} × {reason}")).collect();
    (!withheld.is_empty()).then_some(Finding { details, ..finding })
}
