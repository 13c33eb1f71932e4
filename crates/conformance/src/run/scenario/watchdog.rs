//! Ends a scenario that spins: in virtual time no timer fires while somebody is busy.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use tokio::sync::Notify;

use crate::plan::Looked;

/// How long a scenario may take in real time, beside what it waits by its own steps.
const PATIENCE: Duration = Duration::from_mins(2);

/// Barks when real time is over; dropping it calls it off.
pub(super) struct Watchdog {
    bark: Arc<Notify>,
    patience: Duration,
    _off: Sender<()>,
}

impl Watchdog {
    /// Real time that the steps may wait, which is none in virtual time, comes on top.
    pub(super) fn start(waits: Duration) -> Self {
        let patience = PATIENCE.saturating_add(waits);
        let bark = Arc::new(Notify::new());
        let (off, called_off) = channel();
        let notify = Arc::clone(&bark);
        std::thread::spawn(move || {
            if called_off.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
                notify.notify_one();
            }
        });
        Self { bark, patience, _off: off }
    }

    pub(super) async fn barks(&self) {
        self.bark.notified().await;
    }

    pub(super) fn words(&self, looked: Looked<'_>) -> String {
        let seconds = self.patience.as_secs();
        format!("{} did not end within {seconds} s: the target spins, or time stands still", looked.id())
    }
}
