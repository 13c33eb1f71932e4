//! Reconcilers: what a controller does with a request, and what several of them share.

pub mod finalizer;
pub mod health;
pub mod merge_patch;
pub mod parallel;
pub mod references;

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use kube::core::Status;

use crate::request::Request;

/// What follows a successful reconciliation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing, until something changes.
    Done,
    /// Another reconciliation when the rate limiter allows it.
    Requeue,
    /// Another reconciliation after this time; zero is [`Outcome::Done`].
    RequeueAfter(Duration),
}

/// Moves the cluster towards the state that an object describes. Requests may name any object, including deleted
/// ones.
pub trait Reconcile: Send + Sync + 'static {
    /// Why the reconciliation failed; logged with its causes. The request is retried later.
    type Error: Error + Send + Sync + 'static;

    /// Reads the current state and acts. Implement it as `async fn`.
    ///
    /// A controller never runs it twice at once for the same request.
    fn reconcile(&self, request: Request) -> impl Future<Output = Result<Outcome, Self::Error>> + Send;
}

impl<R: Reconcile> Reconcile for Arc<R> {
    type Error = R::Error;

    async fn reconcile(&self, request: Request) -> Result<Outcome, Self::Error> {
        R::reconcile(self, request).await
    }
}

/// Why a request is retried, for the log.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ReconcileFailure {
    Error(String),
    Panic(String),
    Timeout(Duration),
}

impl fmt::Display for ReconcileFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error(message) => f.write_str(message),
            Self::Panic(message) => write!(f, "panic: {message} [recovered]"),
            Self::Timeout(limit) => write!(f, "reconciliation did not end within {limit:?}"),
        }
    }
}

/// A reconciler of any type.
pub(crate) type Erased =
    Box<dyn Fn(Request) -> BoxFuture<'static, Result<Outcome, ReconcileFailure>> + Send + Sync>;

pub(crate) fn erase<R: Reconcile>(reconciler: R) -> Erased {
    let reconciler = Arc::new(reconciler);
    Box::new(move |request| {
        let reconciler = reconciler.clone();
        async move {
            reconciler
                .reconcile(request)
                .await
                .map_err(|error| ReconcileFailure::Error(describe_error(&error)))
        }
        .boxed()
    })
}

/// An error with all its causes; a repeated text appears once, and the answer of an API server replaces kube's
/// description.
#[must_use]
pub fn describe_error(error: &(dyn Error + 'static)) -> String {
    let mut text = message(error);
    let mut last = error;
    while let Some(cause) = last.source().filter(|_| api_status(last).is_none()) {
        let (shown, inner) = (cause.to_string(), message(cause));
        if text.contains(&shown) {
            text = text.replace(&shown, &inner);
        } else if !text.contains(&inner) {
            text = format!("{text}: {inner}");
        }
        last = cause;
    }
    text
}

fn message(error: &(dyn Error + 'static)) -> String {
    api_status(error).map_or_else(|| error.to_string(), |status| status.message.clone())
}

/// The answer of an API server, if that is the error.
fn api_status<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a Status> {
    let boxed = || error.downcast_ref::<Box<kube::Error>>().map(|boxed| &**boxed);
    match error.downcast_ref().or_else(boxed)? {
        kube::Error::Api(status) if !status.message.is_empty() => Some(status),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    enum Outer {
        #[error("failed to add finalizer")]
        Silent(#[source] kube::Error),
        #[error("failed to ask: {0}")]
        Repeating(#[source] kube::Error),
    }

    fn refused() -> kube::Error {
        kube::Error::Api(Box::new(Status::failure("secrets \"a\" is forbidden", "Forbidden")))
    }

    #[test]
    fn an_api_server_is_quoted_and_nothing_is_repeated() {
        let own = "secrets \"a\" is forbidden";
        assert_eq!(describe_error(&refused()), own);
        assert_eq!(describe_error(&Outer::Silent(refused())), format!("failed to add finalizer: {own}"));
        let repeating = Outer::Repeating(refused());
        assert_eq!(describe_error(&repeating), format!("failed to ask: {own}"));
        let listing = kube::runtime::watcher::Error::InitialListFailed(refused());
        assert_eq!(describe_error(&listing), format!("failed to perform initial object list: {own}"));
    }
}
