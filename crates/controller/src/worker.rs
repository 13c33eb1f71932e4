//! Workers: take a request, reconcile it, and schedule its retry.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use crate::entropy::Entropy;
use crate::measure::{Measured, ReconcileResult};
use crate::reconcile::{Erased, Outcome, ReconcileFailure};
use crate::request::Request;
use crate::source::Requests;

/// What the workers of one controller share.
pub(crate) struct Work {
    pub(crate) name: String,
    pub(crate) queue: Requests,
    pub(crate) reconcile: Erased,
    pub(crate) timeout: Option<Duration>,
    pub(crate) measured: Arc<Measured>,
    pub(crate) entropy: Entropy,
}

impl fmt::Debug for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Work").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Work {
    /// Works until `stop` is cancelled; finishes the current request.
    pub(crate) async fn run(self: Arc<Self>, stop: CancellationToken) {
        while let Some(Some(request)) = stop.run_until_cancelled(self.queue.get()).await {
            if stop.is_cancelled() {
                // The request stays undone: the next leader lists everything anyway.
                self.queue.done(&request);
                return;
            }
            let busy = self.measured.busy();
            let span = tracing::info_span!(
                "reconcile",
                controller = self.name,
                namespace = request.namespace,
                name = request.name,
                reconcileID = %self.entropy.uuid(),
            );
            self.handle(&request).instrument(span).await;
            drop(busy);
            self.queue.done(&request);
        }
    }

    async fn handle(&self, request: &Request) {
        let started = Instant::now();
        tracing::trace!("Reconciling");
        let result = self.attempt(request).await;
        let result = match result {
            Ok(Outcome::RequeueAfter(delay)) if !delay.is_zero() => {
                tracing::trace!("Reconcile done, requeueing after {delay:?}");
                self.queue.forget(request);
                self.queue.add_after(request.clone(), delay);
                ReconcileResult::RequeueAfter
            }
            Ok(Outcome::Requeue) => {
                tracing::trace!("Reconcile done, requeueing");
                self.queue.add_rate_limited(request.clone());
                ReconcileResult::Requeue
            }
            Ok(Outcome::Done | Outcome::RequeueAfter(_)) => {
                tracing::trace!("Reconcile successful");
                self.queue.forget(request);
                ReconcileResult::Success
            }
            Err(failure) => {
                if matches!(failure, ReconcileFailure::Panic(_)) {
                    self.measured.panicked();
                }
                self.queue.add_rate_limited(request.clone());
                tracing::error!(error = %failure, "Reconciler error");
                ReconcileResult::Error
            }
        };
        self.measured.reconciled(result, started.elapsed());
    }

    async fn attempt(&self, request: &Request) -> Result<Outcome, ReconcileFailure> {
        let attempt = AssertUnwindSafe(async { (self.reconcile)(request.clone()).await }).catch_unwind();
        let ended = match self.timeout {
            None => attempt.await,
            Some(limit) => {
                timeout(limit, attempt).await.map_err(|_elapsed| ReconcileFailure::Timeout(limit))?
            }
        };
        ended.unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<&str>().map(ToString::to_string);
            let message = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
            tracing::error!(panic = message, "Observed a panic in reconciler");
            Err(ReconcileFailure::Panic(message))
        })
    }
}
