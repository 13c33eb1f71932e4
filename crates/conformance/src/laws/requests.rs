//! Sends the requests by which the laws of one case are checked.

use contract::model::Law;
use serde_json::{Value, json};
use webhook::dial::Dialer;
use webhook::review::{GroupVersionKind, GroupVersionResource, Operation, ReviewVersion};

use super::{Trace, Update};
use crate::exchange::{self, Exchange, ReviewRequest, Subject};
use crate::route::Route;

/// The first request of a case, from which further requests are made.
pub struct LawRequests<'a> {
    /// The connection to the target.
    pub dialer: &'a dyn Dialer,
    /// The webhook.
    pub route: &'a Route,
    /// The subject of the request.
    pub subject: &'a Subject,
    /// Fields of the request that are overridden.
    pub overrides: Option<&'a serde_json::Map<String, Value>>,
    /// uid of the request.
    pub uid: &'a str,
    /// Version of the request.
    pub version: ReviewVersion,
    /// Whether an UPDATE of the object would be sent to the webhook.
    pub updates: bool,
    /// Whether answers must have the same bytes.
    pub ours: bool,
    /// Exempt laws: no requests are sent for them.
    pub exempt: &'a dyn Fn(Law) -> bool,
}

/// Sends further requests; none without a valid first answer.
pub async fn trace(requests: &LawRequests<'_>, main: Exchange) -> Trace {
    let mut trace = Trace {
        repeat: None,
        beta: None,
        dry_run: None,
        again: None,
        update: Update::None,
        unrelated: None,
        facts: None,
        input: requests.subject.object.clone(),
        timeout: requests.route.timeout,
        ours: requests.ours,
        earlier: Vec::new(),
        main,
    };
    let Some(answer) = trace.main.answer().cloned() else { return trace };
    let is_needed = |law: Law| !(requests.exempt)(law);
    if is_needed(Law::Deterministic) {
        trace.repeat = Some(requests.send(requests.subject, requests.version, false).await);
        if requests.route.beta && requests.version == ReviewVersion::V1 {
            trace.beta = Some(requests.send(requests.subject, ReviewVersion::V1beta1, false).await);
        }
    }
    if is_needed(Law::DryRunHasNoEffect) {
        trace.dry_run = Some(requests.send(requests.subject, requests.version, true).await);
    }
    if is_needed(Law::UnrelatedUntouched) {
        trace.unrelated = Some(requests.unrelated().await);
    }
    let mutated = answer.allowed && answer.patched && requests.overrides.is_none();
    let Some(result) = answer.object.filter(|_| mutated) else { return trace };
    if is_needed(Law::Idempotent) {
        let again = Subject { object: Some(result.clone()), ..requests.subject.clone() };
        trace.again = Some(requests.send(&again, requests.version, false).await);
    }
    if is_needed(Law::UpdateKeepsMutation) && requests.subject.operation == Operation::Create {
        trace.update = requests.update(result).await;
    }
    trace
}

impl LawRequests<'_> {
    async fn send(&self, subject: &Subject, version: ReviewVersion, dry_run: bool) -> Exchange {
        let review = ReviewRequest { subject, version, uid: self.uid, dry_run, overrides: self.overrides };
        exchange::ask(self.dialer, &self.route.path, &review, self.route.timeout).await
    }

    async fn update(&self, created: Value) -> Update {
        if !self.updates {
            return Update::NotCalled;
        }
        let subject =
            Subject { operation: Operation::Update, old_object: Some(created), ..self.subject.clone() };
        Update::Answered(Box::new(self.send(&subject, self.version, false).await))
    }

    /// An object of a kind that no webhook of a component handles.
    async fn unrelated(&self) -> Exchange {
        let text = str::to_owned;
        let namespace = if self.subject.namespace.is_empty() { "default" } else { &self.subject.namespace };
        let object = json!({
            "apiVersion": "conformance.gardener.cloud/v1alpha1", "kind": "Unrelated",
            "metadata": {"name": "unrelated", "namespace": namespace}, "spec": {"replicas": 1},
        });
        let subject = Subject {
            kind: GroupVersionKind {
                group: text("conformance.gardener.cloud"),
                version: text("v1alpha1"),
                kind: text("Unrelated"),
            },
            resource: GroupVersionResource {
                group: text("conformance.gardener.cloud"),
                version: text("v1alpha1"),
                resource: text("unrelateds"),
            },
            namespaced: true,
            name: text("unrelated"),
            namespace: text(namespace),
            operation: Operation::Create,
            object: Some(object),
            old_object: None,
        };
        let review = ReviewRequest {
            subject: &subject,
            version: self.version,
            uid: self.uid,
            dry_run: false,
            overrides: None,
        };
        exchange::ask(self.dialer, &self.route.path, &review, self.route.timeout).await
    }
}
