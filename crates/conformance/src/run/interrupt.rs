//! Ends a run early: what was asked is kept, the rest is reported as not run.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use tokio::sync::Notify;

/// Raised by whoever hears a signal; cloning gives the same.
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
        // Whoever came first has said it.
        let _ = self.inner.signal.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst);
        self.inner.notify.notify_waiters();
    }

    /// The signal, if it was raised.
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

    /// Counts runs, so that namespaces of several runs of one process do not meet.
    pub(crate) fn run_number(&self) -> u64 {
        self.inner.runs.fetch_add(1, Ordering::SeqCst)
    }
}
