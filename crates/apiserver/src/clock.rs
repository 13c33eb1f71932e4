//! Wall time as the server tells it: an epoch and what tokio's clock says has passed since.

use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

/// The server's clock; it stands still when tokio's clock is paused.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    epoch: Timestamp,
    start: Instant,
}

impl Clock {
    /// A clock that shows `epoch` now.
    pub(crate) fn starting_at(epoch: Timestamp) -> Self {
        Self { epoch, start: Instant::now() }
    }

    /// The time now.
    pub(crate) fn now(&self) -> Timestamp {
        let passed = SignedDuration::try_from(self.start.elapsed()).unwrap_or(SignedDuration::MAX);
        self.epoch.checked_add(passed).unwrap_or(Timestamp::MAX)
    }
}

/// `2026-01-31T10:20:30Z`: how metadata writes a time.
pub(crate) fn rfc3339(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
