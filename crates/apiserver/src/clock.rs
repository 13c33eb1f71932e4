//! Wall time as the server tells it: an epoch and what tokio's clock says has passed since.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;
use tokio::time::Instant;

/// The server's clock; it stands still when tokio's clock is paused. Clones are one clock.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    epoch: Timestamp,
    start: Instant,
    skew: Arc<Mutex<SignedDuration>>,
}

impl Clock {
    /// A clock that shows `epoch` now.
    pub(crate) fn starting_at(epoch: Timestamp) -> Self {
        Self { epoch, start: Instant::now(), skew: Arc::default() }
    }

    /// Another clock that begins at the same epoch, now.
    pub(crate) fn fork(&self) -> Self {
        Self::starting_at(self.epoch)
    }

    /// The time now.
    pub(crate) fn now(&self) -> Timestamp {
        let passed = SignedDuration::try_from(self.start.elapsed()).unwrap_or(SignedDuration::MAX);
        let passed = passed.saturating_add(*self.skew.lock());
        self.epoch.checked_add(passed).unwrap_or(Timestamp::MAX)
    }

    /// Shows from now on a time that is so far ahead of the true one.
    pub(crate) fn skew(&self, ahead: SignedDuration) {
        *self.skew.lock() = ahead;
    }
}

/// `2026-01-31T10:20:30Z`: how metadata writes a time.
pub(crate) fn rfc3339(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
