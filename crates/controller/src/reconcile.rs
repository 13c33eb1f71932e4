//! What a controller does with a request.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;

use crate::request::Request;

/// What follows a reconciliation that went well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing, until something changes.
    Done,
    /// Another one, when the rate limiter allows it.
    Requeue,
    /// Another one after this time; zero is [`Outcome::Done`].
    RequeueAfter(Duration),
}

/// Brings the world nearer to what an object says. It may be asked for any object at any time, also for one that is gone.
pub trait Reconcile: Send + Sync + 'static {
    /// Why it did not go well; it is logged with its causes, and the request is tried again later.
    type Error: Error + Send + Sync + 'static;

    /// Looks at the object as it is now and acts. Implement it as `async fn`.
    ///
    /// Never called twice at once for the same request by one controller.
    fn reconcile(&self, request: Request) -> impl Future<Output = Result<Outcome, Self::Error>> + Send;
}

impl<R: Reconcile> Reconcile for Arc<R> {
    type Error = R::Error;

    async fn reconcile(&self, request: Request) -> Result<Outcome, Self::Error> {
        R::reconcile(self, request).await
    }
}

/// Why a request is to be tried again, for the log.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    Error(String),
    Panic(String),
    Timeout(Duration),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error(words) => f.write_str(words),
            Self::Panic(words) => write!(f, "panic: {words} [recovered]"),
            Self::Timeout(limit) => write!(f, "reconciliation did not end within {limit:?}"),
        }
    }
}

/// A reconciler whose kind is forgotten.
pub(crate) type Erased = Box<dyn Fn(Request) -> BoxFuture<'static, Result<Outcome, Failure>> + Send + Sync>;

pub(crate) fn erase<R: Reconcile>(reconciler: R) -> Erased {
    let reconciler = Arc::new(reconciler);
    Box::new(move |request| {
        let reconciler = reconciler.clone();
        async move { reconciler.reconcile(request).await.map_err(|error| Failure::Error(words(&error))) }
            .boxed()
    })
}

/// An error with all its causes; one that repeats its cause says it once.
fn words(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let words = error.to_string();
        if !text.contains(&words) {
            text = format!("{text}: {words}");
        }
        cause = error.source();
    }
    text
}
