//! Sums up the runs of an exploration.

use std::collections::BTreeMap;

use contract::model::Contract;

use super::numbers::PlanNumbers;
use super::outcome::{ExplorationCounts, Outcome, PerturbationFailure, ScenarioOutcome, ScenarioState};
use super::pairs::{PairPlan, PairRun};
use super::scenarios::{Learnt, LearntScenario};
use super::{FailedRun, Job, JobResult};
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
    (jobs, results): (&[Job], Vec<JobResult>),
    (pairs, pair_runs): (&PairPlan, Vec<PairRun>),
) {
    let mut pairs_of_scenario: BTreeMap<usize, Vec<PairRun>> = BTreeMap::new();
    for run in pair_runs {
        pairs_of_scenario.entry(run.pair.scenario).or_default().push(run);
    }
    let mut of_scenario: BTreeMap<usize, Vec<(usize, JobResult)>> = BTreeMap::new();
    for (job, result) in jobs.iter().zip(results) {
        of_scenario.entry(job.scenario).or_default().push((job.perturbation, result));
    }
    for (at, scenario) in learnt.iter().enumerate() {
        let mut results = of_scenario.remove(&at).unwrap_or_default();
        results.sort_by_key(|(perturbation, _)| *perturbation);
        let mut found = scenario_outcome(outcome, scenario, results);
        found.pairs = pairs.counts(at);
        for run in pairs_of_scenario.remove(&at).unwrap_or_default() {
            add_pair(outcome, scenario, &mut found, run);
        }
        outcome.counts.add(found.counts);
        outcome.pairs.add(found.pairs);
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
        JobResult::Failed(run) => {
            (counts.run, counts.failed) = (1, 1);
            found.failures.push(failure(outcome, scenario, &[at], run));
        }
    }
    found.counts.add(counts);
    outcome.kinds.entry(perturbation.name()).or_default().add(counts);
}

/// Adds the result of a pair, which counted as left so far.
fn add_pair(
    outcome: &mut Outcome,
    scenario: &LearntScenario<'_>,
    found: &mut ScenarioOutcome,
    PairRun { pair, result, alone }: PairRun,
) {
    let mut counts = ExplorationCounts { run: 1, ..ExplorationCounts::default() };
    match result {
        JobResult::Left => return,
        JobResult::Broken(reason) => return outcome.environment_errors.push(reason),
        JobResult::Held => {}
        JobResult::Missed => counts.missed = 1,
        JobResult::Failed(run) => {
            counts.failed = 1;
            let members = alone.map_or_else(|| pair.members.to_vec(), |alone| vec![alone]);
            let failure = failure(outcome, scenario, &members, run);
            // One that fails alone fails in many pairs.
            if !found.failures.iter().any(|other| other.numbers == failure.numbers) {
                found.failures.push(failure);
            }
        }
    }
    found.pairs.left = found.pairs.left.saturating_sub(1);
    found.pairs.add(counts);
}

fn failure(
    outcome: &Outcome,
    scenario: &LearntScenario<'_>,
    members: &[usize],
    FailedRun { checks, timeline }: FailedRun,
) -> PerturbationFailure {
    let perturbations: Vec<_> = members.iter().map(|member| &scenario.perturbations()[*member]).collect();
    let kinds: Vec<&str> = perturbations.iter().map(|found| found.name()).collect();
    let stories: Vec<String> = perturbations.iter().map(|found| scenario.story(found)).collect();
    let numbers = PlanNumbers {
        first: members.first().map_or(0, |member| member + 1),
        second: members.get(1).map(|member| member + 1),
    };
    let case = scenario.id().replace('\'', r"'\''");
    PerturbationFailure {
        numbers,
        kind: kinds.join(" + "),
        story: stories.join("; and "),
        checks,
        timeline,
        command: format!("{} --case '{case}' --perturbation {numbers}", outcome.command),
    }
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
        pairs: ExplorationCounts::default(),
        failures: Vec::new(),
    }
}
