//! Controllers that run in this process, for as long as somebody holds them.

use component::Clusters;
use controller::clock::Clock;
use controller::{CancellationToken, Controllers};
use formats::exposition;
use tokio_util::sync::DropGuard;

use super::Context;
use crate::config::ResourceManagerConfiguration;
use crate::serving::Clients;

/// Running controllers; dropping it stops them.
#[derive(Debug)]
pub struct Running {
    controllers: Controllers,
    _stop: DropGuard,
}

impl Running {
    /// Starts the enabled controllers on tokio's current runtime. The same clock and entropy send the same requests in each run. With
    /// a target there are two clusters, also where the configuration names no connection of its own.
    #[must_use]
    pub fn at(config: &ResourceManagerConfiguration, clusters: Clusters) -> Self {
        let mut config = config.clone();
        if clusters.target.is_some() {
            let connection = config.source_client_connection.clone();
            config.target_client_connection.get_or_insert(connection);
        }
        let Clusters { source, target, now, entropy } = clusters;
        let clients = Clients { target: target.unwrap_or_else(|| source.clone()), source };
        let context = Context::new(config, &clients, Clock::starting_at(now), entropy);
        let stop = CancellationToken::new();
        for cluster in context.clusters() {
            let stop = stop.clone();
            tokio::spawn(async move {
                if let Err(error) = cluster.run(stop).await {
                    tracing::error!(%error, "failed to watch");
                }
            });
        }
        let controllers = Controllers::new(context.clusters(), context.entropy.clone());
        let (running, told) = (controllers.clone(), stop.clone());
        tokio::spawn(async move {
            if let Err(error) = super::run(context, running, told).await {
                tracing::error!(%error, "failed to run controllers");
            }
        });
        Self { controllers, _stop: stop.drop_guard() }
    }

    /// What the controllers measure, in Prometheus' text format.
    #[must_use]
    pub fn exposition(&self) -> String {
        exposition::encode(self.controllers.metrics())
    }
}
