//! One case on a server: its request, sent without and with the target.

use std::time::Instant;

use contract::case::When;
use serde_json::Value;
use substrate::cluster::Reply;
use substrate::facts;
use webhook::dial::DialError;

use super::request::{NotAccepted, ServerRequest, build_request, send_first};
use super::{WebhookContext, aggregated, in_cluster, recorder, send, token_volume, trace};
use crate::exchange::Subject;
use crate::matching;
use crate::observation::Observation;
use crate::plan::{self, CaseRef, LocatedCase};
use crate::report::{Check, ExchangeFailure, Reason, ReasonCode, Status};
use crate::run::attempt;
use crate::run::direct::{self, Attempt};
use crate::run::{CaseRun, prepare, shared_namespace, subject};

/// A case before the target is registered.
pub(super) struct ServerCase {
    pub(super) at: CaseRef,
    state: State,
}

enum State {
    /// Its request, and the object that came back without the target.
    Ready { facts: prepare::PreparedCase, request: ServerRequest, input: Option<Value> },
    /// Its request, which the server answers itself.
    Answered(prepare::PreparedCase, aggregated::PreparedRequest),
    /// A server cannot send its request; it goes directly to the target.
    Direct(prepare::PreparedCase, String),
    /// The server failed before the target was called.
    Broken(prepare::PreparedCase, String),
    /// The case cannot run.
    Inconclusive(Status, Reason),
}

impl ServerCase {
    /// Its facts, if they were written.
    pub(super) fn facts(&self) -> Option<&prepare::PreparedCase> {
        match &self.state {
            State::Ready { facts, .. }
            | State::Answered(facts, _)
            | State::Direct(facts, _)
            | State::Broken(facts, _) => Some(facts),
            State::Inconclusive(..) => None,
        }
    }

    fn with_original_names(&self, attempt: Attempt) -> Attempt {
        match self.facts() {
            Some(facts) => attempt.with_original_names(&facts.placed),
            None => attempt,
        }
    }
}

/// Writes facts and old objects and sends the request without the target.
pub(super) async fn prepare(context: &WebhookContext<'_>, at: CaseRef) -> ServerCase {
    let started = context.started;
    let located = plan::locate(started.shared.contracts, at);
    // The target's metrics show whether it was called, so the requests of several cases may share a namespace.
    let common =
        context.server.is_real_cluster().then(|| shared_namespace::name(started.shared, located.case));
    let fresh = common.flatten().unwrap_or_else(|| prepare::namespace_name(started, at, 0));
    let facts = match prepare::prepare(started, located, &fresh).await {
        Ok(facts) => facts,
        Err((status, reason)) => return ServerCase { at, state: State::Inconclusive(status, reason) },
    };
    let state = match context.server.answering(&started.group.component) {
        Some(api) => match aggregated::prepare(context, api, located, &facts).await {
            Ok(request) => State::Answered(facts, request),
            Err(why) => not_accepted(facts, why),
        },
        None => match send_without_target(context, located, &facts).await {
            Ok((request, input)) => State::Ready { facts, request, input },
            Err(why) => not_accepted(facts, why),
        },
    };
    ServerCase { at, state }
}

fn not_accepted(facts: prepare::PreparedCase, why: NotAccepted) -> State {
    match why {
        NotAccepted::Direct(reason) => State::Direct(facts, reason),
        NotAccepted::Broken(error) => State::Broken(facts, error),
        NotAccepted::NotSupported(reason) => {
            State::Inconclusive(Status::NotSupported, Reason::new(ReasonCode::Substrate, reason))
        }
    }
}

/// Sends the request without the target; returns it with the object that came back.
async fn send_without_target(
    context: &WebhookContext<'_>,
    located: LocatedCase<'_>,
    facts: &prepare::PreparedCase,
) -> Result<(ServerRequest, Option<Value>), NotAccepted> {
    let direct = |reason: &str| Err(NotAccepted::Direct(reason.to_owned()));
    match located.direct() {
        _ if matches!(located.case.when, When::Registration { .. }) => {
            return direct("the case reads the registration and sends no request");
        }
        Some(sending) if sending.direct && sending.review.is_none() => return direct("the case says so"),
        Some(_) => return direct("no server sends such a request"),
        None => {}
    }
    if matches!((located.case.then.allowed, &located.case.then.message), (Some(true), Some(_))) {
        return direct("no server passes on the message of a request that is allowed");
    }
    let request = build_request(context, located, facts).await?;
    // The second deletion is the same request, and no other webhook is registered.
    if matches!(request, ServerRequest::DeleteAll { .. }) {
        return Ok((request, None));
    }
    let reply = send_first(context, &request).await?;
    if !reply.is_success() {
        let message = reply.message();
        // After a forbidden change of a pod, kube-apiserver lists every difference behind the first line.
        let first = message.lines().next().unwrap_or_default();
        return Err(NotAccepted::Direct(format!(
            "the server refuses the request before the webhook: {first}"
        )));
    }
    let input = send::object(context, &request, &reply);
    Ok((request, input))
}

/// Sends the request with the target registered; retries while the case fails, since informers may lag.
pub(super) async fn run(context: &WebhookContext<'_>, prepared: &ServerCase) -> CaseRun {
    let shared = context.started.shared;
    let located = plan::locate(shared.contracts, prepared.at);
    let begin = Instant::now();
    let (mut attempts, mut failed) = (0, 0);
    let repeats = shared.options.repeat.max(1);
    let mut kept: Option<CaseRun> = None;
    for _ in 0..repeats {
        let (case_run, tries) = run_once(context, prepared, located).await;
        attempts += tries;
        failed += u16::from(case_run.result.status != Status::Passed);
        if kept.as_ref().is_none_or(|kept| kept.result.status == Status::Passed) {
            kept = Some(case_run);
        }
    }
    let mut case_run = kept.expect("a case runs at least once");
    case_run.result.attempts = attempts;
    case_run.result.duration_ms = attempt::milliseconds(begin.elapsed());
    case_run.result.failed_repeats = (repeats > 1).then_some(failed);
    case_run
}

async fn run_once(
    context: &WebhookContext<'_>,
    prepared: &ServerCase,
    located: LocatedCase<'_>,
) -> (CaseRun, u32) {
    let attempt = async || {
        let attempt = attempt_once(context, prepared, located).await;
        let case_run = attempt::conclude(prepared.at, located, prepared.with_original_names(attempt));
        if case_run.result.status != Status::Failed {
            return case_run;
        }
        let directly = match &prepared.state {
            State::Answered(facts, request) => {
                aggregated::send_directly(context, prepared.at, located, (facts, request)).await
            }
            _ => send_directly(context, prepared, located, &case_run.result.checks).await,
        };
        directly.unwrap_or(case_run)
    };
    attempt::retry_while_failing(context.started.shared, located, attempt).await
}

/// Sends the request of a failed case directly to the target if the server did not keep values that failed checks depend on.
async fn send_directly(
    context: &WebhookContext<'_>,
    prepared: &ServerCase,
    located: LocatedCase<'_>,
    failed: &[Check],
) -> Option<CaseRun> {
    let State::Ready { facts: ready, request, input } = &prepared.state else { return None };
    let given = match request {
        ServerRequest::Create(_) | ServerRequest::Update { .. } => ready.placed.given.object.as_ref()?,
        ServerRequest::Delete(_) => ready.placed.given.old.as_ref().or(ready.placed.given.object.as_ref())?,
        ServerRequest::DeleteAll { .. } => return None,
    };
    // Fields that only a server sets need not be kept.
    let given = &facts::stripped(given);
    let kept = match request {
        ServerRequest::Delete(written) => Some(written),
        _ => input.as_ref(),
    };
    let lost: Vec<String> = lost_values(located, given, kept)
        .into_iter()
        .filter(|path| failed.iter().any(|check| may_depend_on(check, path)))
        .take(3)
        .collect();
    let is_mounted = context.server.is_real_cluster()
        && failed.iter().any(|check| token_volume::concerns_volumes(given, check));
    let reason = match lost.as_slice() {
        [] if is_mounted => "the API server of a whole cluster mounts a service account token".to_owned(),
        [] => return None,
        lost => format!("the server does not keep {} as given", lost.join(", ")),
    };
    let _shared_lock = context.target_lock.read().await;
    let attempt = with_reason(direct::attempt(context.started, located, ready).await, &reason);
    Some(attempt::conclude(prepared.at, located, attempt.with_original_names(&ready.placed)))
}

/// The paths of given values that a server did not keep.
pub(super) fn lost_values(located: LocatedCase<'_>, given: &Value, kept: Option<&Value>) -> Vec<String> {
    let rules = matching::rules_of_raw(located.contract, Some(given));
    let lost = matching::changes(Some(given), kept, &rules).into_iter();
    lost.filter(|path| matching::get(given, path).is_some()).map(|path| path.to_string()).collect()
}

/// Whether a check may fail because of another value at a path. A check of the object depends on values at, above and below its
/// own path; a check of the verdict depends on all values.
fn may_depend_on(check: &Check, path: &str) -> bool {
    let within = |whole: &str, part: &str| {
        part.strip_prefix(whole).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    match check.part.as_str() {
        "law" | "called" => false,
        "object" => check.path.is_empty() || within(&check.path, path) || within(path, &check.path),
        _ => true,
    }
}

pub(super) fn with_reason(attempt: Attempt, reason: &str) -> Attempt {
    match attempt {
        Attempt::Answered { observation, trace, evidence, .. } => {
            let deviation = Some(format!("sent directly: {reason}"));
            Attempt::Answered { observation, trace, evidence, deviation }
        }
        other => other,
    }
}

async fn attempt_once(
    context: &WebhookContext<'_>,
    prepared: &ServerCase,
    located: LocatedCase<'_>,
) -> Attempt {
    match &prepared.state {
        State::Inconclusive(status, reason) => Attempt::Inconclusive(*status, reason.clone()),
        State::Broken(_, error) => environment(error.clone()),
        State::Direct(facts, reason) => {
            let _shared_lock = context.target_lock.read().await;
            with_reason(direct::attempt(context.started, located, facts).await, reason)
        }
        State::Answered(facts, request) => aggregated::send(context, located, facts, request).await,
        State::Ready { facts, request, input } => {
            // The recorder distinguishes requests by namespace and name, so cases that share these take turns.
            let has_own_namespace = facts.placed.renamed_from.is_some()
                && subject_of(located, facts).is_none_or(|subject| subject.namespaced);
            let is_ambiguous = !context.server.is_real_cluster() && !has_own_namespace;
            let _turn = if is_ambiguous { Some(context.ambiguous_requests.lock().await) } else { None };
            send_with_target(context, located, facts, request, input.as_ref()).await
        }
    }
}

fn subject_of(located: LocatedCase<'_>, facts: &prepare::PreparedCase) -> Option<Subject> {
    subject::subject(located, &facts.placed).ok()
}

/// Sends the request with the target registered.
async fn send_with_target(
    context: &WebhookContext<'_>,
    located: LocatedCase<'_>,
    facts: &prepare::PreparedCase,
    request: &ServerRequest,
    input: Option<&Value>,
) -> Attempt {
    let Some(subject) = subject_of(located, facts) else {
        return environment("the case has no subject".to_owned());
    };
    let sent = if context.server.is_real_cluster() {
        in_cluster::send(context, located, facts, (&subject, request, input)).await
    } else {
        recorder::send(context, &subject, request).await
    };
    let recorder::ServerExchange { reply, called, calls } = match sent {
        Ok(sent) => sent,
        Err(error) => return environment(error.to_string()),
    };
    if let Some(failed) = calls.iter().find_map(|call| call.failed.clone())
        && matches!(failed, DialError::Connect { .. } | DialError::Tls { .. })
    {
        return Attempt::Unreachable(failed, None);
    }
    let mut answer = send::answer(context, request, &reply);
    if send::is_refusal_of_server(&reply, called) {
        return environment(format!("the server refuses the request, not a webhook: {}", reply.message()));
    }
    if context.server.is_real_cluster() && in_cluster::is_unreached(&reply) {
        return environment(reply.message());
    }
    if !answer.allowed && called && send::is_failed_call(&reply.body) {
        return garbled_answer(context, located, facts, (&reply, &calls)).await;
    }
    let rules = matching::rules_of_raw(located.contract, input);
    answer.patched = answer.object.is_some() && !matching::same(input, answer.object.as_ref(), &rules);
    let observation = Observation { called: Some(called), input: input.cloned(), answer };
    let _shared_lock = context.target_lock.read().await;
    let (trace, evidence) = trace::traces(context, located, facts, &calls).await;
    Attempt::Answered {
        observation: Box::new(observation),
        trace: trace.map(Box::new),
        evidence,
        deviation: None,
    }
}

/// The target was called, but the API server does not accept its answer.
async fn garbled_answer(
    context: &WebhookContext<'_>,
    located: LocatedCase<'_>,
    facts: &prepare::PreparedCase,
    (reply, calls): (&Reply, &[recorder::Call]),
) -> Attempt {
    let (part, want) = ("answer".to_owned(), "an answer that an API server accepts".to_owned());
    let failure = Some(ExchangeFailure::Refused);
    let check = Check { part, want, got: reply.message(), failure, ..Check::default() };
    let (trace, evidence) = trace::traces(context, located, facts, calls).await;
    match trace {
        Some(trace) => Attempt::Garbled(vec![check], Box::new(trace), evidence),
        None => environment(reply.message()),
    }
}

pub(super) fn environment(text: String) -> Attempt {
    Attempt::Inconclusive(Status::Errored, Reason::new(ReasonCode::Environment, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_depends_on_values_at_above_and_below_its_path() {
        let table = [
            ("object", "spec.replicas", "spec.replicas", true),
            ("object", "spec.replicas", "spec", true),
            ("object", "spec.containers[0]", "spec.containers[0].image", true),
            ("object", "spec.replicas", "metadata.labels", false),
            ("object", "spec.replicas", "spec.replicasOfOld", false),
            ("object", "", "spec.x", true),
            ("causes", "spec.type", "spec.other", true),
            ("law", "deterministic", "spec.x", false),
            ("called", "", "metadata.labels", false),
        ];
        for (part, path, lost, want) in table {
            let text = str::to_owned;
            let check = Check { part: text(part), path: text(path), ..Check::default() };
            assert_eq!(may_depend_on(&check, lost), want, "{part} {path}, lost {lost}");
        }
    }
}
