//! Asks what is needed to judge the laws on one case.

use contract::model::Law;
use serde_json::{Value, json};
use webhook::dial::Dialer;
use webhook::review::{GroupVersionKind, GroupVersionResource, Operation, ReviewVersion};

use super::{Trace, Update};
use crate::exchange::{self, Exchange, ReviewRequest, Subject};
use crate::route::Route;

/// How a case was asked, for asking further.
pub struct Asking<'a> {
    /// The way to the target.
    pub dialer: &'a dyn Dialer,
    /// The webhook asked.
    pub route: &'a Route,
    /// What was asked about.
    pub subject: &'a Subject,
    /// Fields of the request that are overridden.
    pub overrides: Option<&'a serde_json::Map<String, Value>>,
    /// uid of the request.
    pub uid: &'a str,
    /// Version in which it was asked.
    pub version: ReviewVersion,
    /// Whether an UPDATE of the object would be sent to the webhook.
    pub updates: bool,
    /// Whether the same bytes are demanded.
    pub ours: bool,
    /// Laws that are excused: nothing is asked for them.
    pub exempt: &'a dyn Fn(Law) -> bool,
}

/// Asks on; without a proper first answer there is nothing more to ask.
pub async fn trace(asking: &Asking<'_>, main: Exchange) -> Trace {
    let mut trace = Trace {
        repeat: None,
        beta: None,
        dry_run: None,
        again: None,
        update: Update::None,
        unrelated: None,
        facts: None,
        input: asking.subject.object.clone(),
        timeout: asking.route.timeout,
        ours: asking.ours,
        earlier: Vec::new(),
        main,
    };
    let Some(answer) = trace.main.answer().cloned() else { return trace };
    let asks = |law: Law| !(asking.exempt)(law);
    if asks(Law::Deterministic) {
        trace.repeat = Some(asking.ask(asking.subject, asking.version, false).await);
        if asking.route.beta && asking.version == ReviewVersion::V1 {
            trace.beta = Some(asking.ask(asking.subject, ReviewVersion::V1beta1, false).await);
        }
    }
    if asks(Law::DryRunHasNoEffect) {
        trace.dry_run = Some(asking.ask(asking.subject, asking.version, true).await);
    }
    if asks(Law::UnrelatedUntouched) {
        trace.unrelated = Some(asking.unrelated().await);
    }
    let mutated = answer.allowed && answer.patched && asking.overrides.is_none();
    let Some(result) = answer.object.filter(|_| mutated) else { return trace };
    if asks(Law::Idempotent) {
        let again = Subject { object: Some(result.clone()), ..asking.subject.clone() };
        trace.again = Some(asking.ask(&again, asking.version, false).await);
    }
    if asks(Law::UpdateKeepsMutation) && asking.subject.operation == Operation::Create {
        trace.update = asking.update(result).await;
    }
    trace
}

impl Asking<'_> {
    async fn ask(&self, subject: &Subject, version: ReviewVersion, dry_run: bool) -> Exchange {
        let review = ReviewRequest { subject, version, uid: self.uid, dry_run, overrides: self.overrides };
        exchange::ask(self.dialer, &self.route.path, &review, self.route.timeout).await
    }

    async fn update(&self, created: Value) -> Update {
        if !self.updates {
            return Update::NotCalled;
        }
        let subject =
            Subject { operation: Operation::Update, old_object: Some(created), ..self.subject.clone() };
        Update::Asked(Box::new(self.ask(&subject, self.version, false).await))
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
