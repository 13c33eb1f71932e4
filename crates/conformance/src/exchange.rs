//! One exchange with a target: an AdmissionReview and its answer.

use std::time::{Duration, Instant};

use bytes::Bytes;
use serde_json::{Value, json};
use webhook::dial::{DialError, Dialer, HttpAnswer};
use webhook::review::{GroupVersionKind, GroupVersionResource, Operation, ReviewVersion};

use crate::report::ExchangeFailure;

mod answer;
mod request;

pub(crate) use answer::without_addresses;
pub use answer::{Answer, BadAnswer, FieldCause, read};
pub use request::ReviewRequest;

/// The subject of a request; names and objects as the target sees them.
#[derive(Clone, Debug, PartialEq)]
pub struct Subject {
    /// Kind of the object.
    pub kind: GroupVersionKind,
    /// Resource of the object.
    pub resource: GroupVersionResource,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
    /// Name; empty for a collection or while it is generated.
    pub name: String,
    /// Namespace; empty for cluster-scoped objects.
    pub namespace: String,
    /// The operation.
    pub operation: Operation,
    /// The object after the operation.
    pub object: Option<Value>,
    /// The object before it.
    pub old_object: Option<Value>,
}

/// A request and its response.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// Path of the request.
    pub path: String,
    /// Body sent.
    pub request: Bytes,
    /// HTTP status and body of the response; `None` without a response.
    pub response: Option<(u16, Bytes)>,
    /// Time between request and response.
    pub took: Duration,
    /// The interpretation of the response.
    pub outcome: Outcome,
}

/// The interpretation of a response.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The target answered.
    Answered(Answer),
    /// The target answered, but no API server would accept the answer.
    Garbled(BadAnswer),
    /// The target took longer than its declared timeout.
    Late(Duration),
    /// The path is not served (404).
    NotServed,
    /// The request cannot be sent to this target, for this reason.
    NotPut(String),
    /// Nothing listens there, or it is not trusted.
    Unreachable(DialError),
}

impl Outcome {
    /// What happened to an exchange that the target answered wrongly or not at all; `None` if it answered, or was not reached.
    #[must_use]
    pub fn failure(&self) -> Option<ExchangeFailure> {
        match self {
            Self::Garbled(bad) => Some(bad.failure()),
            Self::Late(_) => Some(ExchangeFailure::Late),
            Self::Answered(_) | Self::NotServed | Self::NotPut(_) | Self::Unreachable(_) => None,
        }
    }
}

impl Exchange {
    /// The answer, if there is one.
    #[must_use]
    pub fn answer(&self) -> Option<&Answer> {
        match &self.outcome {
            Outcome::Answered(answer) => Some(answer),
            _ => None,
        }
    }
}

/// Sends a request and waits at most `timeout`, as kube-apiserver does for this webhook.
pub async fn ask(
    dialer: &dyn Dialer,
    path: &str,
    question: &ReviewRequest<'_>,
    timeout: Duration,
) -> Exchange {
    let request = Bytes::from(question.to_bytes());
    let (answered, took) = post(dialer, &with_timeout(path, timeout), &request, timeout).await;
    let (response, outcome) = match answered {
        Ok(answer) => {
            let outcome = read_response(answer.status, &answer.body, question);
            (Some((answer.status, answer.body)), outcome)
        }
        Err(DialError::Timeout { timeout, .. }) => (None, Outcome::Late(timeout)),
        // The connection was closed: Go's net/http does this when the webhook panics.
        Err(DialError::Exchange { source_text, .. }) => {
            (None, Outcome::Garbled(BadAnswer::HungUp { reason: source_text }))
        }
        Err(DialError::NotPut { reason }) => (None, Outcome::NotPut(reason)),
        Err(error @ (DialError::Connect { .. } | DialError::Tls { .. })) => {
            (None, Outcome::Unreachable(error))
        }
    };
    Exchange { path: path.to_owned(), request, response, took, outcome }
}

/// A review as an API server sends it, which changes nothing: a dry run about a ConfigMap. It shows whether a path is served.
pub(crate) fn probe() -> Bytes {
    let text = str::to_owned;
    let subject = Subject {
        kind: GroupVersionKind { group: String::new(), version: text("v1"), kind: text("ConfigMap") },
        resource: GroupVersionResource {
            group: String::new(),
            version: text("v1"),
            resource: text("configmaps"),
        },
        namespaced: true,
        name: text("conformance-probe"),
        namespace: text("default"),
        operation: Operation::Create,
        object: Some(json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "conformance-probe", "namespace": "default"},
        })),
        old_object: None,
    };
    let review =
        ReviewRequest { dry_run: true, ..question(&subject, ReviewVersion::V1, "conformance-probe") };
    Bytes::from(review.to_bytes())
}

/// Posts, and once more if the connection broke: the target may close an idle connection in the moment it is used, which says
/// nothing about the target.
pub(crate) async fn post(
    dialer: &dyn Dialer,
    path: &str,
    body: &Bytes,
    timeout: Duration,
) -> (Result<HttpAnswer, DialError>, Duration) {
    let mut started = Instant::now();
    let mut answered = dialer.post(path, body.clone(), timeout).await;
    if matches!(answered, Err(DialError::Exchange { .. })) {
        started = Instant::now();
        answered = dialer.post(path, body.clone(), timeout).await;
    }
    (answered, started.elapsed())
}

/// A request about the subject in this version of AdmissionReview.
#[must_use]
pub fn question<'a>(subject: &'a Subject, version: ReviewVersion, uid: &'a str) -> ReviewRequest<'a> {
    ReviewRequest { subject, version, uid, dry_run: false, overrides: None }
}

fn read_response(status: u16, body: &[u8], question: &ReviewRequest<'_>) -> Outcome {
    match status {
        404 => Outcome::NotServed,
        200 => match read(body, question) {
            Ok(answer) => Outcome::Answered(answer),
            Err(bad) => Outcome::Garbled(bad),
        },
        status => Outcome::Garbled(BadAnswer::Http { status, body: answer::excerpt(body) }),
    }
}

/// Adds the query with the timeout of kube-apiserver, as kube-apiserver does.
fn with_timeout(path: &str, timeout: Duration) -> String {
    let separator = if path.contains('?') { '&' } else { '?' };
    format!("{path}{separator}timeout={}s", timeout.as_secs().max(1))
}
