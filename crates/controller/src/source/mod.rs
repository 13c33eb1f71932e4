//! Where requests come from: changes of objects, tickers, channels.

mod event;
mod owner;
pub mod predicate;
mod watch;

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use tokio::sync::mpsc;
use tokio::time::{Instant, interval_at};

pub use self::event::Event;
pub use self::owner::owners;
pub use self::watch::Watch;
use crate::queue::Queue;
use crate::request::Request;

/// Queue of a controller, as sources see it.
pub type Requests = Arc<Queue<Request>>;

/// Fills the queue of a controller.
pub trait Source: Send + 'static {
    /// Its description for the log.
    fn describe(&self) -> String;

    /// Begins to fill the queue; called once, when the controller starts.
    fn start(self: Box<Self>, queue: &Requests) -> Started;
}

/// A started source.
pub struct Started {
    /// Ready when everything that existed at the start is in the queue.
    pub synced: BoxFuture<'static, ()>,
    /// Continues to fill the queue; dropped when the controller stops.
    pub run: BoxFuture<'static, ()>,
}

impl std::fmt::Debug for Started {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Started").finish_non_exhaustive()
    }
}

/// Enqueues a request at the start and, with a period, again and again.
#[derive(Clone, Debug)]
pub struct Ticker {
    request: Request,
    period: Option<Duration>,
}

impl Ticker {
    /// Enqueues the request once, at the start.
    #[must_use]
    pub fn once(request: Request) -> Self {
        Self { request, period: None }
    }

    /// Enqueues the request at the start and after each period.
    #[must_use]
    pub fn every(period: Duration, request: Request) -> Self {
        Self { request, period: Some(period) }
    }
}

impl Source for Ticker {
    fn describe(&self) -> String {
        match self.period {
            None => "once".to_owned(),
            Some(period) => format!("every {period:?}"),
        }
    }

    fn start(self: Box<Self>, queue: &Requests) -> Started {
        queue.add(self.request.clone());
        let queue = queue.clone();
        let run = async move {
            let Some(period) = self.period else { return };
            let mut ticks = interval_at(Instant::now() + period, period);
            loop {
                ticks.tick().await;
                queue.add(self.request.clone());
            }
        };
        Started { synced: std::future::ready(()).boxed(), run: run.boxed() }
    }
}

/// Enqueues the requests that arrive on a channel.
impl Source for mpsc::UnboundedReceiver<Request> {
    fn describe(&self) -> String {
        "channel".to_owned()
    }

    fn start(mut self: Box<Self>, queue: &Requests) -> Started {
        let queue = queue.clone();
        let run = async move {
            while let Some(request) = self.recv().await {
                queue.add(request);
            }
        };
        Started { synced: std::future::ready(()).boxed(), run: run.boxed() }
    }
}
