//! Controllers that run in this process, for as long as somebody holds them.

use component::Clusters;
use controller::clock::Clock;
use controller::{CancellationToken, Controllers};
use formats::exposition;
use tokio_util::sync::DropGuard;

use super::Context;
use crate::config::ControllerManagerConfiguration;

/// Running controllers; dropping it stops them.
#[derive(Debug)]
pub struct Running {
    controllers: Controllers,
    _stop: DropGuard,
}

impl Running {
    /// Starts all controllers on tokio's current runtime, over a garden. The same clock and entropy send the same requests in each
    /// run.
    #[must_use]
    pub fn at(config: &ControllerManagerConfiguration, garden: Clusters) -> Self {
        let Clusters { source, now, entropy, .. } = garden;
        let context = Context::new(config.clone(), &source, Clock::starting_at(now), entropy);
        let stop = CancellationToken::new();
        let (cluster, told) = (context.garden.clone(), stop.clone());
        tokio::spawn(async move {
            if let Err(error) = cluster.run(told).await {
                tracing::error!(%error, "failed to watch");
            }
        });
        let controllers = Controllers::new([context.garden.clone()], context.entropy.clone());
        let (running, told) = (controllers.clone(), stop.clone());
        tokio::spawn(async move {
            if let Err(error) = running.run(super::controllers(&context), told).await {
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
