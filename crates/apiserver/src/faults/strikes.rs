//! When a fault struck.

use tokio::sync::watch;
use tokio::time::Instant;

/// The times at which a fault struck, oldest first. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct StrikeTimes(watch::Sender<Vec<Instant>>);

impl StrikeTimes {
    /// Adds a strike now.
    pub(super) fn add(&self) {
        self.0.send_modify(|times| times.push(Instant::now()));
    }

    pub(super) fn count(&self) -> u64 {
        count(&self.0.borrow())
    }

    pub(super) fn first(&self) -> Option<Instant> {
        self.0.borrow().first().copied()
    }

    /// Waits until there are this many.
    pub(super) async fn until(&self, wanted: u64) {
        let mut times = self.0.subscribe();
        // `self` owns the sender, so it cannot be gone.
        let _sender_is_here = times.wait_for(|times| count(times) >= wanted).await;
    }
}

fn count(times: &[Instant]) -> u64 {
    u64::try_from(times.len()).unwrap_or(u64::MAX)
}
