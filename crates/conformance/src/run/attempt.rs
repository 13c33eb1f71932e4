//! One case until it settles: asked again while it fails and informers may lag, and as often as it is to be repeated.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use contract::decision::RunsOn;
use contract::model::Law;
use serde_json::{Value, json};
use webhook::dial::DialError;

use super::direct::Attempt;
use super::group::Started;
use super::traced::Traced;
use super::{Asked, Shared, direct, ended, prepare, story, unasked};
use crate::exchange::Answer;
use crate::laws::Held;
use crate::matching;
use crate::observation::{self, Observation};
use crate::plan::{self, CaseRef, Looked};
use crate::report::{CaseResult, Check, Reason, ReasonCode, Status};

/// First pause before a failing case is asked again; doubled each time, up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(320);

/// Concludes cases one after the other of which no webhook is asked: what `ask` gives is all there is.
pub(super) fn each(
    shared: &Shared<'_>,
    cases: &[CaseRef],
    ask: impl Fn(CaseRef, Looked<'_>) -> Asked,
) -> Vec<Asked> {
    let one = |at: &CaseRef| {
        if shared.is_over() {
            return unasked(shared, &[*at], Status::NotRun, &ended(shared)).remove(0);
        }
        let started = Instant::now();
        let mut asked = ask(*at, plan::look(shared.contracts, *at));
        asked.result.duration_ms = milliseconds(started.elapsed());
        shared.done(&mut asked);
        asked
    };
    cases.iter().map(one).collect()
}

/// Asks the case as often as the run says and gives the first result that did not pass, or the last.
pub(super) async fn settle(context: &Started<'_>, at: CaseRef) -> Asked {
    let looked = plan::look(context.shared.contracts, at);
    let started = Instant::now();
    let repeats = context.shared.options.repeat.max(1);
    let (mut kept, mut failed, mut attempts) = (None, 0, 0);
    for round in 0..repeats {
        let (asked, tries) = once(context, at, looked, round).await;
        attempts += tries;
        let passed = asked.result.status == Status::Passed;
        failed += u16::from(!passed);
        let said = matches!(asked.result.status, Status::NotSupported | Status::Vacuous | Status::NotRun);
        if kept.as_ref().is_none_or(|kept: &Asked| kept.result.status == Status::Passed) {
            kept = Some(asked);
        }
        if said {
            break;
        }
    }
    let mut asked = kept.expect("a case is asked at least once");
    asked.result.attempts = attempts;
    asked.result.duration_ms = milliseconds(started.elapsed());
    asked.result.failed_repeats = (repeats > 1).then_some(failed);
    asked
}

async fn once(context: &Started<'_>, at: CaseRef, looked: Looked<'_>, round: u16) -> (Asked, u32) {
    let name = prepare::namespace_name(context, at, round);
    let prepared = match prepare::prepare(context, looked, &name).await {
        Ok(prepared) => prepared,
        Err((status, reason)) => return (silent(at, looked, status, reason), 1),
    };
    let ask = async || {
        let attempt = direct::ask(context, looked, &prepared).await;
        conclude(at, looked, attempt.told_as_written(&prepared.placed))
    };
    // What was written is taken back whatever ends the asking.
    let asked = tokio::select! {
        biased;
        _ = context.shared.interrupt.wait() => (silent(at, looked, Status::NotRun, ended(context.shared)), 1),
        asked = until_settled(context.shared.options.settle, prepared.has_facts, ask) => asked,
    };
    prepare::tidy(context, &prepared).await;
    asked
}

/// Asks again while the case fails, if it has facts: informers of the target may lag. Gives what came last, and how often
/// it was asked.
pub(super) async fn until_settled(
    settle: Duration,
    has_facts: bool,
    ask: impl AsyncFn() -> Asked,
) -> (Asked, u32) {
    let deadline = Instant::now() + settle;
    let (mut pause, mut tries) = (FIRST_PAUSE, 1);
    loop {
        let asked = ask().await;
        let settled = asked.result.status != Status::Failed || !has_facts;
        if settled || Instant::now() + pause > deadline {
            return (asked, tries);
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
        tries += 1;
    }
}

/// What an attempt means.
pub(super) fn conclude(at: CaseRef, looked: Looked<'_>, attempt: Attempt) -> Asked {
    match attempt {
        Attempt::Silent(status, reason) => silent(at, looked, status, reason),
        Attempt::Unreachable(error, evidence) => {
            let text = unreachable(&error);
            let mut asked = silent(at, looked, Status::Errored, Reason::new(ReasonCode::Environment, text));
            asked.result.evidence = evidence;
            asked
        }
        Attempt::Garbled(checks, trace, evidence) => {
            let mut asked = silent(at, looked, Status::Failed, Reason::new(ReasonCode::Environment, ""));
            asked.result.reason = None;
            asked.result.checks = checks;
            asked.result.story = story::tell(looked);
            asked.result.evidence = evidence;
            asked.traced = Some(Traced::of(*trace, matching::rules(looked.contract, None)));
            asked
        }
        Attempt::Answered { observation, trace, evidence, asked } => {
            let raw = observation.input.as_ref().or(observation.answer.object.as_ref());
            let law_rules = matching::rules_of_raw(looked.contract, raw);
            let observation = Box::new(told(looked, *observation));
            let rules = matching::rules_of(looked.contract, &observation);
            let mut checks = observation::judge(&looked.case.then, &observation, &rules);
            let traced = trace.map(|trace| Traced::of(*trace, law_rules));
            if let Some(traced) = &traced {
                checks.extend(broken(&traced.held, |law| looked.contract.exempt.contains_key(&law)));
            }
            let status = if !checks.is_empty() {
                Status::Failed
            } else if crate::saboteur::assertions(&looked.case.then, &observation, &rules).is_empty() {
                Status::Vacuous
            } else {
                Status::Passed
            };
            let failed = status == Status::Failed;
            let mut result = silent(at, looked, status, Reason::new(ReasonCode::Ended, "")).result;
            result.reason = None;
            result.checks = checks;
            result.asked = asked;
            result.story = if failed { story::tell(looked) } else { Vec::new() };
            result.evidence = evidence.filter(|_| failed);
            Asked { at, result, observation: Some(*observation), traced, proof: None }
        }
    }
}

/// What a Shoot's admission answered, as the document that tells a decision about versions.
fn told(looked: Looked<'_>, seen: Observation) -> Observation {
    if looked.case.when.decision().is_none_or(|decision| decision.runs_on != RunsOn::Admission) {
        return seen;
    }
    let document = |shoot: Option<Value>| shoot.map(|shoot| json!({"shoot": shoot}));
    let answer = Answer { object: document(seen.answer.object), ..seen.answer };
    Observation { input: document(seen.input), answer, ..seen }
}

fn broken(held: &BTreeMap<Law, Held>, exempt: impl Fn(Law) -> bool) -> Vec<Check> {
    let broken = held.iter().filter(|(law, _)| !exempt(**law)).filter_map(|(law, held)| match held {
        Held::No(text) => Some(Check {
            part: "law".to_owned(),
            path: crate::laws::name(*law),
            want: crate::laws::sentence(*law).to_owned(),
            got: text.clone(),
        }),
        Held::Yes | Held::NoOccasion => None,
    });
    broken.collect()
}

fn silent(at: CaseRef, looked: Looked<'_>, status: Status, reason: Reason) -> Asked {
    let result = CaseResult::silent(&looked.case.name, &looked.case.location, status, reason);
    Asked { at, result, observation: None, traced: None, proof: None }
}

fn unreachable(error: &DialError) -> String {
    format!("could not ask the target: {error}")
}

pub(super) fn milliseconds(took: Duration) -> f64 {
    (took.as_secs_f64() * 1e6).round() / 1e3
}
