//! The controllers of one instance.
//!
//! Each module has `observe` (what is known), `plan` (pure: what is to be done) and `execute`.

pub mod secret;

mod running;

use controller::clock::Clock;
use controller::{CacheOptions, Cluster, Controller, Entropy};

use crate::config::{ClientConnection, ResourceManagerConfiguration};
use crate::managed_resource::Class;
use crate::serving::Clients;

pub use running::Running;

/// The clusters that controllers work with; both are one where source and target are.
#[derive(Clone, Debug)]
pub struct Clusters {
    /// Where ManagedResources are.
    pub source: Cluster,
    /// Where their objects are.
    pub target: Cluster,
}

impl Clusters {
    /// The clusters of an instance; nothing is asked of them before they are run.
    #[must_use]
    pub fn new(config: &ResourceManagerConfiguration, clients: &Clients, entropy: &Entropy) -> Self {
        let cluster = |name: &str, client: &kube::Client, connection: &ClientConnection| {
            let resync = connection.cache_resync_period.and_then(formats::duration::GoDuration::to_std);
            let options = CacheOptions { namespaces: connection.namespaces.clone(), resync };
            Cluster::new(name, client.clone(), options, entropy.clone())
        };
        let source = cluster("source", &clients.source, &config.source_client_connection);
        let target = match &config.target_client_connection {
            Some(connection) => cluster("target", &clients.target, connection),
            None => source.clone(),
        };
        Self { source, target }
    }
}

/// The enabled controllers; reads the time from `clock`, and randomness from `entropy`.
#[must_use]
pub fn controllers(
    config: &ResourceManagerConfiguration,
    clusters: &Clusters,
    _clock: Clock,
    _entropy: &Entropy,
) -> Vec<Controller> {
    let controllers = &config.controllers;
    let class = Class::new(controllers.resource_class.as_deref().unwrap_or_default());
    vec![secret::controller(&controllers.secret, &class, &clusters.source)]
}

/// How many objects are handled at once.
fn workers(concurrent_syncs: Option<i64>) -> usize {
    concurrent_syncs.and_then(|count| usize::try_from(count).ok()).unwrap_or(1)
}
