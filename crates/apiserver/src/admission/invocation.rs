//! Selects the webhooks to call for a request, and the resource under which each receives the object.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use webhook::registration::{self, Attributes, Registration, WebhookConfiguration};
use webhook::review::GroupVersionResource;

use super::Review;
use crate::call::Call;
use crate::object::meta;
use crate::state::ServerState;

/// A webhook to call for a request.
#[derive(Clone, Debug)]
pub(super) struct Invocation {
    configuration: Arc<WebhookConfiguration>,
    index: usize,
    /// The resource under which the object is sent.
    pub(super) sent_as: GroupVersionResource,
}

/// The data for matching that is the same for all webhooks of one phase.
#[derive(Debug)]
pub(super) struct MatchContext {
    equivalents: Vec<(String, String, String)>,
    namespace_labels: BTreeMap<String, String>,
}

impl Invocation {
    /// The webhook.
    pub(super) fn webhook(&self) -> &Registration {
        &self.configuration.webhooks[self.index]
    }
}

impl MatchContext {
    /// Collects the data for a request.
    pub(super) fn of(shared: &ServerState, call: &Call, review: &Review<'_>) -> Self {
        Self {
            equivalents: shared.registry.served().equivalents(&call.target),
            namespace_labels: namespace_labels(shared, &review.namespace),
        }
    }

    /// The invocation of a webhook, if it matches the request.
    pub(super) fn invocation(
        &self,
        call: &Call,
        review: &Review<'_>,
        configuration: &Arc<WebhookConfiguration>,
        index: usize,
    ) -> Option<Invocation> {
        let resource = &call.target.resource;
        let attributes = Attributes {
            group: &resource.group,
            version: &resource.version,
            resource: &resource.plural,
            subresource: &call.path.subresource,
            namespace: &review.namespace,
            equivalents: &self.equivalents,
            operation: Some(review.operation),
        };
        let (object, old) = (review.object.as_ref(), review.old.as_deref());
        let webhook = &configuration.webhooks[index];
        let sent_as = registration::matches(webhook, &attributes, &self.namespace_labels, object, old)?;
        Some(Invocation { configuration: Arc::clone(configuration), index, sent_as })
    }
}

fn namespace_labels(shared: &ServerState, namespace: &str) -> BTreeMap<String, String> {
    let Some(object) = shared.store.get("namespaces", namespace) else { return BTreeMap::new() };
    let labels = meta::of(object.value()).get("labels").and_then(Value::as_object);
    let text = |(key, value): (&String, &Value)| Some((key.clone(), value.as_str()?.to_owned()));
    labels.into_iter().flatten().filter_map(text).collect()
}
