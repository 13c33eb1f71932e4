//! The controllers of one instance: their common context, which of them run, and how they are started.
//!
//! One module per controller, named as its contract, with a function `controller(&Context) -> Controller`.

mod checking;
mod events;
mod failures;
pub mod garbage_collector;
pub mod health;
pub mod identity;
pub mod kubelet_csr_approver;
pub mod managed_resource;
pub mod network_policy;
pub mod node;
pub mod progressing;
pub mod secret;
mod served;
pub mod token_invalidator;
pub mod token_requestor;
pub mod version;

use std::sync::Arc;
use std::time::Duration;

use component::Clusters;
use controller::clock::Clock;
use controller::controllers::ControllersError;
use controller::controllers::Running;
use controller::{CacheOptions, CancellationToken, Cluster, Controller, Controllers, Entropy};
use formats::duration::GoDuration;
use kube::Client;

use self::identity::IdentityError;
use self::version::{KubernetesVersion, VersionError};
use crate::config::{ClientConnection, ResourceManagerConfiguration};
use crate::managed_resource::Class;
use crate::serving::Clients;

/// Maximum time of one reconciliation; for a ManagedResource, of each step with requests.
const TIMEOUT: Duration = Duration::from_mins(3);

/// The clients, stores and settings of all controllers. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Context {
    /// The configuration, with defaults filled in.
    pub config: Arc<ResourceManagerConfiguration>,
    /// The cluster of ManagedResources and their Secrets.
    pub source: Cluster,
    /// The cluster of managed objects; without a separate connection, the source cluster with its stores.
    pub target: Cluster,
    /// Kubernetes version of the target; known once the controllers start.
    pub target_version: Option<KubernetesVersion>,
    /// The time of day.
    pub clock: Clock,
    /// Jitter and ids.
    pub entropy: Entropy,
}

impl Context {
    /// The context of the controllers; sends no request before the clusters are run.
    #[must_use]
    pub fn new(
        config: ResourceManagerConfiguration,
        clients: &Clients,
        clock: Clock,
        entropy: Entropy,
    ) -> Self {
        let cluster = |name: &str, client: &Client, connection: &ClientConnection| {
            Cluster::new(name, client.clone(), cache(connection), entropy.clone())
        };
        let source = cluster("source", &clients.source, &config.source_client_connection);
        let target = match &config.target_client_connection {
            Some(connection) => cluster("target", &clients.target, connection),
            None => source.clone(),
        };
        Self { config: Arc::new(config), source, target, target_version: None, clock, entropy }
    }

    /// The class of ManagedResources that the instance is responsible for.
    #[must_use]
    pub fn class(&self) -> Class {
        Class::new(self.config.controllers.resource_class.as_deref().unwrap_or_default())
    }

    /// GRM-MR-180 and GRM-MR-181: the clusters, each once; the owner of the context runs them.
    #[must_use]
    pub fn clusters(&self) -> Vec<Cluster> {
        let target = self.config.target_client_connection.as_ref().map(|_| self.target.clone());
        [self.source.clone()].into_iter().chain(target).collect()
    }
}

/// Why controllers cannot run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The identity of the source cluster is unknown.
    #[error("unable to determine cluster id: {0}")]
    Identity(#[from] IdentityError),
    /// The Kubernetes version of the target cluster is unknown.
    #[error("unable to determine the target's version: {}", controller::describe_error(.0))]
    Version(#[from] VersionError),
    /// A cache was not filled in time, or a controller failed.
    #[error(transparent)]
    Controllers(#[from] ControllersError),
}

/// The controllers that the configuration enables; GRM-GCO-009, GRM-MR-182, GRM-NOD-011, GRM-NPC-026.
#[must_use]
pub fn controllers(context: &Context) -> Vec<Controller> {
    let enabled = &context.config.controllers;
    let collector = enabled.garbage_collector.enabled.then(|| garbage_collector::controller(context));
    let approver = enabled.kubelet_csr_approver.enabled.then(|| kubelet_csr_approver::controller(context));
    let invalidator = enabled.token_invalidator.enabled.then(|| token_invalidator::controller(context));
    let requestor = enabled.token_requestor.enabled.then(|| token_requestor::controller(context));
    let policies = enabled.network_policy.enabled.then(|| network_policy::controller(context));
    let node = enabled.node.enabled.then(|| node::controller(context));
    let always = [
        managed_resource::controller(context),
        secret::controller(context),
        health::controller(context),
        progressing::controller(context),
    ];
    let switched = [collector, approver, invalidator, requestor, policies, node];
    always.into_iter().chain(switched.into_iter().flatten()).collect()
}

/// Runs the enabled controllers until `stop` is cancelled, as the leader does; [`Context::clusters`] must run.
///
/// # Errors
/// When the source's identity or the target's version is unknown, a cache is not filled in time, or a controller
/// fails.
pub async fn run(
    mut context: Context,
    running: Controllers,
    stop: CancellationToken,
) -> Result<(), RunError> {
    let configured = context.config.controllers.cluster_id.as_deref().unwrap_or_default();
    let identity = identity::determine(configured, &context.source.client()).await?;
    tracing::info!(clusterID = identity, "Using cluster id");
    Arc::make_mut(&mut context.config).controllers.cluster_id = Some(identity);
    context.target_version = Some(version::determine(&context.target.client()).await?);
    Ok(running.run(controllers(&context), stop).await?)
}

/// Starts the enabled controllers on tokio's current runtime. The same clock and entropy lead to the same requests in
/// each run. With a target there are two clusters, even if the configuration has no connection for it.
#[must_use]
pub fn start(config: &ResourceManagerConfiguration, clusters: Clusters) -> Running {
    let mut config = config.clone();
    if clusters.target.is_some() {
        let connection = config.source_client_connection.clone();
        config.target_client_connection.get_or_insert(connection);
    }
    let Clusters { source, target, now, entropy, elector } = clusters;
    let clients = Clients { target: target.unwrap_or_else(|| source.clone()), source };
    let context = Context::new(config, &clients, Clock::starting_at(now), entropy);
    let (clusters, entropy) = (context.clusters(), context.entropy.clone());
    Running::start_elected(clusters, entropy, elector, |running, stop| run(context, running, stop))
}

/// How many objects are processed at once.
fn workers(concurrent_syncs: Option<i64>) -> usize {
    concurrent_syncs.and_then(|count| usize::try_from(count).ok()).unwrap_or(1)
}

/// GRM-MR-076: which part of a cluster is cached.
fn cache(connection: &ClientConnection) -> CacheOptions {
    let resync =
        connection.cache_resync_period.and_then(GoDuration::to_std).filter(|period| *period > Duration::ZERO);
    CacheOptions { namespaces: connection.namespaces.clone(), resync }
}

#[cfg(test)]
mod tests;
