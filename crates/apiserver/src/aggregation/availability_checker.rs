//! Whether the availability of other API servers is checked in the background, and the signal to check it now.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// Whether the background task is needed and runs, and how it is woken.
#[derive(Debug, Default)]
pub(crate) struct AvailabilityChecker {
    enabled: AtomicBool,
    running: Arc<AtomicBool>,
    notify: Arc<Notify>,
}

impl AvailabilityChecker {
    /// The checker of a forked server, which has the same APIServices.
    pub(crate) fn fork(&self) -> Self {
        Self { enabled: AtomicBool::new(self.enabled.load(Ordering::Relaxed)), ..Self::default() }
    }

    /// Enables the checks, and checks all servers now: an object changed that they depend on.
    pub(crate) fn check_all_now(&self) {
        self.enabled.store(true, Ordering::Relaxed);
        self.notify.notify_one();
    }

    /// Checks all servers now, if checks are enabled.
    pub(crate) fn recheck(&self) {
        if self.enabled.load(Ordering::Relaxed) {
            self.notify.notify_one();
        }
    }

    /// What the task needs, if checks are enabled and it is not running; it counts as running until the flag is dropped.
    pub(super) fn start(&self) -> Option<(Arc<Notify>, RunningFlag)> {
        let starts = self.enabled.load(Ordering::Relaxed) && !self.running.swap(true, Ordering::Relaxed);
        starts.then(|| (Arc::clone(&self.notify), RunningFlag(Arc::clone(&self.running))))
    }
}

/// Marks the task as running until it is dropped, at the latest with the runtime.
pub(super) struct RunningFlag(Arc<AtomicBool>);

impl Drop for RunningFlag {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}
