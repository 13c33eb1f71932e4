//! Ends a scenario that spins: in virtual time no timer fires while somebody is busy.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use tokio::sync::Notify;

use crate::plan::Looked;

/// How long a scenario may take in real time.
const PATIENCE: Duration = Duration::from_mins(2);

/// Barks when real time is over; dropping it calls it off.
pub(super) struct Watchdog {
    bark: Arc<Notify>,
    _off: Sender<()>,
}

impl Watchdog {
    pub(super) fn start() -> Self {
        let bark = Arc::new(Notify::new());
        let (off, called_off) = channel();
        let notify = Arc::clone(&bark);
        std::thread::spawn(move || {
            if called_off.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                notify.notify_one();
            }
        });
        Self { bark, _off: off }
    }

    pub(super) async fn barks(&self) {
        self.bark.notified().await;
    }
}

pub(super) fn words(looked: Looked<'_>) -> String {
    let seconds = PATIENCE.as_secs();
    format!("{} did not end within {seconds} s: the target spins, or time stands still", looked.id())
}
