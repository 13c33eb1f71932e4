//! Scenarios: each has its own runtime and clusters, so that its clock affects nothing else.
//!
//! A target in this process runs on embedded servers in virtual time: the clock does not advance while a task works, and jumps
//! to the next timer when all wait. A target outside, and a scenario on a real control plane, runs in real time.

mod actions;
mod clusters;
mod dry_run;
mod environment;
mod events;
mod exploration;
mod explored;
mod faults;
mod generated;
mod leftovers;
mod listing;
mod object_watch;
mod ordinal;
mod past;
mod perturbation;
mod perturbed;
mod proof;
mod refusals;
mod requests;
mod snapshot;
mod steps;
mod story;
mod takeover;
mod task;
mod thread;
mod unjudged;
mod unmet;
mod watchdog;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use contract::scenario::Scenario;

pub(crate) use self::clusters::{OTHER_USER, TARGET_USER};
use self::environment::ScenarioEnvironment;
pub(crate) use self::exploration::{ObservedEvent, TargetHistory};
pub(crate) use self::explored::ExploredScenario;
use self::faults::Disturbance;
pub(crate) use self::past::{ObservedRead, PastAnswer};
pub(crate) use self::perturbation::{
    EventTrouble, LeaseLoss, NthEvent, NthWrite, Perturbation, WatchedKind, WriteTrouble,
};
use self::proof::StepRecord;
pub(crate) use self::requests::{ObservedWrite, WriteMoment};
pub(crate) use self::steps::ScenarioEnd;
use self::task::{ScenarioObservation, run_once};
pub(crate) use self::thread::{ThreadOptions, run_in_thread};
pub(crate) use self::unjudged::{ObjectStates, StabilityRules, UnjudgedScenario, run_unjudged};
use super::attempt::milliseconds;
use super::{CaseRun, FactsFrom, PartState, Substrate, end_reason, not_run};
use crate::plan::{self, CaseRef};
use crate::report::{CaseResult, Check, Proof, Reason, ReasonCode, Status};

/// Runs scenarios in parallel; also returns environment errors.
pub(super) fn run_all(shared: &PartState<'_>, cases: &[CaseRef]) -> (Vec<CaseRun>, Vec<String>) {
    in_lanes(shared, cases, side_by_side(shared), |at, lane| run_case(shared, at, lane))
}

/// Runs cases in this many threads, each of which takes the next case; also returns environment errors.
pub(crate) fn in_lanes(
    shared: &PartState<'_>,
    cases: &[CaseRef],
    lanes: usize,
    run: impl Fn(CaseRef, usize) -> (CaseRun, Option<String>) + Sync,
) -> (Vec<CaseRun>, Vec<String>) {
    let next = AtomicUsize::new(0);
    let (case_runs, broken) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let work = |lane| {
        while let Some(at) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (mut of_case, error) = run(*at, lane);
            shared.done(&mut of_case);
            case_runs.lock().expect("no thread panics with the lock").push(of_case);
            broken.lock().expect("no thread panics with the lock").extend(error);
        }
    };
    std::thread::scope(|scope| {
        for lane in 0..lanes.min(cases.len()) {
            let work = &work;
            scope.spawn(move || work(lane));
        }
    });
    let broken = broken.into_inner().expect("no thread panicked with the lock");
    (case_runs.into_inner().expect("no thread panicked with the lock"), broken)
}

/// Number of scenarios in parallel: a lane of real clusters takes one at a time, since scenarios would see each other's objects.
fn side_by_side(shared: &PartState<'_>) -> usize {
    let parallel = shared.state.parallel;
    match &shared.options.substrate {
        Substrate::Envtest(control_plane) => parallel.min(control_plane.lanes()),
        Substrate::Direct(_) | Substrate::Embedded | Substrate::Aggregated(_) | Substrate::Whole(_) => {
            parallel
        }
    }
}

fn run_case(shared: &PartState<'_>, at: CaseRef, lane: usize) -> (CaseRun, Option<String>) {
    if shared.is_over() {
        return (not_run(shared, &[at], Status::NotRun, &end_reason(shared)).remove(0), None);
    }
    if let Substrate::Direct(FactsFrom::Given(_) | FactsFrom::Nowhere) = shared.options.substrate {
        let reason = Reason::new(ReasonCode::Substrate, "its target must be started with separate clusters");
        return (not_run(shared, &[at], Status::NotSupported, &reason).remove(0), None);
    }
    if let Some(error) = control_plane_failure(shared) {
        let reason = Reason::new(ReasonCode::Environment, &error);
        return (not_run(shared, &[at], Status::Errored, &reason).remove(0), Some(error));
    }
    let located = plan::locate(shared.contracts, at);
    let scenario = located.scenario().expect("the plan has scenarios only");
    let started = Instant::now();
    let environment = ScenarioEnvironment::of(shared, scenario, lane);
    let deviation = environment.as_ref().ok().and_then(|environment| environment.deviation.clone());
    let mut proof = None;
    let (status, reason, checks) =
        match environment.and_then(|environment| run_with_proof(shared, at, scenario, &environment)) {
            Ok((seen, proven)) if seen.checks.is_empty() => {
                proof = proven;
                (Status::Passed, None, Vec::new())
            }
            Ok((seen, _)) => (Status::Failed, None, seen.checks),
            Err(ScenarioEnd::Interrupted) => (Status::NotRun, Some(end_reason(shared)), Vec::new()),
            Err(ScenarioEnd::NotSupported(text)) => {
                (Status::NotSupported, Some(Reason::new(ReasonCode::Substrate, &text)), Vec::new())
            }
            Err(ScenarioEnd::Environment(text)) => {
                (Status::Errored, Some(Reason::new(ReasonCode::Environment, &text)), Vec::new())
            }
        };
    let broken = reason.as_ref().filter(|_| status == Status::Errored).map(|reason| reason.text.clone());
    let mut result = CaseResult::without_checks(
        &located.case.name,
        &located.case.location,
        status,
        Reason::new(ReasonCode::Ended, ""),
    );
    result.reason = reason;
    result.story = if checks.is_empty() { Vec::new() } else { story::describe(located, scenario) };
    result.checks = checks;
    result.asked = deviation;
    result.duration_ms = milliseconds(started.elapsed());
    (CaseRun { at, result, observation: None, traced: None, proof }, broken)
}

/// Runs a scenario, also under its faults, and proves it. If the control plane has failed, that is the reason of any failure.
fn run_with_proof(
    shared: &PartState<'_>,
    at: CaseRef,
    scenario: &Scenario,
    environment: &ScenarioEnvironment,
) -> Result<(ScenarioObservation, Option<Proof>), ScenarioEnd> {
    let seen = run_once(shared, at, environment, &Disturbance::None)
        .and_then(|seen| under_faults(shared, at, (scenario, environment), seen));
    match (seen, control_plane_failure(shared)) {
        (Ok(seen), _) if seen.checks.is_empty() => {
            let proof = prove(shared, at, environment, &seen.records);
            Ok((seen, proof))
        }
        (Err(ScenarioEnd::Interrupted), _) => Err(ScenarioEnd::Interrupted),
        (_, Some(error)) => Err(ScenarioEnd::Environment(error)),
        (seen, None) => seen.map(|seen| (seen, None)),
    }
}

/// Runs a scenario that passed again under each of its faults, in virtual time only.
fn under_faults(
    shared: &PartState<'_>,
    at: CaseRef,
    (scenario, environment): (&Scenario, &ScenarioEnvironment),
    mut seen: ScenarioObservation,
) -> Result<ScenarioObservation, ScenarioEnd> {
    if !seen.checks.is_empty() || environment.is_real_time() {
        return Ok(seen);
    }
    let writes: Vec<_> = seen.records.iter().flat_map(|kept| kept.writes.iter().cloned()).collect();
    for disturbance in scenario.faults.iter().flat_map(|fault| faults::disturbances(*fault, &writes)) {
        let disturbed = run_once(shared, at, environment, &disturbance)?;
        let description = disturbance.description();
        seen.checks.extend(
            disturbed
                .checks
                .into_iter()
                .map(|check| Check { path: format!("{description}: {}", check.path), ..check }),
        );
    }
    Ok(seen)
}

/// Damages the recorded steps, and runs the scenario again with a target whose writes have no effect.
fn prove(
    shared: &PartState<'_>,
    at: CaseRef,
    environment: &ScenarioEnvironment,
    kept: &[StepRecord],
) -> Option<Proof> {
    let located = plan::locate(shared.contracts, at);
    let scenario = located.scenario()?;
    let mut proof = proof::prove(located, scenario, kept);
    // For an expectation that a target without effect meets, other scenarios must exist (lint only-unchanged).
    if !environment.is_real_time() && scenario.asserts_effects() && !scenario.keeps_given(located.contract) {
        match run_once(shared, at, environment, &Disturbance::NoEffect) {
            Ok(seen) => proof::add_no_effect_run(&mut proof, located, seen.checks.is_empty()),
            Err(ScenarioEnd::Interrupted) => return None,
            Err(ScenarioEnd::Environment(reason) | ScenarioEnd::NotSupported(reason)) => {
                proof::add_missing_run(&mut proof, &reason);
            }
        }
    }
    Some(proof)
}

/// Why the control plane has failed, if it has.
fn control_plane_failure(shared: &PartState<'_>) -> Option<String> {
    let Substrate::Envtest(control_plane) = &shared.options.substrate else { return None };
    control_plane.death().map(|death| death.to_string())
}
