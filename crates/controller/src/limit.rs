//! Limits the request rate of a client: requests per second and a burst, as client-go counts them.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use http::Request;
use kube::Client;
use kube::client::Body;
use parking_lot::Mutex;
use tokio::time::{Instant, sleep};
use tower::{Layer, Service};

use crate::bucket::TokenBucket;

/// Longer waits are logged.
const LONG: Duration = Duration::from_secs(1);

/// A common limit for all clients it wraps. Watches do not count, as in client-go.
#[derive(Clone, Debug)]
pub struct RequestLimit {
    bucket: Option<Arc<Mutex<TokenBucket>>>,
}

impl RequestLimit {
    /// `qps` requests a second after a burst of `burst`; no limit if `qps` is not positive.
    ///
    /// A burst of 0 counts as 1, because no request could be sent otherwise.
    #[must_use]
    pub fn new(qps: f64, burst: u32) -> Self {
        let bucket = (qps > 0.0).then(|| Arc::new(Mutex::new(TokenBucket::new(qps, burst.max(1)))));
        Self { bucket }
    }

    /// A client that sends its requests through `client`, not faster than the limit.
    #[must_use]
    pub fn wrap_client(&self, client: &Client) -> Client {
        let inner = client.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let client = inner.clone();
            async move { client.send(request).await }
        });
        Client::new(self.layer(service), client.default_namespace())
    }

    /// How long the next request has to wait.
    fn reserve(&self) -> Duration {
        self.bucket.as_ref().map_or(Duration::ZERO, |bucket| bucket.lock().reserve(Instant::now()))
    }
}

impl<S> Layer<S> for RequestLimit {
    type Service = Limited<S>;

    fn layer(&self, inner: S) -> Limited<S> {
        Limited { inner, limit: self.clone() }
    }
}

/// A service that delays its requests.
#[derive(Clone, Debug)]
pub struct Limited<S> {
    inner: S,
    limit: RequestLimit,
}

impl<S, B> Service<Request<B>> for Limited<S>
where
    S: Service<Request<B>, Future: Send + 'static, Response: 'static, Error: 'static>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<S::Response, S::Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let wait = if is_watch(&request) { Duration::ZERO } else { self.limit.reserve() };
        if wait > LONG {
            let (method, url) = (request.method(), request.uri());
            tracing::debug!(%method, %url, ?wait, "Waiting due to client-side throttling");
        }
        // Futures do nothing before they are polled, so the request is sent after the wait.
        let response = self.inner.call(request);
        if wait.is_zero() {
            return response.boxed();
        }
        let turn = Turn { limit: self.limit.clone(), used: false };
        async move {
            sleep(wait).await;
            turn.take();
            response.await
        }
        .boxed()
    }
}

/// The reserved token of a waiting request; dropping it returns the token.
struct Turn {
    limit: RequestLimit,
    used: bool,
}

impl Turn {
    fn take(mut self) {
        self.used = true;
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(bucket) = self.limit.bucket.as_ref().filter(|_| !self.used) {
            bucket.lock().give_back();
        }
    }
}

fn is_watch<B>(request: &Request<B>) -> bool {
    request
        .uri()
        .query()
        .is_some_and(|query| query.split('&').any(|pair| matches!(pair, "watch=true" | "watch=1")))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures::future::join_all;

    use super::*;

    /// Milliseconds at which requests reach the service.
    async fn arrivals(limit: RequestLimit, path: &str, count: usize) -> Vec<u128> {
        let start = Instant::now();
        let service = tower::service_fn(move |_request: Request<()>| async move {
            Ok::<_, Infallible>(start.elapsed().as_millis())
        });
        let mut service = limit.layer(service);
        let requests = (0..count).map(|_| service.call(Request::get(path).body(()).unwrap()));
        let requests: Vec<_> = requests.collect();
        join_all(requests).await.into_iter().map(Result::unwrap).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn requests_beyond_the_burst_come_at_the_rate() {
        let seen = arrivals(RequestLimit::new(10.0, 3), "/api/v1/pods?limit=500", 6).await;
        assert_eq!(seen, [0, 0, 0, 100, 200, 300]);
    }

    #[tokio::test(start_paused = true)]
    async fn watches_do_not_count_and_without_a_rate_nothing_does() {
        let limit = RequestLimit::new(10.0, 1);
        assert_eq!(arrivals(limit.clone(), "/api/v1/pods?watch=true&x=1", 3).await, [0, 0, 0]);
        assert_eq!(arrivals(limit.clone(), "/api/v1/pods", 2).await, [0, 100]);
        // All services under one limit share it.
        assert_eq!(arrivals(limit, "/api/v1/pods", 1).await, [100]);
        assert_eq!(arrivals(RequestLimit::new(-1.0, 0), "/api/v1/pods", 3).await, [0, 0, 0]);
        assert_eq!(arrivals(RequestLimit::new(1.0, 0), "/api/v1/pods", 2).await, [0, 1000]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_dropped_request_returns_its_token() {
        let limit = RequestLimit::new(10.0, 1);
        assert_eq!(arrivals(limit.clone(), "/api/v1/pods", 1).await, [0]);
        let given_up =
            tokio::time::timeout(Duration::from_millis(50), arrivals(limit.clone(), "/api/v1/pods", 5));
        assert!(given_up.await.is_err());
        assert_eq!(arrivals(limit, "/api/v1/pods", 2).await, [50, 150]);
    }
}
