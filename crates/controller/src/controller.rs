//! One controller: sources fill its queue, workers process it.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::entropy::Entropy;
use crate::measure::Measured;
use crate::queue::{Queue, RateLimiter};
use crate::reconcile::{Erased, Reconcile, erase};
use crate::request::Request;
use crate::source::{Requests, Source};
use crate::worker::Work;

/// Why a controller does not run.
#[derive(Debug, thiserror::Error)]
pub enum ControllerError {
    /// The initial list of a watched kind did not arrive in time.
    #[error(
        "failed to wait for {controller} caches to sync: timed out waiting for cache to be synced for {what}"
    )]
    Sync {
        /// Name of the controller.
        controller: String,
        /// The source that was not ready.
        what: String,
    },
    /// One of its tasks panicked or was aborted.
    #[error("failed to run controller {controller}: {source}")]
    Task {
        /// Name of the controller.
        controller: String,
        /// The failure of the task.
        source: tokio::task::JoinError,
    },
}

/// A controller before it is started; see the crate's example.
#[must_use]
pub struct Controller {
    name: String,
    workers: usize,
    limiter: RateLimiter<Request>,
    timeout: Option<Duration>,
    sources: Vec<Box<dyn Source>>,
    watches: Watches,
    reconcile: Erased,
}

impl fmt::Debug for Controller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sources: Vec<String> = self.sources.iter().map(|source| source.describe()).collect();
        f.debug_struct("Controller")
            .field("name", &self.name)
            .field("sources", &sources)
            .finish_non_exhaustive()
    }
}

impl Controller {
    /// A controller with one worker and no source; `name` appears in log and metrics.
    pub fn new(name: impl Into<String>, reconciler: impl Reconcile) -> Self {
        Self {
            name: name.into(),
            workers: 1,
            limiter: RateLimiter::default(),
            timeout: None,
            sources: Vec::new(),
            watches: Watches::default(),
            reconcile: erase(reconciler),
        }
    }

    /// How many requests are processed at once; 0 counts as 1.
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = workers.max(1);
        self
    }

    /// When failed requests are retried.
    pub fn rate_limiter(mut self, limiter: RateLimiter<Request>) -> Self {
        self.limiter = limiter;
        self
    }

    /// How long a reconciliation may take; after that it is cancelled and counts as failed.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Adds a source of requests.
    pub fn source(mut self, source: impl Source) -> Self {
        self.sources.push(Box::new(source));
        self
    }

    /// Starts sources that are added to `watches`, also while the controller runs.
    pub fn watches(mut self, watches: &Watches) -> Self {
        self.watches = watches.clone();
        self
    }

    /// Builds the parts of the running controller and their measurements.
    pub(crate) fn assemble(self, entropy: &Entropy) -> Assembled {
        let measured = Arc::new(Measured::new(self.name.clone(), self.workers));
        let work = Work {
            queue: Arc::new(Queue::new(self.name.clone(), self.limiter)),
            name: self.name,
            reconcile: self.reconcile,
            timeout: self.timeout,
            measured,
            entropy: entropy.clone(),
        };
        Assembled {
            work: Arc::new(work),
            workers: self.workers,
            sources: self.sources,
            watches: self.watches,
        }
    }
}

/// Sources that a reconciler adds while it runs. Cheap to clone; clones share them.
#[derive(Clone, Default)]
pub struct Watches {
    shared: Arc<Added>,
}

#[derive(Default)]
struct AddedSources {
    keys: BTreeSet<String>,
    unstarted: Vec<Box<dyn Source>>,
}

#[derive(Default)]
struct Added {
    sources: Mutex<AddedSources>,
    changed: Notify,
}

impl fmt::Debug for Watches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watches").field("keys", &self.shared.sources.lock().keys).finish()
    }
}

impl Watches {
    /// Adds a source unless the key has one already; returns whether it did.
    pub fn ensure<S: Source>(&self, key: impl Into<String>, source: impl FnOnce() -> S) -> bool {
        let mut sources = self.shared.sources.lock();
        if !sources.keys.insert(key.into()) {
            return false;
        }
        sources.unstarted.push(Box::new(source()));
        drop(sources);
        self.shared.changed.notify_one();
        true
    }

    fn take(&self) -> Vec<Box<dyn Source>> {
        std::mem::take(&mut self.shared.sources.lock().unstarted)
    }
}

/// A controller that can be started.
pub(crate) struct Assembled {
    pub(crate) work: Arc<Work>,
    workers: usize,
    sources: Vec<Box<dyn Source>>,
    watches: Watches,
}

/// A controller whose sources have been started and whose workers have not.
pub(crate) struct Sourced {
    work: Arc<Work>,
    workers: usize,
    watches: Watches,
    waits: Vec<(String, BoxFuture<'static, ()>)>,
    running: JoinSet<()>,
}

impl Drop for Sourced {
    /// Stores notify subscribers as long as the process runs; without workers the queue would only grow.
    fn drop(&mut self) {
        self.work.queue.shut_down();
    }
}

impl Assembled {
    /// Starts the sources.
    pub(crate) fn start(mut self) -> Sourced {
        let mut running = JoinSet::new();
        self.sources.extend(self.watches.take());
        let started = self.sources.into_iter().map(|source| {
            let what = source.describe();
            (what, start(&self.work, source, &mut running))
        });
        let waits = started.collect();
        tracing::info!(controller = self.work.name, "Starting Controller");
        Sourced { work: self.work, workers: self.workers, watches: self.watches, waits, running }
    }
}

impl Sourced {
    /// Waits until all sources have enqueued the objects that existed at the start.
    pub(crate) async fn wait_until_synced(&mut self, limit: Duration) -> Result<(), ControllerError> {
        for (what, synced) in std::mem::take(&mut self.waits) {
            if timeout(limit, synced).await.is_err() {
                let error = ControllerError::Sync { controller: self.work.name.clone(), what };
                tracing::error!(controller = self.work.name, %error, "Could not wait for Cache to sync");
                return Err(error);
            }
        }
        Ok(())
    }

    /// Works until `stop` is cancelled, then lets the workers finish their current requests.
    pub(crate) async fn run(mut self, stop: CancellationToken) -> Result<(), ControllerError> {
        let name = self.work.name.clone();
        tracing::info!(controller = name, "worker count" = self.workers, "Starting workers");
        let mut workers = JoinSet::new();
        for _ in 0..self.workers {
            workers.spawn(self.work.clone().run(stop.clone()));
        }
        let failed = |source| ControllerError::Task { controller: name.clone(), source };
        loop {
            for source in self.watches.take() {
                // Nothing waits for a source that is added later, because it was unknown at the start.
                drop(start(&self.work, source, &mut self.running));
            }
            tokio::select! {
                () = stop.cancelled() => break,
                () = self.watches.shared.changed.notified() => {}
                Some(ended) = self.running.join_next() => ended.map_err(failed)?,
                Some(ended) = workers.join_next() => ended.map_err(failed)?,
            }
        }
        tracing::info!(controller = name, "Shutdown signal received, waiting for all workers to finish");
        self.running.shutdown().await;
        self.work.queue.shut_down();
        while let Some(ended) = workers.join_next().await {
            ended.map_err(failed)?;
        }
        tracing::info!(controller = name, "All workers finished");
        Ok(())
    }
}

fn start(work: &Work, source: Box<dyn Source>, running: &mut JoinSet<()>) -> BoxFuture<'static, ()> {
    tracing::info!(controller = work.name, source = source.describe(), "Starting EventSource");
    let queue: &Requests = &work.queue;
    let started = source.start(queue);
    running.spawn(started.run);
    started.synced
}
