//! One attempt at a case on `direct`: the registration is evaluated here, the review is sent straight to the target.

use bytes::Bytes;
use contract::case::{Review, When};
use serde_json::Value;
use webhook::dial::DialError;
use webhook::review::ReviewVersion;

use super::further::{self, How};
use super::group::Started;
use super::prepare::Prepared;
use super::subject::{self, SubjectError};
use crate::exchange::{self, Answer, Exchange, Outcome, Question, Subject};
use crate::laws::{self, Trace};
use crate::mask;
use crate::matching;
use crate::observation::{Observation, judge, wanted_allowed};
use crate::place::{self, Placed};
use crate::plan::Looked;
use crate::report::{Check, Evidence, Reason, ReasonCode, Status};
use crate::route::{self, Route, Routing};

/// What came of asking once.
pub(super) enum Attempt {
    /// It cannot be asked here.
    Silent(Status, Reason),
    /// The target was not reached.
    Unreachable(DialError, Option<Evidence>),
    /// What came is no answer; the target's fault.
    Garbled(Vec<Check>, Box<Trace>, Option<Evidence>),
    /// It was answered.
    Answered {
        /// What the case brought about.
        observation: Box<Observation>,
        /// What the laws are judged on; absent if no webhook was asked.
        trace: Option<Box<Trace>>,
        /// Request and response.
        evidence: Option<Evidence>,
        /// How it was asked, if otherwise than the substrate says.
        asked: Option<String>,
    },
}

impl Attempt {
    /// The attempt as the case tells it, whatever its namespace was called.
    pub(super) fn told_as_written(self, placed: &Placed) -> Self {
        match self {
            Self::Answered { observation, trace, evidence, asked } => {
                let observation = Box::new(placed.told_as_written(*observation));
                Self::Answered { observation, trace, evidence, asked }
            }
            other => other,
        }
    }
}

/// Asks once.
pub(super) async fn ask(context: &Started<'_>, looked: Looked<'_>, prepared: &Prepared) -> Attempt {
    if matches!(looked.case.when, When::Registration { .. }) {
        return registration(context, looked).await;
    }
    let subject = match subject::subject(looked, &prepared.placed) {
        Ok(subject) => subject,
        Err(error @ SubjectError::Kind(_)) => {
            return Attempt::Silent(
                Status::NotSupported,
                Reason::new(ReasonCode::Substrate, error.to_string()),
            );
        }
        Err(error) => {
            return Attempt::Silent(Status::Errored, Reason::new(ReasonCode::Environment, error.to_string()));
        }
    };
    let labels = place::namespace_labels(&prepared.placed);
    let routing = if looked.direct().is_some() {
        route::named(context.running, looked.webhook(), &subject)
    } else {
        route::route(context.running, looked.webhook(), &subject, &labels)
    };
    match routing {
        Routing::Unknown => {
            let text = format!("no path is known for webhook {}", looked.webhook());
            Attempt::Silent(Status::NotSupported, Reason::new(ReasonCode::NotServed, text))
        }
        Routing::Converted(asked_as) => {
            let text =
                format!("the object would be converted to {}, which only a server does", asked_as.version);
            Attempt::Silent(Status::NotSupported, Reason::new(ReasonCode::Substrate, text))
        }
        Routing::Named(_) if looked.case.then.called.is_some() && looked.direct().is_none() => {
            let text = "the target tells no registration";
            Attempt::Silent(Status::NotSupported, Reason::new(ReasonCode::Registration, text))
        }
        Routing::Named(route) => send(context, looked, prepared, &subject, &[route], None).await,
        Routing::Registered(routes) if routes.is_empty() => {
            unsent(context, looked, Observation::untouched(Some(false), subject.object)).await
        }
        Routing::Registered(routes) => send(context, looked, prepared, &subject, &routes, Some(true)).await,
    }
}

/// Sends the review to each webhook in turn, each one's result being the next one's object; a refusal ends it.
async fn send(
    context: &Started<'_>,
    looked: Looked<'_>,
    prepared: &Prepared,
    subject: &Subject,
    routes: &[Route],
    called: Option<bool>,
) -> Attempt {
    let mut at = subject.clone();
    let (mut patched, mut last, mut earlier) = (false, None, Vec::new());
    for route in routes {
        let version = version(looked, route);
        let question = Question {
            subject: &at,
            version,
            uid: &prepared.uid,
            dry_run: false,
            overrides: looked.overrides(),
        };
        let exchange = exchange::ask(context.dialer.as_ref(), &route.path, &question, route.timeout).await;
        let evidence = evidence(&exchange);
        let Some(answer) = exchange.answer().cloned() else {
            earlier.extend(last.map(|(_, trace, _)| trace));
            return refused(exchange, route, looked, subject, (evidence, earlier));
        };
        let how = How { route, uid: &prepared.uid, version, overrides: looked.overrides() };
        let trace = further::trace(context, looked, prepared, &at, &how, exchange).await;
        patched |= answer.patched;
        let ends = !answer.allowed;
        at.object = answer.object.clone().or(at.object);
        earlier.extend(last.replace((answer, trace, evidence)).map(|(_, trace, _)| trace));
        if ends {
            break;
        }
    }
    let (mut answer, trace, evidence) = last.expect("at least one webhook is asked");
    answer.patched = patched;
    let overridden = looked.overrides().and_then(|fields| fields.get("object").cloned());
    let input = overridden.or_else(|| subject.object.clone()).filter(|object| !object.is_null());
    let observation = Observation { called, input, answer };
    Attempt::Answered {
        observation: Box::new(observation),
        trace: Some(Box::new(Trace { earlier, ..trace })),
        evidence: Some(evidence),
        asked: None,
    }
}

/// How the webhook is registered; nothing is sent.
async fn registration(context: &Started<'_>, looked: Looked<'_>) -> Attempt {
    if context.running.paths(looked.webhook()).is_empty() {
        let text = format!("no path is known for webhook {}", looked.webhook());
        return Attempt::Silent(Status::NotSupported, Reason::new(ReasonCode::NotServed, text));
    }
    let Some(found) = route::configurations(context.running, looked.webhook()) else {
        let text = "the target tells no registration";
        return Attempt::Silent(Status::NotSupported, Reason::new(ReasonCode::Registration, text));
    };
    let object = route::whole(found).map(|configuration| configuration.to_object());
    let answer = Answer { allowed: true, object, ..Answer::default() };
    unsent(context, looked, Observation { called: None, input: None, answer }).await
}

/// What was seen without sending anything. What that breaks says nothing about a webhook that a foreign target has not.
async fn unsent(context: &Started<'_>, looked: Looked<'_>, seen: Observation) -> Attempt {
    let is_broken =
        || !judge(&looked.case.then, &seen, &matching::rules_of(looked.contract, &seen)).is_empty();
    if context.shared.target.is_outside() && is_broken() && is_nowhere(context, looked.webhook()).await {
        let paths = context.running.paths(looked.webhook()).join(", ");
        let text = format!("{paths} is not registered and answers 404: not served");
        return Attempt::Silent(Status::NotSupported, Reason::new(ReasonCode::NotServed, text));
    }
    Attempt::Answered { observation: Box::new(seen), trace: None, evidence: None, asked: None }
}

/// Whether no registration leads to a webhook and none of its paths is served.
async fn is_nowhere(context: &Started<'_>, webhook: &str) -> bool {
    if route::registered(context.running, webhook).is_none_or(|found| !found.is_empty()) {
        return false;
    }
    for path in context.running.paths(webhook) {
        let body = Bytes::from_static(b"{}");
        let (answered, _) =
            exchange::post(context.dialer.as_ref(), &path, &body, route::DEFAULT_TIMEOUT).await;
        if !answered.is_ok_and(|answer| answer.status == 404) {
            return false;
        }
    }
    true
}

/// The version that the case says, or the best that the webhook knows.
fn version(looked: Looked<'_>, route: &Route) -> ReviewVersion {
    match looked.direct().and_then(|sending| sending.review) {
        Some(Review::V1) => ReviewVersion::V1,
        None if route.v1 => ReviewVersion::V1,
        Some(Review::V1beta1) | None => ReviewVersion::V1beta1,
    }
}

/// What it means that no answer came.
fn refused(
    exchange: Exchange,
    route: &Route,
    looked: Looked<'_>,
    subject: &Subject,
    (evidence, earlier): (Evidence, Vec<Trace>),
) -> Attempt {
    let got = match &exchange.outcome {
        Outcome::Unreachable(error) => return Attempt::Unreachable(error.clone(), Some(evidence)),
        Outcome::NotServed => {
            let text = format!("{} answers 404: not served", route.path);
            return Attempt::Silent(Status::NotSupported, Reason::new(ReasonCode::NotServed, text));
        }
        Outcome::NotPut(reason) => {
            return Attempt::Silent(Status::NotSupported, Reason::new(ReasonCode::Substrate, reason));
        }
        Outcome::Late(timeout) => format!("no answer within its declared timeout of {timeout:?}"),
        Outcome::Garbled(bad) => bad.to_string(),
        Outcome::Answered(_) => "an answer".to_owned(),
    };
    let late = matches!(exchange.outcome, Outcome::Late(_));
    let law = if late { contract::model::Law::WithinTimeout } else { contract::model::Law::UidEchoed };
    let part = if looked.contract.exempt.contains_key(&law) { "answer" } else { "law" };
    let want = match wanted_allowed(&looked.case.then) {
        Some(true) => "an answer that allows",
        Some(false) => "an answer that refuses",
        None => "an answer",
    };
    let check = Check { part: part.to_owned(), path: laws::name(law), want: want.to_owned(), got };
    let trace = Trace { earlier, ..Trace::only(exchange, subject.object.clone(), route.timeout) };
    Attempt::Garbled(vec![check], Box::new(trace), Some(evidence))
}

/// Request and response, secrets masked.
pub(super) fn evidence(exchange: &Exchange) -> Evidence {
    let json = |bytes: &[u8]| {
        serde_json::from_slice(bytes)
            .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(bytes).into_owned()))
    };
    let request = json(&exchange.request);
    let response = exchange.response.as_ref().map(|(_, body)| mask::masked_response(&json(body), &request));
    Evidence {
        asked: exchange.path.clone(),
        request: mask::masked(&request),
        status: exchange.response.as_ref().map(|(status, _)| *status),
        response: response.unwrap_or_default(),
    }
}
