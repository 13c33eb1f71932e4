//! All controllers of a process: no worker starts before every store that any of them reads is synced.

mod running;

use std::sync::Arc;
use std::time::Duration;

use formats::exposition::Family;
use parking_lot::Mutex;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::cluster::Cluster;
use crate::controller::{Assembled, Controller, ControllerError};
use crate::entropy::Entropy;
use crate::worker::Work;

pub use running::Running;

/// How long controllers wait for their caches.
pub const CACHE_SYNC_TIMEOUT: Duration = Duration::from_mins(2);

/// Why controllers do not run.
#[derive(Debug, thiserror::Error)]
pub enum ControllersError {
    /// A store was not filled in time.
    #[error("failed to wait for caches to sync: timed out waiting for {}", .0.join(", "))]
    Sync(Vec<String>),
    /// A controller failed.
    #[error(transparent)]
    Controller(#[from] ControllerError),
    /// The task of a controller panicked or was aborted.
    #[error("failed to run controllers: {0}")]
    Task(#[from] tokio::task::JoinError),
}

/// The controllers of a process. Cheap to clone; clones share state, so metrics can be registered before controllers
/// are added.
#[derive(Clone, Debug)]
pub struct Controllers {
    clusters: Vec<Cluster>,
    entropy: Entropy,
    cache_sync_timeout: Duration,
    works: Arc<Mutex<Vec<Arc<Work>>>>,
}

impl Controllers {
    /// Controllers that read these clusters; the caller runs the clusters.
    #[must_use]
    pub fn new(clusters: impl IntoIterator<Item = Cluster>, entropy: Entropy) -> Self {
        let clusters = clusters.into_iter().collect();
        Self { clusters, entropy, cache_sync_timeout: CACHE_SYNC_TIMEOUT, works: Arc::default() }
    }

    /// How long to wait for the caches; two minutes by default.
    #[must_use]
    pub fn cache_sync_timeout(mut self, timeout: Duration) -> Self {
        self.cache_sync_timeout = timeout;
        self
    }

    /// Measurements of all controllers, including those that start later.
    #[must_use]
    pub fn metrics(&self) -> Vec<Family> {
        let works = self.works.lock();
        works.iter().flat_map(|work| [work.measured.families(), work.queue.metrics()]).flatten().collect()
    }

    /// Runs controllers until `stop` is cancelled: starts their sources, waits until every store of the clusters is
    /// filled, starts the workers, and at the end waits until each has finished its current request.
    ///
    /// # Errors
    /// When a store is not filled in time, or a controller fails; the others are stopped first.
    pub async fn run(
        &self,
        controllers: Vec<Controller>,
        stop: CancellationToken,
    ) -> Result<(), ControllersError> {
        let stop = stop.child_token();
        let assembled: Vec<_> =
            controllers.into_iter().map(|controller| controller.assemble(&self.entropy)).collect();
        self.works.lock().extend(assembled.iter().map(|assembled| assembled.work.clone()));
        let mut sourced: Vec<_> = assembled.into_iter().map(Assembled::start).collect();
        for controller in &mut sourced {
            let synced = stop.run_until_cancelled(controller.wait_until_synced(self.cache_sync_timeout));
            let Some(synced) = synced.await else { return Ok(()) };
            synced?;
        }
        let Some(synced) = stop.run_until_cancelled(self.wait_until_synced()).await else { return Ok(()) };
        synced?;
        let mut running = JoinSet::new();
        for controller in sourced {
            running.spawn(controller.run(stop.clone()));
        }
        let mut outcome = Ok(());
        while let Some(ended) = running.join_next().await {
            let ended = ended.map_err(ControllersError::from).and_then(|ended| Ok(ended?));
            if ended.is_err() {
                stop.cancel();
            }
            outcome = outcome.and(ended);
        }
        outcome
    }

    /// Waits for stores that are read but not watched.
    async fn wait_until_synced(&self) -> Result<(), ControllersError> {
        for cluster in &self.clusters {
            if timeout(self.cache_sync_timeout, cluster.wait_until_synced()).await.is_err() {
                return Err(ControllersError::Sync(cluster.unsynced()));
            }
        }
        Ok(())
    }
}
