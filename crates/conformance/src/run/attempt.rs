//! Runs one case: retries it while it fails and informers may lag, and repeats it as often as the run says.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use contract::gardener::decision::RunsOn;
use contract::model::Law;
use serde_json::{Value, json};

use super::direct::Attempt;
use super::group::StartedGroup;
use super::traced::Traced;
use super::{
    CaseRun, PartState, direct, end_reason, lasting_failures, not_run, prepare, shared_namespace, story,
};
use crate::exchange::Answer;
use crate::laws::{Breach, LawOutcome};
use crate::matching;
use crate::observation::{self, Observation};
use crate::plan::{self, CaseRef, LocatedCase};
use crate::report::{CaseResult, Check, Reason, ReasonCode, Status};

/// First pause before a failing case is retried; doubled each time, up to [`LONGEST_PAUSE`].
pub(super) const FIRST_PAUSE: Duration = Duration::from_millis(10);
/// The longest of these pauses.
pub(super) const LONGEST_PAUSE: Duration = Duration::from_millis(320);

/// Runs cases one after the other that need no request to a webhook.
pub(crate) fn run_each(
    shared: &PartState<'_>,
    cases: &[CaseRef],
    run: impl Fn(CaseRef, LocatedCase<'_>) -> CaseRun,
) -> Vec<CaseRun> {
    let run_one = |at: &CaseRef| {
        if shared.is_over() {
            return not_run(shared, &[*at], Status::NotRun, &end_reason(shared)).remove(0);
        }
        let started = Instant::now();
        let mut case_run = run(*at, plan::locate(shared.contracts, *at));
        case_run.result.duration_ms = milliseconds(started.elapsed());
        shared.done(&mut case_run);
        case_run
    };
    cases.iter().map(run_one).collect()
}

/// Runs the case as often as the run says and returns the first result that did not pass, else the last.
pub(super) async fn run_case(context: &StartedGroup<'_>, at: CaseRef) -> CaseRun {
    let located = plan::locate(context.shared.contracts, at);
    let started = Instant::now();
    let repeats = context.shared.options.repeat.max(1);
    let (mut kept, mut failed, mut attempts) = (None, 0, 0);
    for round in 0..repeats {
        let (case_run, tries) = run_once(context, at, located, round).await;
        attempts += tries;
        let passed = case_run.result.status == Status::Passed;
        failed += u16::from(!passed);
        let is_final =
            matches!(case_run.result.status, Status::NotSupported | Status::Vacuous | Status::NotRun);
        if kept.as_ref().is_none_or(|kept: &CaseRun| kept.result.status == Status::Passed) {
            kept = Some(case_run);
        }
        if is_final {
            break;
        }
    }
    let mut case_run = kept.expect("a case runs at least once");
    case_run.result.attempts = attempts;
    case_run.result.duration_ms = milliseconds(started.elapsed());
    case_run.result.failed_repeats = (repeats > 1).then_some(failed);
    case_run
}

async fn run_once(
    context: &StartedGroup<'_>,
    at: CaseRef,
    located: LocatedCase<'_>,
    round: u16,
) -> (CaseRun, u32) {
    let shared = shared_namespace::name_on_direct(context, located);
    let name = shared.unwrap_or_else(|| prepare::namespace_name(context, at, round));
    let prepared = match prepare::prepare(context, located, &name).await {
        Ok(prepared) => prepared,
        Err((status, reason)) => return (inconclusive(at, located, status, reason), 1),
    };
    let attempt = async || {
        let attempt = direct::attempt(context, located, &prepared).await;
        conclude(at, located, attempt.with_original_names(&prepared.placed))
    };
    // Whatever ends the attempts, the facts are removed afterwards.
    let case_run = tokio::select! {
        biased;
        _ = context.shared.interrupt.wait() => (inconclusive(at, located, Status::NotRun, end_reason(context.shared)), 1),
        case_run = retry_while_failing(context.shared, located, attempt) => case_run,
    };
    prepare::clean_up(context, &prepared).await;
    case_run
}

/// Retries the case while it fails, if it has facts: informers of the target may lag. Cases that fail as an earlier one did to the
/// end are hardly retried. Returns the last result and the number of attempts.
pub(super) async fn retry_while_failing(
    shared: &PartState<'_>,
    located: LocatedCase<'_>,
    attempt: impl AsyncFn() -> CaseRun,
) -> (CaseRun, u32) {
    let (begin, lasting) = (Instant::now(), &shared.state.lasting);
    let (mut pause, mut tries) = (FIRST_PAUSE, 1);
    loop {
        let case_run = attempt().await;
        if case_run.result.status != Status::Failed || !located.has_facts() {
            return (case_run, tries);
        }
        let kind = lasting_failures::kind(located.webhook(), &case_run.result.checks);
        if begin.elapsed() + pause > lasting.retry_for(&kind, shared.options.settle) {
            lasting.add(kind);
            return (case_run, tries);
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
        tries += 1;
    }
}

/// The result of an attempt.
pub(crate) fn conclude(at: CaseRef, located: LocatedCase<'_>, attempt: Attempt) -> CaseRun {
    match attempt {
        Attempt::Inconclusive(status, reason) => inconclusive(at, located, status, reason),
        Attempt::Unreachable(error, evidence) => {
            let reason = Reason::new(ReasonCode::Environment, format!("could not reach the target: {error}"));
            let mut case_run = inconclusive(at, located, Status::Errored, reason);
            case_run.result.evidence = evidence;
            case_run
        }
        Attempt::Absent(observation, reason) => {
            let answered = Attempt::Answered { observation, trace: None, evidence: None, deviation: None };
            let mut case_run = conclude(at, located, answered);
            case_run.result.reason = Some(reason);
            case_run
        }
        Attempt::Garbled(checks, trace, evidence) => {
            let mut case_run =
                inconclusive(at, located, Status::Failed, Reason::new(ReasonCode::Environment, ""));
            let story = story::describe(located);
            case_run.result = CaseResult { reason: None, checks, story, evidence, ..case_run.result };
            case_run.traced = Some(Traced::of(*trace, matching::rules(located.contract, None)));
            case_run
        }
        Attempt::Answered { observation, trace, evidence, deviation } => {
            let raw = observation.input.as_ref().or(observation.answer.object.as_ref());
            let law_rules = matching::rules_of_raw(located.contract, raw);
            let observation = Box::new(with_decision_document(located, *observation));
            let rules = matching::rules_of(located.contract, &observation);
            let mut checks = observation::judge(&located.case.then, &observation, &rules);
            let traced = trace.map(|trace| Traced::of(*trace, law_rules));
            if let Some(traced) = &traced {
                checks.extend(broken_laws(&traced.laws, |law| located.contract.exempt.contains_key(&law)));
            }
            let status = if !checks.is_empty() {
                Status::Failed
            } else if crate::saboteur::assertions(&located.case.then, &observation, &rules).is_empty() {
                Status::Vacuous
            } else {
                Status::Passed
            };
            let failed = status == Status::Failed;
            let mut result = inconclusive(at, located, status, Reason::new(ReasonCode::Ended, "")).result;
            result.reason = None;
            result.checks = checks;
            result.asked = deviation;
            result.story = if failed { story::describe(located) } else { Vec::new() };
            result.evidence = evidence.filter(|_| failed);
            CaseRun { at, result, observation: Some(*observation), traced, proof: None }
        }
    }
}

/// The answer of a Shoot's admission, in the form of the document of a decision about versions.
fn with_decision_document(located: LocatedCase<'_>, seen: Observation) -> Observation {
    if located.case.when.decision().is_none_or(|decision| decision.runs_on != RunsOn::Admission) {
        return seen;
    }
    let document = |shoot: Option<Value>| shoot.map(|shoot| json!({"shoot": shoot}));
    let answer = Answer { object: document(seen.answer.object), ..seen.answer };
    Observation { input: document(seen.input), answer, ..seen }
}

fn broken_laws(outcomes: &BTreeMap<Law, LawOutcome>, exempt: impl Fn(Law) -> bool) -> Vec<Check> {
    let broken =
        outcomes.iter().filter(|(law, _)| !exempt(**law)).filter_map(|(law, outcome)| match outcome {
            LawOutcome::Broken(Breach { text, changes, failure }) => Some(Check {
                part: "law".to_owned(),
                path: crate::laws::name(*law),
                want: crate::laws::sentence(*law).to_owned(),
                got: text.clone(),
                changes: changes.clone(),
                failure: *failure,
            }),
            LawOutcome::Kept | LawOutcome::NotApplicable => None,
        });
    broken.collect()
}

fn inconclusive(at: CaseRef, located: LocatedCase<'_>, status: Status, reason: Reason) -> CaseRun {
    let result = CaseResult::without_checks(&located.case.name, &located.case.location, status, reason);
    CaseRun { at, result, observation: None, traced: None, proof: None }
}

pub(crate) fn milliseconds(took: Duration) -> f64 {
    (took.as_secs_f64() * 1e6).round() / 1e3
}
