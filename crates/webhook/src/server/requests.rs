//! Tracks the open requests of a connection, and how long there have been none.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::{Body, Frame, SizeHint};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// The requests of one connection.
#[derive(Clone, Copy, Debug, Default)]
struct RequestCounts {
    open: usize,
    /// Whether there has been a request.
    any: bool,
}

/// Tracks the requests of a connection.
#[derive(Clone, Debug)]
pub(super) struct RequestTracker(watch::Sender<RequestCounts>);

/// A request without a complete response; dropping it marks the request as answered.
#[derive(Debug)]
pub(super) struct OpenRequest(watch::Sender<RequestCounts>);

/// An optional body that keeps its request open until it is dropped.
#[derive(Debug)]
pub(super) struct TrackedBody<B> {
    pub(super) body: Option<B>,
    pub(super) _open: OpenRequest,
}

impl<B: Body + Unpin> Body for TrackedBody<B> {
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

impl RequestTracker {
    pub(super) fn new() -> Self {
        Self(watch::Sender::new(RequestCounts::default()))
    }

    /// Opens a request, until the returned value is dropped.
    pub(super) fn open(&self) -> OpenRequest {
        self.0.send_modify(|counts| *counts = RequestCounts { open: counts.open + 1, any: true });
        OpenRequest(self.0.clone())
    }

    /// Resolves when there was no request until `first`, or no open request for `idle`.
    pub(super) async fn wait_until_idle(&self, first: Instant, idle: Duration) {
        self.wait_for_deadline(|counts| match counts {
            RequestCounts { any: false, .. } => Some(first),
            RequestCounts { open: 0, .. } => Some(Instant::now() + idle),
            RequestCounts { .. } => None,
        })
        .await;
    }

    /// Resolves when there was no open request for `moment`.
    pub(super) async fn wait_until_answered(&self, moment: Duration) {
        self.wait_for_deadline(|counts| (counts.open == 0).then(|| Instant::now() + moment)).await;
    }

    /// Waits until the deadline that `until` computes from the counts; any change of the counts computes it anew.
    async fn wait_for_deadline(&self, until: impl Fn(RequestCounts) -> Option<Instant>) {
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

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.0.send_modify(|counts| counts.open -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn idle_time_begins_with_the_last_answer() {
        let (requests, begun) = (RequestTracker::new(), Instant::now());
        requests.wait_until_idle(begun + 10 * SECOND, 90 * SECOND).await;
        assert_eq!(begun.elapsed(), 10 * SECOND);
        let open = requests.open();
        let idle = requests.wait_until_idle(begun, 90 * SECOND);
        let late = async {
            tokio::time::sleep(200 * SECOND).await;
            drop(open);
        };
        tokio::join!(idle, late);
        assert_eq!(begun.elapsed(), 300 * SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn an_open_request_keeps_the_connection() {
        let (requests, begun) = (RequestTracker::new(), Instant::now());
        let open = [requests.open(), requests.open()];
        let late = async {
            tokio::time::sleep(3 * SECOND).await;
            drop(open);
        };
        tokio::join!(requests.wait_until_answered(SECOND), late);
        assert_eq!(begun.elapsed(), 4 * SECOND);
    }
}
