//! The server's wall time: an epoch plus the time that has passed on tokio's clock, or the epoch alone.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;
use tokio::time::Instant;

/// The server's clock; it stops while tokio's clock is paused. Clones share one clock.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    epoch: Timestamp,
    /// When it started; `None`: the clock always shows the epoch.
    start: Option<Instant>,
    skew: Arc<Mutex<SignedDuration>>,
}

impl Clock {
    /// A clock whose current time is `epoch`.
    pub(crate) fn starting_at(epoch: Timestamp) -> Self {
        Self { epoch, start: Some(Instant::now()), skew: Arc::default() }
    }

    /// A clock whose time is always `epoch`.
    pub(crate) fn still_at(epoch: Timestamp) -> Self {
        Self { epoch, start: None, skew: Arc::default() }
    }

    /// A new clock that starts now at the same epoch.
    pub(crate) fn fork(&self) -> Self {
        Self::starting_at(self.epoch)
    }

    /// The current time.
    pub(crate) fn now(&self) -> Timestamp {
        let elapsed = self.start.map(|start| start.elapsed()).unwrap_or_default();
        let passed = SignedDuration::try_from(elapsed).unwrap_or(SignedDuration::MAX);
        let passed = passed.saturating_add(*self.skew.lock());
        self.epoch.checked_add(passed).unwrap_or(Timestamp::MAX)
    }

    /// Sets how far the clock is ahead of the true time.
    pub(crate) fn skew(&self, ahead: SignedDuration) {
        *self.skew.lock() = ahead;
    }
}

/// Formats a time as metadata does: `2026-01-31T10:20:30Z`.
pub(crate) fn rfc3339(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
