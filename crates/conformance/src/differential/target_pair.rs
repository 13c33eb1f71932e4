//! Two started targets that receive the same requests.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use webhook::dial::{DialError, Dialer};
use webhook::review::ReviewVersion;

use super::effect::Effect;
use super::input::{Input, World};
use crate::exchange::{self, Outcome, ReviewRequest, Subject};
use crate::route::{self, Route, Routing};
use crate::target::Running;

/// A started target.
pub(super) struct StartedTarget<'a> {
    running: &'a dyn Running,
    dialer: Arc<dyn Dialer>,
}

/// Both targets, for one webhook.
pub(super) struct TargetPair<'a> {
    pub(super) a: StartedTarget<'a>,
    pub(super) b: StartedTarget<'a>,
    pub(super) webhook: &'a str,
}

impl<'a> StartedTarget<'a> {
    pub(super) fn new(running: &'a dyn Running) -> Self {
        Self { running, dialer: running.dialer() }
    }

    /// The effect of a request; `None` if the target does not serve it.
    async fn effect(
        &self,
        webhook: &str,
        subject: &Subject,
        input: &Input,
        labels: &BTreeMap<String, String>,
    ) -> Result<Option<Effect>, DialError> {
        // Sends the request even if the registration does not match it: the registration is compared separately.
        let Routing::Named(route) = route::named(self.running, webhook, subject, None) else {
            return Ok(None);
        };
        // If there are several paths, each serves one kind.
        let kind = format!("-{}", subject.kind.kind.to_lowercase());
        if self.running.paths(webhook).len() > 1 && !route.path.ends_with(&kind) {
            return Ok(None);
        }
        let called = match route::route(self.running, webhook, subject, labels) {
            Routing::Registered(routes) => Some(!routes.is_empty()),
            Routing::Converted(_) => Some(true),
            Routing::Named(_) | Routing::Unknown => None,
        };
        let version = version(&route, input.review);
        let review =
            ReviewRequest { subject, version, uid: "diff-run", dry_run: input.dry_run, overrides: None };
        let exchange = exchange::ask(self.dialer.as_ref(), &route.path, &review, route.timeout).await;
        if let Outcome::Unreachable(error) = exchange.outcome {
            return Err(error);
        }
        Ok(Effect::of(&exchange, called))
    }
}

impl TargetPair<'_> {
    /// The effects of an input on both; `None` if one of them does not serve it.
    ///
    /// # Errors
    /// If one cannot be reached, or the kind of the object is unknown.
    pub(super) async fn send(
        &self,
        input: &Input,
        world: &World,
    ) -> Result<Option<(Effect, Effect)>, String> {
        let subject = input.subject(world).map_err(|error| error.to_string())?;
        let labels = labels(world, &subject);
        let (a, b) = futures::join!(
            self.a.effect(self.webhook, &subject, input, &labels),
            self.b.effect(self.webhook, &subject, input, &labels),
        );
        let message = |error: DialError| format!("could not reach the target: {error}");
        Ok(a.map_err(message)?.zip(b.map_err(message)?))
    }
}

/// Labels of the request's namespace, as kube-apiserver sees them.
fn labels(world: &World, subject: &Subject) -> BTreeMap<String, String> {
    let mut labels = BTreeMap::new();
    if subject.namespace.is_empty() {
        return labels;
    }
    labels.insert("kubernetes.io/metadata.name".to_owned(), subject.namespace.clone());
    let own = world.namespace.as_ref().and_then(|object| object["metadata"]["labels"].as_object());
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    labels.extend(own.into_iter().flatten().map(|(key, value)| (key.clone(), text(value))));
    labels
}

fn version(route: &Route, wanted: ReviewVersion) -> ReviewVersion {
    match wanted {
        ReviewVersion::V1beta1 if route.beta => ReviewVersion::V1beta1,
        ReviewVersion::V1 if !route.v1 => ReviewVersion::V1beta1,
        _ => ReviewVersion::V1,
    }
}
