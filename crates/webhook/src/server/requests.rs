//! How many requests of a connection are open, and how long it has had none.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::{Body, Frame, SizeHint};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// The requests of one connection.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    open: usize,
    /// Whether there was any.
    any: bool,
}

/// Counts requests.
#[derive(Clone, Debug)]
pub(super) struct Requests(watch::Sender<Counts>);

/// A request that is not answered yet.
#[derive(Debug)]
pub(super) struct Open(watch::Sender<Counts>);

/// A body, or none, that keeps its request open until it is gone.
#[derive(Debug)]
pub(super) struct Held<B> {
    pub(super) body: Option<B>,
    pub(super) _open: Open,
}

impl<B: Body + Unpin> Body for Held<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        match &mut self.body {
            Some(body) => Pin::new(body).poll_frame(context),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}

impl Requests {
    pub(super) fn new() -> Self {
        Self(watch::Sender::new(Counts::default()))
    }

    /// A request has come; it is open until what is returned goes.
    pub(super) fn open(&self) -> Open {
        self.0.send_modify(|counts| *counts = Counts { open: counts.open + 1, any: true });
        Open(self.0.clone())
    }

    /// Resolves when no request came until `first`, or none was open for `idle`.
    pub(super) async fn silent(&self, first: Instant, idle: Duration) {
        self.quiet(|counts| match counts {
            Counts { any: false, .. } => Some(first),
            Counts { open: 0, .. } => Some(Instant::now() + idle),
            Counts { .. } => None,
        })
        .await;
    }

    /// Resolves when no request was open for `moment`.
    pub(super) async fn answered(&self, moment: Duration) {
        self.quiet(|counts| (counts.open == 0).then(|| Instant::now() + moment)).await;
    }

    /// Waits until the time that counts lead to has come without a change.
    async fn quiet(&self, until: impl Fn(Counts) -> Option<Instant>) {
        let mut counts = self.0.subscribe();
        loop {
            let until = until(*counts.borrow_and_update());
            let late = async {
                match until {
                    Some(until) => sleep_until(until).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                // The sender lives as long as `self`.
                _changed = counts.changed() => {}
                () = late => return,
            }
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.send_modify(|counts| counts.open -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn silence_is_counted_from_the_last_answer() {
        let (requests, begun) = (Requests::new(), Instant::now());
        requests.silent(begun + 10 * SECOND, 90 * SECOND).await;
        assert_eq!(begun.elapsed(), 10 * SECOND);
        let open = requests.open();
        let silent = requests.silent(begun, 90 * SECOND);
        let late = async {
            tokio::time::sleep(200 * SECOND).await;
            drop(open);
        };
        tokio::join!(silent, late);
        assert_eq!(begun.elapsed(), 300 * SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn an_open_request_holds_the_connection() {
        let (requests, begun) = (Requests::new(), Instant::now());
        let open = [requests.open(), requests.open()];
        let late = async {
            tokio::time::sleep(3 * SECOND).await;
            drop(open);
        };
        tokio::join!(requests.answered(SECOND), late);
        assert_eq!(begun.elapsed(), 4 * SECOND);
    }
}
