//! Watches that end before their time.

use tokio::sync::watch;

use super::matching::Matching;
use crate::access::attributes::Attributes;

/// How a watch ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchEnd {
    /// The answer ends, as when the server goes.
    Closed,
    /// An error event says that the revision is too old (410): the client must list again.
    Expired,
}

/// The watches that were ended at one moment.
#[derive(Clone, Debug)]
pub(super) struct WatchEnding {
    pub(super) matching: Matching,
    pub(super) end: WatchEnd,
}

/// What a running watch hears of ends.
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

    /// Waits until the watch of this request ends. Nothing is lost when it is dropped and called again.
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
                // Without faults there is nobody left who could end it.
                None if self.ended.changed().await.is_err() => std::future::pending().await,
                None => {}
            }
        }
    }
}
