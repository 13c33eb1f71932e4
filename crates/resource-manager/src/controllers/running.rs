//! Controllers that run in this process, for as long as somebody holds them.

use controller::clock::Clock;
use controller::{Controllers, Entropy};
use formats::exposition::{self, Family};
use jiff::Timestamp;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{Clusters, controllers};
use crate::config::ResourceManagerConfiguration;
use crate::serving::Clients;

/// Running controllers; dropping it stops them.
#[derive(Debug)]
pub struct Running {
    controllers: Controllers,
    _stop: DropGuard,
}

impl Running {
    /// Starts the enabled controllers on tokio's current runtime.
    #[must_use]
    pub fn start(
        config: &ResourceManagerConfiguration,
        clusters: &Clusters,
        clock: Clock,
        entropy: &Entropy,
    ) -> Self {
        let stop = CancellationToken::new();
        let all = [clusters.source.clone(), clusters.target.clone()];
        let running = Controllers::new(all.clone(), entropy.clone());
        for cluster in all {
            let stop = stop.clone();
            tokio::spawn(async move {
                if let Err(error) = cluster.run(stop).await {
                    tracing::error!(%error, "failed to watch");
                }
            });
        }
        let made = controllers(config, clusters, clock, entropy);
        let (started, told) = (running.clone(), stop.clone());
        tokio::spawn(async move {
            if let Err(error) = started.run(made, told).await {
                tracing::error!(%error, "failed to run controllers");
            }
        });
        Self { controllers: running, _stop: stop.drop_guard() }
    }

    /// Starts the enabled controllers in the time of clusters that show `now`; the same run gives the same requests.
    #[must_use]
    pub fn at(config: &ResourceManagerConfiguration, clients: &Clients, now: Timestamp) -> Self {
        let entropy = Entropy::seeded(0);
        let clusters = Clusters::new(config, clients, &entropy);
        Self::start(config, &clusters, Clock::starting_at(now), &entropy)
    }

    /// What the controllers measure.
    #[must_use]
    pub fn metrics(&self) -> Vec<Family> {
        self.controllers.metrics()
    }

    /// The same in Prometheus' text format.
    #[must_use]
    pub fn exposition(&self) -> String {
        exposition::encode(self.metrics())
    }
}
