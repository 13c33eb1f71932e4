//! Findings about a report as a whole: whether it is complete, and whether it checked anything.

use std::collections::BTreeMap;

use contract::document::policy::Action;
use contract::model::Level;

use super::{Finding, GateInput, verb};
use crate::render::plural;
use crate::report::{CaseResult, ContractResult, Status};

/// Findings: interrupted, a single shard, environment errors, nothing answered, profiles without answers, withheld clauses.
pub(super) fn findings(gate: &GateInput<'_>, contracts: &[ContractResult]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let report = gate.report;
    if let Some(signal) = report.interrupted {
        findings.push(Finding::new("run", Action::Fail, 128 + signal).with_text(
            format!("the run was interrupted by signal {signal}"),
            "clauses that did not run may be broken",
            format!("run again: {}", report.run.command),
        ));
    }
    if let Some(shard) = &report.selection.shard {
        findings.push(Finding::new("report", Action::Fail, 4).with_text(
            format!("it is only shard {} of {}", shard.index, shard.of),
            "clauses of the other shards may be broken",
            "merge all shards: gardener-conformance report merge SHARD…",
        ));
    }
    for error in &report.environment_errors {
        findings.push(Finding::new("environment", Action::Fail, 3).with_text(
            error.clone(),
            "it says nothing about the target",
            format!("repair the environment and run again: {}", report.run.command),
        ));
    }
    let is_answered = |contract: &ContractResult, clauses: &dyn Fn(&str) -> bool| {
        let clauses = contract.clauses.iter().filter(|clause| clauses(&clause.id));
        clauses.flat_map(|clause| &clause.cases).any(|case| case.status.is_answer())
    };
    if !contracts.iter().any(|contract| is_answered(contract, &|clause| gate.is_judged(contract, clause))) {
        findings.push(Finding::new("report", Action::Fail, 4).with_text(
            "no case that is judged was answered",
            "a gate cannot pass without results",
            "check the selection, and the reasons of cases that are not supported",
        ));
    }
    for profile in gate.profiles() {
        let there = contracts.iter().any(|contract| {
            is_answered(contract, &|clause| profile.covers(&contract.component, &contract.name, clause))
        });
        if !there {
            findings.push(Finding::new(format!("profile {:?}", profile.name), Action::Fail, 4).with_text(
                "no case of it was answered",
                "the report has no result for the profile",
                "run its contracts, or judge other profiles with --profile",
            ));
        }
    }
    findings.extend(partial(gate, contracts));
    findings
}

/// The finding about MUST clauses that could not run because of missing information about the target.
fn partial(gate: &GateInput<'_>, contracts: &[ContractResult]) -> Option<Finding> {
    let action = gate.against.policy.findings.partial;
    let withheld: Vec<&CaseResult> = contracts
        .iter()
        .flat_map(|contract| contract.clauses.iter().filter(|clause| gate.is_judged(contract, &clause.id)))
        .filter(|clause| clause.level == Level::Must)
        .flat_map(|clause| clause.cases_with(Status::NotSupported))
        .filter(|case| case.is_withheld())
        .collect();
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for case in &withheld {
        *reasons.entry(case.reason.as_ref().map_or("", |reason| &reason.text)).or_default() += 1;
    }
    let finding = Finding::new("report", action, 4).with_text(
        format!(
            "{} of MUST clauses could not run because of missing information about the target",
            plural(withheld.len(), "case")
        ),
        format!("policy: a partial verdict {}", verb(action)),
        "provide the target's facts, configuration and registration (docs/targets.md)",
    );
    let details = reasons.iter().map(|(reason, count)| format!("{count} × {reason}")).collect();
    (!withheld.is_empty()).then_some(Finding { details, ..finding })
}
