//! One attempt at a case on `direct`: evaluates the registration and sends the review straight to the target.

use contract::case::{Review, When};
use contract::model::Form;
use serde_json::Value;
use webhook::dial::DialError;
use webhook::registration::Phase;
use webhook::review::ReviewVersion;

use super::group::StartedGroup;
use super::law_requests::{self, RequestDetails};
use super::prepare::PreparedCase;
use super::subject::{self, SubjectError};
use crate::exchange::{self, Answer, Exchange, Outcome, ReviewRequest, Subject};
use crate::laws::Trace;
use crate::mask;
use crate::matching;
use crate::observation::{Observation, expected_allowed, judge};
use crate::place::{self, PlacedCase};
use crate::plan::LocatedCase;
use crate::report::{Check, Evidence, Reason, ReasonCode, Status};
use crate::route::{self, Route, Routing};
use crate::target::Running;

/// The result of one attempt.
pub(crate) enum Attempt {
    /// The case cannot run here.
    Inconclusive(Status, Reason),
    /// The target was not reached.
    Unreachable(DialError, Option<Evidence>),
    /// The target's response is no valid answer.
    Garbled(Vec<Check>, Box<Trace>, Option<Evidence>),
    /// The target answered.
    Answered {
        /// The answer and its input.
        observation: Box<Observation>,
        /// The exchanges by which the laws are checked; absent if no request was sent.
        trace: Option<Box<Trace>>,
        /// Request and response.
        evidence: Option<Evidence>,
        /// How the case ran, if not as the report says of the substrate.
        deviation: Option<String>,
    },
    /// Nothing was sent, because a foreign target has no such webhook: an answer only if another case reaches the webhook.
    Absent(Box<Observation>, Reason),
}

impl Attempt {
    /// The attempt with what the target wrote since `mark`, if it has no valid answer.
    async fn with_output(self, running: &dyn Running, mark: u64) -> Self {
        let output = || running.output_since(mark);
        match self {
            Self::Garbled(checks, trace, Some(evidence)) => {
                Self::Garbled(checks, trace, Some(Evidence { output: output().await, ..evidence }))
            }
            Self::Unreachable(error, Some(evidence)) => {
                Self::Unreachable(error, Some(Evidence { output: output().await, ..evidence }))
            }
            other => other,
        }
    }

    /// The attempt with the namespace names of the case instead of generated ones.
    pub(super) fn with_original_names(self, placed: &PlacedCase) -> Self {
        match self {
            Self::Answered { observation, trace, evidence, deviation } => {
                let observation = Box::new(placed.with_original_names(*observation));
                Self::Answered { observation, trace, evidence, deviation }
            }
            Self::Absent(seen, reason) => Self::Absent(Box::new(placed.with_original_names(*seen)), reason),
            other => other,
        }
    }
}

/// Runs the case once.
pub(super) async fn attempt(
    context: &StartedGroup<'_>,
    located: LocatedCase<'_>,
    prepared: &PreparedCase,
) -> Attempt {
    if matches!(located.case.when, When::Registration { .. }) {
        return registration(context, located).await;
    }
    let subject = match subject::subject(located, &prepared.placed) {
        Ok(subject) => subject,
        Err(error @ SubjectError::Kind(_)) => {
            return Attempt::Inconclusive(
                Status::NotSupported,
                Reason::new(ReasonCode::Substrate, error.to_string()),
            );
        }
        Err(error) => {
            return Attempt::Inconclusive(
                Status::Errored,
                Reason::new(ReasonCode::Environment, error.to_string()),
            );
        }
    };
    let labels = place::namespace_labels(&prepared.placed);
    let routing = if located.direct().is_some() {
        route::named(context.running, located.webhook(), &subject, phase(located.contract.form))
    } else {
        route::route(context.running, located.webhook(), &subject, &labels)
    };
    match routing {
        Routing::Unknown => {
            let text = format!("no path is known for webhook {}", located.webhook());
            Attempt::Inconclusive(Status::NotSupported, Reason::new(ReasonCode::NotServed, text))
        }
        Routing::Converted(converted) => {
            let text =
                format!("the object would be converted to {}, which only a server does", converted.version);
            Attempt::Inconclusive(Status::NotSupported, Reason::new(ReasonCode::Substrate, text))
        }
        Routing::Named(_) if located.case.then.called.is_some() && located.direct().is_none() => {
            let text = "the target has no known registration";
            Attempt::Inconclusive(Status::NotSupported, Reason::new(ReasonCode::Registration, text))
        }
        Routing::Named(route) => send(context, located, prepared, &subject, &[route], None).await,
        Routing::Registered(routes) if routes.is_empty() => {
            conclude_without_exchange(context, located, Observation::untouched(Some(false), subject.object))
                .await
        }
        Routing::Registered(routes) => send(context, located, prepared, &subject, &routes, Some(true)).await,
    }
}

/// The phase of the webhooks that a form is about.
fn phase(form: Form) -> Option<Phase> {
    match form {
        Form::Mutation => Some(Phase::Mutating),
        Form::Validation => Some(Phase::Validating),
        _ => None,
    }
}

/// Sends the review to each webhook in turn; the object that one returns is the input of the next. A refusal ends it.
async fn send(
    context: &StartedGroup<'_>,
    located: LocatedCase<'_>,
    prepared: &PreparedCase,
    subject: &Subject,
    routes: &[Route],
    called: Option<bool>,
) -> Attempt {
    let mut at = subject.clone();
    let mark = context.running.output_mark();
    let (mut patched, mut last, mut earlier) = (false, None, Vec::new());
    for route in routes {
        let version = version(located, route);
        let review = ReviewRequest {
            subject: &at,
            version,
            uid: &prepared.uid,
            dry_run: false,
            overrides: located.overrides(),
        };
        let exchange = exchange::ask(context.dialer.as_ref(), &route.path, &review, route.timeout).await;
        let evidence = evidence(&exchange);
        let Some(answer) = exchange.answer().cloned() else {
            earlier.extend(last.map(|(_, trace, _)| trace));
            let attempt = without_answer(exchange, route, located, subject, (evidence, earlier));
            return attempt.with_output(context.running, mark).await;
        };
        let details = RequestDetails { route, uid: &prepared.uid, version, overrides: located.overrides() };
        let trace = law_requests::trace(context, located, prepared, &at, &details, exchange).await;
        patched |= answer.patched;
        let ends = !answer.allowed;
        at.object = answer.object.clone().or(at.object);
        earlier.extend(last.replace((answer, trace, evidence)).map(|(_, trace, _)| trace));
        if ends {
            break;
        }
    }
    let (mut answer, trace, evidence) = last.expect("there is at least one webhook");
    answer.patched = patched;
    let overridden = located.overrides().and_then(|fields| fields.get("object").cloned());
    let input = overridden.or_else(|| subject.object.clone()).filter(|object| !object.is_null());
    let observation = Observation { called, input, answer };
    let trace = Trace { earlier, ..trace };
    let evidence = with_output(context.running, mark, &trace, evidence).await;
    Attempt::Answered {
        observation: Box::new(observation),
        trace: Some(Box::new(trace)),
        evidence: Some(evidence),
        deviation: None,
    }
}

/// Observes how the webhook is registered; sends nothing.
async fn registration(context: &StartedGroup<'_>, located: LocatedCase<'_>) -> Attempt {
    if context.running.paths(located.webhook()).is_empty() {
        let text = format!("no path is known for webhook {}", located.webhook());
        return Attempt::Inconclusive(Status::NotSupported, Reason::new(ReasonCode::NotServed, text));
    }
    let Some(found) = route::configurations(context.running, located.webhook()) else {
        let text = "the target has no known registration";
        return Attempt::Inconclusive(Status::NotSupported, Reason::new(ReasonCode::Registration, text));
    };
    let object = route::merge_configurations(found).map(|configuration| configuration.to_object());
    let answer = Answer { allowed: true, object, ..Answer::default() };
    conclude_without_exchange(context, located, Observation { called: None, input: None, answer }).await
}

/// The result of a case that sends nothing. If a foreign target has no such webhook, a broken expectation does not count, and one
/// that holds does only if the webhook is there in other cases.
async fn conclude_without_exchange(
    context: &StartedGroup<'_>,
    located: LocatedCase<'_>,
    seen: Observation,
) -> Attempt {
    if context.shared.target.is_outside() && is_not_served(context, located.webhook()).await {
        let paths = context.running.paths(located.webhook()).join(", ");
        let text = format!("{paths} is not registered and answers 404: not served");
        let reason = Reason::new(ReasonCode::NotServed, text);
        let rules = matching::rules_of(located.contract, &seen);
        return if judge(&located.case.then, &seen, &rules).is_empty() {
            Attempt::Absent(Box::new(seen), reason)
        } else {
            Attempt::Inconclusive(Status::NotSupported, reason)
        };
    }
    Attempt::Answered { observation: Box::new(seen), trace: None, evidence: None, deviation: None }
}

/// Whether no registration leads to a webhook and none of its paths is served.
async fn is_not_served(context: &StartedGroup<'_>, webhook: &str) -> bool {
    if route::registered(context.running, webhook).is_none_or(|found| !found.is_empty()) {
        return false;
    }
    for path in context.running.paths(webhook) {
        let body = exchange::probe();
        let (answered, _) =
            exchange::post(context.dialer.as_ref(), &path, &body, route::DEFAULT_TIMEOUT).await;
        if !answered.is_ok_and(|answer| answer.status == 404) {
            return false;
        }
    }
    true
}

/// The AdmissionReview version that the case sets, else the newest that the webhook supports.
fn version(located: LocatedCase<'_>, route: &Route) -> ReviewVersion {
    match located.direct().and_then(|sending| sending.review) {
        Some(Review::V1) => ReviewVersion::V1,
        None if route.v1 => ReviewVersion::V1,
        Some(Review::V1beta1) | None => ReviewVersion::V1beta1,
    }
}

/// The result of an exchange without a valid answer.
fn without_answer(
    exchange: Exchange,
    route: &Route,
    located: LocatedCase<'_>,
    subject: &Subject,
    (evidence, earlier): (Evidence, Vec<Trace>),
) -> Attempt {
    let got = match &exchange.outcome {
        Outcome::Unreachable(error) => return Attempt::Unreachable(error.clone(), Some(evidence)),
        Outcome::NotServed => {
            let text = format!("{} answers 404: not served", route.path);
            return Attempt::Inconclusive(Status::NotSupported, Reason::new(ReasonCode::NotServed, text));
        }
        Outcome::NotPut(reason) => {
            return Attempt::Inconclusive(Status::NotSupported, Reason::new(ReasonCode::Substrate, reason));
        }
        Outcome::Late(timeout) => format!("no answer within its declared timeout of {timeout:?}"),
        Outcome::Garbled(bad) => bad.to_string(),
        Outcome::Answered(_) => "an answer".to_owned(),
    };
    let want = match expected_allowed(&located.case.then) {
        Some(true) => "an answer that allows",
        Some(false) => "an answer that refuses",
        None => "an answer",
    };
    let failure = exchange.outcome.failure();
    let check = Check { part: "answer".to_owned(), want: want.to_owned(), got, failure, ..Check::default() };
    let trace = Trace { earlier, ..Trace::only(exchange, subject.object.clone(), route.timeout) };
    Attempt::Garbled(vec![check], Box::new(trace), Some(evidence))
}

/// Request and response, secrets masked.
pub(super) fn evidence(exchange: &Exchange) -> Evidence {
    let json = |bytes: &[u8]| {
        formats::json::document(bytes)
            .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(bytes).into_owned()))
    };
    let request = json(&exchange.request);
    let response = exchange.response.as_ref().map(|(_, body)| mask::masked_response(&json(body), &request));
    Evidence {
        asked: exchange.path.clone(),
        request: mask::masked(&request),
        status: exchange.response.as_ref().map(|(status, _)| *status),
        response: response.unwrap_or_default(),
        output: String::new(),
    }
}

/// The evidence with what the target wrote since `mark`, if an exchange of the case has no valid answer.
pub(super) async fn with_output(
    running: &dyn Running,
    mark: u64,
    trace: &Trace,
    evidence: Evidence,
) -> Evidence {
    let failed = |trace: &Trace| trace.all().any(|exchange| exchange.outcome.failure().is_some());
    if !trace.earlier.iter().chain([trace]).any(failed) {
        return evidence;
    }
    Evidence { output: running.output_since(mark).await, ..evidence }
}
