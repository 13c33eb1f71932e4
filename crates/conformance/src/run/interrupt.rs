//! Ends a run early: results so far are kept, the other cases are reported as not run.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use tokio::sync::Notify;

/// Raised by a signal handler; clones share the state.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    inner: Arc<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    signal: AtomicU8,
    notify: Notify,
    runs: AtomicU64,
}

impl Interrupt {
    /// Ends the run for this signal (2 for SIGINT, 15 for SIGTERM); the first one counts.
    pub fn raise(&self, signal: u8) {
        // Only the first signal counts.
        let _ = self.inner.signal.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst);
        self.inner.notify.notify_waiters();
    }

    /// The signal, if one was raised.
    #[must_use]
    pub fn raised(&self) -> Option<u8> {
        Some(self.inner.signal.load(Ordering::SeqCst)).filter(|signal| *signal != 0)
    }

    /// Waits until it is raised.
    pub async fn wait(&self) -> u8 {
        loop {
            let notified = self.inner.notify.notified();
            if let Some(signal) = self.raised() {
                return signal;
            }
            notified.await;
        }
    }

    /// Counts runs, so that several runs of one process use different namespaces.
    pub(crate) fn run_number(&self) -> u64 {
        self.inner.runs.fetch_add(1, Ordering::SeqCst)
    }
}
