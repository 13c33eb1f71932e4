//! Ends of watches by faults.

use tokio::sync::watch;

use super::matching::Matching;
use crate::access::attributes::Attributes;

/// How a watch ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchEnd {
    /// The response ends, as when the server stops.
    Closed,
    /// An error event with code 410 says that the revision is too old: the client must list again.
    Expired,
}

/// A request to end matching watches.
#[derive(Clone, Debug)]
pub(super) struct WatchEnding {
    pub(super) matching: Matching,
    pub(super) end: WatchEnd,
}

/// A running watch's subscription to ends.
#[derive(Debug)]
pub(crate) struct WatchEnds {
    seen: usize,
    ended: watch::Receiver<Vec<WatchEnding>>,
}

impl WatchEnds {
    pub(super) fn from_now(ended: &watch::Sender<Vec<WatchEnding>>) -> Self {
        let ended = ended.subscribe();
        let seen = ended.borrow().len();
        Self { seen, ended }
    }

    /// Waits until a fault ends the watch of this request. Cancel-safe.
    pub(crate) async fn wait(&mut self, request: &Attributes) -> WatchEnd {
        loop {
            let new = {
                let ended = self.ended.borrow_and_update();
                let new = ended.iter().skip(self.seen).find(|ended| ended.matching.matches(request));
                let found = new.map(|ended| ended.end);
                self.seen = ended.len();
                found
            };
            match new {
                Some(end) => return end,
                // Without the faults no end can come any more.
                None if self.ended.changed().await.is_err() => std::future::pending().await,
                None => {}
            }
        }
    }
}
