//! The webhooks by path; reads the Cluster that a request needs.

use std::sync::Arc;

use async_trait::async_trait;
use kube::Client;
use serde_json::Value;
use webhook::answer::Answer;
use webhook::mutation;
use webhook::rejection::Rejection;
use webhook::review::{AdmissionRequest, GroupVersionKind, Operation};
use webhook::service::{self, Limits, Route, WebhookService};

use crate::cluster::{self, Cluster};
use crate::config::ControlPlaneWebhooksConfiguration;
use crate::ensurer::failed;
use crate::webhooks::{self, controlplane, controlplanebackup, controlplaneexposure};

/// A kind that a webhook changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handled {
    /// API group; empty for the core group.
    pub group: &'static str,
    /// API version.
    pub version: &'static str,
    /// Kind.
    pub kind: &'static str,
    /// Plural.
    pub resource: &'static str,
}

const DEPLOYMENTS: Handled =
    Handled { group: "apps", version: "v1", kind: "Deployment", resource: "deployments" };
const ETCDS: Handled =
    Handled { group: "druid.gardener.cloud", version: "v1alpha1", kind: "Etcd", resource: "etcds" };
const OPERATING_SYSTEM_CONFIGS: Handled = Handled {
    group: "extensions.gardener.cloud",
    version: "v1alpha1",
    kind: "OperatingSystemConfig",
    resource: "operatingsystemconfigs",
};
const SERVICES: Handled = Handled { group: "", version: "v1", kind: "Service", resource: "services" };

/// The kinds that a webhook changes; empty for unknown webhooks.
#[must_use]
pub fn handled(webhook: &str) -> &'static [Handled] {
    match webhook {
        controlplane::NAME => &[DEPLOYMENTS, OPERATING_SYSTEM_CONFIGS],
        controlplanebackup::NAME => &[ETCDS],
        controlplaneexposure::NAME => &[SERVICES, ETCDS],
        _ => &[],
    }
}

/// The webhooks that are not disabled; `client` reads Clusters of the seed.
#[must_use]
pub fn webhooks(config: &Arc<ControlPlaneWebhooksConfiguration>, client: &Client) -> WebhookService {
    let route = |(name, path): (&'static str, String)| Route {
        name,
        path,
        webhook: Arc::new(ControlPlaneWebhook { name, config: config.clone(), client: client.clone() }),
    };
    let served = webhooks::paths().into_iter().filter(|(name, _)| config.serves(name));
    service::service(served.map(route).collect(), Limits::default())
}

struct ControlPlaneWebhook {
    name: &'static str,
    config: Arc<ControlPlaneWebhooksConfiguration>,
    client: Client,
}

#[async_trait]
impl webhook::service::Webhook for ControlPlaneWebhook {
    async fn answer(&self, request: &AdmissionRequest<'_>) -> Answer {
        if !handled(self.name).iter().any(|handled| is(handled, &request.kind)) {
            let GroupVersionKind { group, version, kind } = &request.kind;
            return Rejection::undecodable(format!("unexpected request kind {group}/{version}, Kind={kind}"))
                .into();
        }
        let cluster = match self.cluster(request).await {
            Ok(cluster) => cluster,
            Err(rejection) => return rejection.into(),
        };
        mutation::answer(request, |object| self.mutate(cluster.as_ref(), object))
    }
}

impl ControlPlaneWebhook {
    /// The Cluster, if the change needs it.
    async fn cluster(&self, request: &AdmissionRequest<'_>) -> Result<Option<Cluster>, Rejection> {
        let is_asked = self.name == controlplane::NAME
            && matches!(request.operation, Operation::Create | Operation::Update);
        if !is_asked || !controlplane::needs_cluster(&self.config, &mutation::decode(request.object)?)? {
            return Ok(None);
        }
        cluster::read(&self.client, &request.namespace).await.map(Some).map_err(failed)
    }

    fn mutate(&self, cluster: Option<&Cluster>, object: &mut Value) -> Result<(), Rejection> {
        match self.name {
            controlplane::NAME => controlplane::mutate(&self.config, cluster, object),
            controlplaneexposure::NAME => controlplaneexposure::mutate(&self.config, object),
            _ => controlplanebackup::mutate(&self.config, object),
        }
    }
}

fn is(handled: &Handled, kind: &GroupVersionKind) -> bool {
    (handled.group, handled.version, handled.kind) == (&*kind.group, &*kind.version, &*kind.kind)
}
