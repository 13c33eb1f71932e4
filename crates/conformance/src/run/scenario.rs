//! Scenarios: each in a runtime of its own, with clusters of its own, so that its clock moves for nobody else.
//!
//! A target in this process runs on embedded servers in virtual time: the clock stands still while anybody works and jumps
//! to the next timer when nobody does. A target outside, and whatever runs on a real control plane, runs in real time.

mod actions;
mod alone;
mod apart;
mod clusters;
mod dry_run;
mod events;
mod faults;
mod held;
mod leftovers;
mod place;
mod proof;
mod refused;
mod requests;
mod seen;
mod standing;
mod steps;
mod story;
mod unmet;
mod watchdog;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use contract::scenario::Scenario;

use self::alone::{Observed, alone};
pub(super) use self::apart::{Apart, apart};
pub(super) use self::clusters::{OTHER_USER, TARGET_USER};
use self::faults::Disturbance;
pub(crate) use self::held::{Play, Settled, States, played as states};
use self::place::Place;
use self::proof::Kept;
pub(crate) use self::steps::Ended;
use super::attempt::milliseconds;
use super::{Asked, FactsFrom, Ground, Shared, ended, unasked};
use crate::plan::{self, CaseRef};
use crate::report::{CaseResult, Check, Proof, Reason, ReasonCode, Status};

/// Runs scenarios side by side; the second part says what broke around the target.
pub(super) fn ask_all(shared: &Shared<'_>, cases: &[CaseRef]) -> (Vec<Asked>, Vec<String>) {
    in_lanes(shared, cases, side_by_side(shared), |at, lane| ask(shared, at, lane))
}

/// Asks cases in so many threads, each of which takes the next one; the second part says what broke around the target.
pub(super) fn in_lanes(
    shared: &Shared<'_>,
    cases: &[CaseRef],
    lanes: usize,
    ask: impl Fn(CaseRef, usize) -> (Asked, Option<String>) + Sync,
) -> (Vec<Asked>, Vec<String>) {
    let next = AtomicUsize::new(0);
    let (asked, broken) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let work = |lane| {
        while let Some(at) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (mut of_case, error) = ask(*at, lane);
            shared.done(&mut of_case);
            asked.lock().expect("no thread panics with the lock").push(of_case);
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
    (asked.into_inner().expect("no thread panicked with the lock"), broken)
}

/// Scenarios that share real clusters would see each other's objects: in each lane there is one.
fn side_by_side(shared: &Shared<'_>) -> usize {
    let parallel = shared.state.parallel;
    match &shared.options.ground {
        Ground::Envtest(control_plane) => parallel.min(control_plane.lanes()),
        Ground::Direct(_) | Ground::Embedded | Ground::Whole(_) => parallel,
    }
}

fn ask(shared: &Shared<'_>, at: CaseRef, lane: usize) -> (Asked, Option<String>) {
    if shared.is_over() {
        return (unasked(shared, &[at], Status::NotRun, &ended(shared)).remove(0), None);
    }
    if let Ground::Direct(FactsFrom::Given(_) | FactsFrom::Nowhere) = shared.options.ground {
        let reason =
            Reason::new(ReasonCode::Substrate, "its target must be started with clusters of its own");
        return (unasked(shared, &[at], Status::NotSupported, &reason).remove(0), None);
    }
    if let Some(death) = death(shared) {
        let reason = Reason::new(ReasonCode::Environment, &death);
        return (unasked(shared, &[at], Status::Errored, &reason).remove(0), Some(death));
    }
    let looked = plan::look(shared.contracts, at);
    let scenario = looked.scenario().expect("the plan has scenarios only");
    let started = Instant::now();
    let place = Place::of(shared, scenario, lane);
    let otherwise = place.as_ref().ok().and_then(|place| place.otherwise.clone());
    let mut proof = None;
    let (status, reason, checks) = match place.and_then(|place| played(shared, at, scenario, &place)) {
        Ok((seen, proven)) if seen.checks.is_empty() => {
            proof = proven;
            (Status::Passed, None, Vec::new())
        }
        Ok((seen, _)) => (Status::Failed, None, seen.checks),
        Err(Ended::Interrupted) => (Status::NotRun, Some(ended(shared)), Vec::new()),
        Err(Ended::NotSupported(text)) => {
            (Status::NotSupported, Some(Reason::new(ReasonCode::Substrate, &text)), Vec::new())
        }
        Err(Ended::Environment(text)) => {
            (Status::Errored, Some(Reason::new(ReasonCode::Environment, &text)), Vec::new())
        }
    };
    let broken = reason.as_ref().filter(|_| status == Status::Errored).map(|reason| reason.text.clone());
    let mut result = CaseResult::silent(
        &looked.case.name,
        &looked.case.location,
        status,
        Reason::new(ReasonCode::Ended, ""),
    );
    result.reason = reason;
    result.story = if checks.is_empty() { Vec::new() } else { story::tell(looked, scenario) };
    result.checks = checks;
    result.asked = otherwise;
    result.duration_ms = milliseconds(started.elapsed());
    (Asked { at, result, observation: None, traced: None, proof }, broken)
}

/// Runs a scenario, under its faults too, and proves what was kept. Where the control plane is gone, that is why nothing was.
fn played(
    shared: &Shared<'_>,
    at: CaseRef,
    scenario: &Scenario,
    place: &Place,
) -> Result<(Observed, Option<Proof>), Ended> {
    let seen = alone(shared, at, place, &Disturbance::None)
        .and_then(|seen| under_faults(shared, at, (scenario, place), seen));
    match (seen, death(shared)) {
        (Ok(seen), _) if seen.checks.is_empty() => {
            let proof = prove(shared, at, place, &seen.kept);
            Ok((seen, proof))
        }
        (Err(Ended::Interrupted), _) => Err(Ended::Interrupted),
        (_, Some(death)) => Err(Ended::Environment(death)),
        (seen, None) => seen.map(|seen| (seen, None)),
    }
}

/// Runs a scenario that was kept again under each of its faults, where that takes no time.
fn under_faults(
    shared: &Shared<'_>,
    at: CaseRef,
    (scenario, place): (&Scenario, &Place),
    mut seen: Observed,
) -> Result<Observed, Ended> {
    if !seen.checks.is_empty() || place.is_real_time() {
        return Ok(seen);
    }
    let writes: Vec<_> = seen.kept.iter().flat_map(|kept| kept.writes.iter().cloned()).collect();
    for disturbance in scenario.faults.iter().flat_map(|fault| faults::disturbances(*fault, &writes)) {
        let disturbed = alone(shared, at, place, &disturbance)?;
        let words = disturbance.words();
        seen.checks.extend(
            disturbed
                .checks
                .into_iter()
                .map(|check| Check { path: format!("{words}: {}", check.path), ..check }),
        );
    }
    Ok(seen)
}

/// Damages what was kept, and runs the scenario again with a target that writes nothing.
fn prove(shared: &Shared<'_>, at: CaseRef, place: &Place, kept: &[Kept]) -> Option<Proof> {
    let looked = plan::look(shared.contracts, at);
    let scenario = looked.scenario()?;
    let mut proof = proof::prove(looked, scenario, kept);
    // What a target that does nothing keeps is shown by its neighbours (lint only-unchanged).
    if !place.is_real_time() && scenario.asserts_effects() && !scenario.keeps_given(looked.contract) {
        match alone(shared, at, place, &Disturbance::Nothing) {
            Ok(seen) => proof::add_nothing(&mut proof, looked, seen.checks.is_empty()),
            Err(Ended::Interrupted) => return None,
            Err(Ended::Environment(reason) | Ended::NotSupported(reason)) => {
                proof::add_unrun(&mut proof, &reason);
            }
        }
    }
    Some(proof)
}

/// Why the control plane is gone, if it is.
fn death(shared: &Shared<'_>) -> Option<String> {
    let Ground::Envtest(control_plane) = &shared.options.ground else { return None };
    control_plane.death().map(|death| death.to_string())
}
