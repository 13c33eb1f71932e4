//! The webhooks of one instance by path, with the facts that they need.

mod high_availability;
mod mutating;
mod validating;

use std::sync::Arc;

use kube::Client;
use webhook::service::{self, Limits, Route, WebhookService};

use crate::config::{ResourceManagerConfiguration, WebhooksConfiguration};
use crate::facts::Facts;
use crate::webhooks::{
    endpoint_slice_hints, high_availability_config, kubernetes_service_host, pod_scheduler_name,
    pod_topology_spread_constraints, projected_token_mount, seccomp_profile, system_components_config,
    token_invalidator,
};
use high_availability::HighAvailability;
use mutating::{Mutating, MutatingWithFacts, ReviewedKind};

/// Clients of an instance's clusters.
#[derive(Clone)]
pub struct Clients {
    /// The cluster with the ManagedResources.
    pub source: Client,
    /// The cluster whose requests are reviewed, often the same one.
    pub target: Client,
}

/// The enabled webhooks; dropping this ends the watches for their facts.
#[derive(Clone, Debug)]
pub struct Webhooks {
    /// Serves them.
    pub service: WebhookService,
    facts: Arc<Facts>,
}

impl Webhooks {
    /// Waits until all facts have been read once. An earlier request waits as well.
    pub async fn wait_until_synced(&self) {
        self.facts.wait_until_synced().await;
    }

    /// Whether all facts have been read once.
    #[must_use]
    pub fn is_synced(&self) -> bool {
        self.facts.is_synced()
    }
}

/// Builds the webhooks that `config` enables, and starts to watch their facts.
///
/// Must be called within a tokio runtime; opens no sockets if the clients do not.
#[must_use]
pub fn webhooks(config: &ResourceManagerConfiguration, clients: &Clients) -> Webhooks {
    let target = config.target_client_connection.as_ref().unwrap_or(&config.source_client_connection);
    let facts = Arc::new(Facts::watch(&config.webhooks, &target.namespaces, &clients.target));
    let routes = [
        without_facts(&config.webhooks),
        with_facts(&config.webhooks, &facts),
        validating::routes(&config.webhooks, &clients.source),
    ]
    .concat();
    Webhooks { service: service::service(routes, Limits::default()), facts }
}

/// Webhooks that only look at the object.
fn without_facts(config: &WebhooksConfiguration) -> Vec<Route> {
    let host = config.kubernetes_service_host.host.clone();
    let scheduler = config.pod_scheduler_name.scheduler_name.clone().unwrap_or_default();
    [
        config.endpoint_slice_hints.enabled.then(|| {
            let webhook = Mutating::new(ReviewedKind::ENDPOINT_SLICE, endpoint_slice_hints::mutate);
            route(endpoint_slice_hints::NAME, endpoint_slice_hints::PATH, webhook)
        }),
        config.kubernetes_service_host.enabled.then(|| {
            let webhook =
                Mutating::new(ReviewedKind::POD, move |pod| kubernetes_service_host::mutate(&host, pod));
            route(kubernetes_service_host::NAME, kubernetes_service_host::PATH, webhook)
        }),
        config.pod_scheduler_name.enabled.then(|| {
            let webhook =
                Mutating::new(ReviewedKind::POD, move |pod| pod_scheduler_name::mutate(&scheduler, pod));
            route(pod_scheduler_name::NAME, pod_scheduler_name::PATH, webhook)
        }),
        config.pod_topology_spread_constraints.enabled.then(|| {
            let webhook = Mutating::new(ReviewedKind::POD, pod_topology_spread_constraints::mutate);
            route(pod_topology_spread_constraints::NAME, pod_topology_spread_constraints::PATH, webhook)
        }),
        config.seccomp_profile.enabled.then(|| {
            let webhook = Mutating::new(ReviewedKind::POD, seccomp_profile::mutate);
            route(seccomp_profile::NAME, seccomp_profile::PATH, webhook)
        }),
        config.token_invalidator.enabled.then(|| {
            let webhook = Mutating::new(ReviewedKind::SECRET, token_invalidator::mutate);
            route(token_invalidator::NAME, token_invalidator::PATH, webhook)
        }),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Webhooks that also need facts.
fn with_facts(config: &WebhooksConfiguration, facts: &Arc<Facts>) -> Vec<Route> {
    let seconds = config.projected_token_mount.expiration_seconds.unwrap_or_default();
    let system_components = config.system_components_config.clone();
    [
        config.high_availability_config.enabled.then(|| {
            let webhook = HighAvailability::new(&config.high_availability_config, facts);
            route(high_availability_config::NAME, high_availability_config::PATH, webhook)
        }),
        config.projected_token_mount.enabled.then(|| {
            let webhook = MutatingWithFacts::new(ReviewedKind::POD, facts, move |facts, request, pod| {
                let Some(account) = projected_token_mount::service_account(pod)? else { return Ok(()) };
                let automount = facts.automount(&request.namespace, account)?;
                projected_token_mount::mutate(seconds, automount, pod)
            });
            route(projected_token_mount::NAME, projected_token_mount::PATH, webhook)
        }),
        config.system_components_config.enabled.then(|| {
            let webhook = MutatingWithFacts::new(ReviewedKind::POD, facts, move |facts, _, pod| {
                system_components_config::mutate(&system_components, &facts.node_tolerations(), pod)
            });
            route(system_components_config::NAME, system_components_config::PATH, webhook)
        }),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn route(name: &'static str, path: &str, webhook: impl service::Webhook + 'static) -> Route {
    Route { name, path: path.to_owned(), webhook: Arc::new(webhook) }
}

#[cfg(test)]
mod tests;
