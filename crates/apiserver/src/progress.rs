//! The controllers' task, and the revision that they have processed.

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// The controllers' task, and the revision up to which they have processed all changes.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    task: Mutex<Option<JoinHandle<()>>>,
    reached: watch::Sender<u64>,
}

impl Progress {
    /// Starts the task if it is not running: at the first request, and again in another runtime.
    pub(crate) fn ensure(&self, start: impl FnOnce() -> JoinHandle<()>) {
        let mut task = self.task.lock();
        if task.as_ref().is_none_or(JoinHandle::is_finished) {
            *task = Some(start());
        }
    }

    /// Records that everything up to this revision is done, or waits for a retry.
    pub(crate) fn reached(&self, revision: u64) {
        self.reached.send_replace(revision);
    }

    /// Waits until the controllers have processed this revision.
    pub(crate) async fn wait(&self, revision: u64) {
        // `self` owns the sender, so it cannot be gone.
        let mut reached = self.reached.subscribe();
        let _sender_is_here = reached.wait_for(|reached| *reached >= revision).await;
    }
}
