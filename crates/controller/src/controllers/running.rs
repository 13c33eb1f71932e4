//! Controllers that run in this process without a manager, until a guard is dropped.

use std::error::Error;
use std::future::Future;
use std::sync::{Arc, OnceLock};

use formats::exposition;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::cluster::Cluster;
use crate::controllers::Controllers;
use crate::entropy::Entropy;
use crate::leader::Elector;

/// Running controllers; dropping it stops them.
#[derive(Debug)]
pub struct Running {
    controllers: Controllers,
    failure: Arc<OnceLock<String>>,
    _stop: DropGuard,
}

impl Running {
    /// Fills the caches of the clusters and runs controllers over them, on tokio's current runtime. Failures are logged.
    pub fn start<E, F>(
        clusters: Vec<Cluster>,
        entropy: Entropy,
        run: impl FnOnce(Controllers, CancellationToken) -> F,
    ) -> Self
    where
        E: Error + Send + 'static,
        F: Future<Output = Result<(), E>> + Send + 'static,
    {
        let stop = CancellationToken::new();
        for cluster in clusters.clone() {
            let stop = stop.clone();
            tokio::spawn(async move {
                if let Err(error) = cluster.run(stop).await {
                    tracing::error!(%error, "failed to watch");
                }
            });
        }
        let controllers = Controllers::new(clusters, entropy);
        let running = run(controllers.clone(), stop.clone());
        let failure = Arc::new(OnceLock::new());
        let failed = Arc::clone(&failure);
        tokio::spawn(async move {
            if let Err(error) = running.await {
                tracing::error!(%error, "failed to run controllers");
                failed.get_or_init(|| error.to_string());
            }
        });
        Self { controllers, failure, _stop: stop.drop_guard() }
    }

    /// As [`Self::start`], but with an elector the controllers run only while it leads; its Lease lost is a failure.
    pub fn start_elected<E, F>(
        clusters: Vec<Cluster>,
        entropy: Entropy,
        elector: Option<Elector>,
        run: impl FnOnce(Controllers, CancellationToken) -> F + Send + 'static,
    ) -> Self
    where
        E: Error + Send + Sync + 'static,
        F: Future<Output = Result<(), E>> + Send + 'static,
    {
        let Some(elector) = elector else { return Self::start(clusters, entropy, run) };
        Self::start(clusters, entropy, |controllers, stop| elector.run(stop, |stop| run(controllers, stop)))
    }

    /// Why they have ended, if they have failed: a process would have ended, too.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        self.failure.get().cloned()
    }

    /// Measurements of the controllers, in Prometheus' text format.
    #[must_use]
    pub fn exposition(&self) -> String {
        exposition::encode(self.controllers.metrics())
    }
}
