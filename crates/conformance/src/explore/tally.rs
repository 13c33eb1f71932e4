//! Sums up the runs of an exploration.

use std::collections::BTreeMap;

use contract::model::Contract;

use super::outcome::{ExplorationCounts, Outcome, PerturbationFailure, ScenarioOutcome, ScenarioState};
use super::scenarios::{Learnt, LearntScenario};
use super::{Job, JobResult};
use crate::plan::{self, CaseRef, LocatedCase};
use crate::report::{Reason, Status};

/// Adds the scenarios that the plan excludes for this target.
pub(super) fn excluded(outcome: &mut Outcome, contracts: &[Contract], silent: &[(CaseRef, Status, Reason)]) {
    for (at, _, reason) in silent {
        let located = plan::locate(contracts, *at);
        if located.scenario().is_some() {
            let state = ScenarioState::NotSupported;
            outcome
                .scenarios
                .push(ScenarioOutcome { reason: Some(reason.text.clone()), ..of(located, state) });
        }
    }
}

/// Adds the scenarios that were run; `results` are those of the jobs, in their order.
pub(super) fn scenarios(
    outcome: &mut Outcome,
    learnt: &[LearntScenario<'_>],
    jobs: &[Job],
    results: Vec<JobResult>,
) {
    let mut of_scenario: BTreeMap<usize, Vec<(usize, JobResult)>> = BTreeMap::new();
    for (job, result) in jobs.iter().zip(results) {
        of_scenario.entry(job.scenario).or_default().push((job.perturbation, result));
    }
    for (at, scenario) in learnt.iter().enumerate() {
        let mut results = of_scenario.remove(&at).unwrap_or_default();
        results.sort_by_key(|(perturbation, _)| *perturbation);
        let found = scenario_outcome(outcome, scenario, results);
        outcome.counts.add(found.counts);
        outcome.scenarios.push(found);
    }
    outcome.environment_errors.sort();
    outcome.environment_errors.dedup();
}

fn scenario_outcome(
    outcome: &mut Outcome,
    scenario: &LearntScenario<'_>,
    results: Vec<(usize, JobResult)>,
) -> ScenarioOutcome {
    let in_state = |state| of(scenario.located, state);
    match &scenario.learnt {
        Learnt::Refused(checks) => {
            ScenarioOutcome { checks: checks.clone(), ..in_state(ScenarioState::Refused) }
        }
        Learnt::NotSupported(reason) => {
            ScenarioOutcome { reason: Some(reason.clone()), ..in_state(ScenarioState::NotSupported) }
        }
        Learnt::Broken(reason) => {
            outcome.environment_errors.push(reason.clone());
            ScenarioOutcome { reason: Some(reason.clone()), ..in_state(ScenarioState::Errored) }
        }
        Learnt::Left => in_state(ScenarioState::Left),
        Learnt::Passed(_, history, plan) => {
            let mut found = ScenarioOutcome {
                writes: history.writes.len(),
                events: history.events.len(),
                ..in_state(ScenarioState::Explored)
            };
            found.counts.space = plan.space;
            found.counts.cut = plan.space - plan.perturbations.len();
            for (perturbation, result) in results {
                add_result(outcome, scenario, &mut found, (perturbation, result));
            }
            found
        }
    }
}

fn add_result(
    outcome: &mut Outcome,
    scenario: &LearntScenario<'_>,
    found: &mut ScenarioOutcome,
    (at, result): (usize, JobResult),
) {
    let perturbation = &scenario.perturbations()[at];
    let mut counts = ExplorationCounts::default();
    match result {
        JobResult::Held => counts.run = 1,
        JobResult::Missed => (counts.run, counts.missed) = (1, 1),
        JobResult::Left => counts.left = 1,
        JobResult::Broken(reason) => {
            counts.left = 1;
            outcome.environment_errors.push(reason);
        }
        JobResult::Failed(checks) => {
            (counts.run, counts.failed) = (1, 1);
            let number = at + 1;
            let case = found.case.replace('\'', r"'\''");
            found.failures.push(PerturbationFailure {
                perturbation: number,
                kind: perturbation.name(),
                story: scenario.story(perturbation),
                checks,
                command: format!("{} --case '{case}' --perturbation {number}", outcome.command),
            });
        }
    }
    found.counts.add(counts);
    outcome.kinds.entry(perturbation.name()).or_default().add(counts);
}

fn of(located: LocatedCase<'_>, state: ScenarioState) -> ScenarioOutcome {
    ScenarioOutcome {
        component: located.contract.component.clone(),
        contract: located.contract.name.clone(),
        case: located.id(),
        state,
        reason: None,
        checks: Vec::new(),
        writes: 0,
        events: 0,
        counts: ExplorationCounts::default(),
        failures: Vec::new(),
    }
}
