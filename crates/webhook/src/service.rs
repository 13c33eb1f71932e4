//! Webhooks with their paths as one tower service, with limits on size and time.

use std::any::Any;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use formats::duration::GoDuration;
use formats::exposition::Family;
use futures::FutureExt as _;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited};
use tokio::sync::{Notify, Semaphore};
use tokio::time::Instant;

use crate::answer::{Answer, Envelope, encode};
use crate::metrics::{PathCounts, families};
use crate::review::{AdmissionRequest, Review};

/// A webhook: decides about a request, independent of HTTP.
#[async_trait]
pub trait Webhook: Send + Sync {
    /// Answers a request; the service answers 500 if this panics.
    async fn answer(&self, request: &AdmissionRequest<'_>) -> Answer;
}

/// A webhook and its path.
#[derive(Clone)]
pub struct Route {
    /// Name of the webhook, as in its contract.
    pub name: &'static str,
    /// Path, such as `/webhooks/seccomp-profile`; matched exactly.
    pub path: String,
    /// The webhook.
    pub webhook: Arc<dyn Webhook>,
}

impl fmt::Debug for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Route").field("name", &self.name).field("path", &self.path).finish_non_exhaustive()
    }
}

/// Limits of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of bytes of a body. kube-apiserver accepts objects of 3 MiB, and an update has two of them.
    pub body: usize,
    /// Maximum time of a request; a shorter `?timeout=` of the caller has precedence.
    pub timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { body: 7 * 1024 * 1024, timeout: Duration::from_secs(30) }
    }
}

/// Serves routes; cloning is cheap.
#[derive(Clone, Debug)]
pub struct WebhookService {
    routes: Arc<BTreeMap<String, Arc<ServedRoute>>>,
    limits: Limits,
    large: LargeReviews,
}

/// Reviews of at least this many bytes are decided on another thread, so that they do not block the thread that answers
/// other requests and probes.
const LARGE: usize = 64 * 1024;

/// Decides large reviews on blocking threads, at most as many at a time as there are cores.
#[derive(Clone, Debug)]
struct LargeReviews(Arc<Semaphore>);

impl LargeReviews {
    fn new() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self(Arc::new(Semaphore::new(cores)))
    }

    /// Runs `decision` to its end; `None` if a thread panicked. While `decision` waits, it occupies no thread, because
    /// tokio's paused clock does not advance as long as a blocking thread runs. If the caller stops waiting, the thread runs
    /// until `decision` waits the next time.
    async fn run<T: Send + 'static>(&self, decision: impl Future<Output = T> + Send + 'static) -> Option<T> {
        let mut decision = Box::pin(decision);
        let signal = Arc::new(WakeSignal(Notify::new()));
        loop {
            let permit = Arc::clone(&self.0).acquire_owned().await.ok()?;
            let waker = Waker::from(Arc::clone(&signal));
            let thread = tokio::task::spawn_blocking(move || {
                let polled = decision.as_mut().poll(&mut Context::from_waker(&waker));
                drop(permit);
                (decision, polled)
            });
            match thread.await.ok()? {
                (_, Poll::Ready(answer)) => return Some(answer),
                (waiting, Poll::Pending) => decision = waiting,
            }
            signal.0.notified().await;
        }
    }
}

/// Signals that a waiting review can continue.
struct WakeSignal(Notify);

impl Wake for WakeSignal {
    fn wake(self: Arc<Self>) {
        self.0.notify_one();
    }
}

/// A route and its counts.
#[derive(Debug)]
struct ServedRoute {
    route: Route,
    counts: PathCounts,
}

/// A service for these routes; the last of several routes with the same path counts.
#[must_use]
pub fn service(routes: Vec<Route>, limits: Limits) -> WebhookService {
    let served = |route| Arc::new(ServedRoute { route, counts: PathCounts::default() });
    let routes = routes.into_iter().map(|route| (route.path.clone(), served(route))).collect();
    WebhookService { routes: Arc::new(routes), limits, large: LargeReviews::new() }
}

impl WebhookService {
    /// The routes, ordered by path.
    pub fn routes(&self) -> impl Iterator<Item = &Route> {
        self.routes.values().map(|served| &served.route)
    }

    /// The metrics so far, with the names of controller-runtime.
    #[must_use]
    pub fn metrics(&self) -> Vec<Family> {
        families(self.routes.iter().map(|(path, served)| (path.as_str(), &served.counts)))
    }
}

impl<B> tower::Service<Request<B>> for WebhookService
where
    B: hyper::body::Body<Data = Bytes> + Send + 'static,
    B::Error: std::error::Error + Send + Sync + 'static,
{
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (limits, large) = (self.limits, self.large.clone());
        let served = self.routes.get(request.uri().path()).cloned();
        Box::pin(async move {
            let Some(served) = served else { return Ok(not_found()) };
            let _in_flight = served.counts.begin();
            Ok(respond(&served, limits, &large, request).await)
        })
    }
}

async fn respond<B>(
    served: &Arc<ServedRoute>,
    limits: Limits,
    large: &LargeReviews,
    request: Request<B>,
) -> Response<Full<Bytes>>
where
    B: hyper::body::Body<Data = Bytes>,
    B::Error: std::error::Error + Send + Sync + 'static,
{
    let timeout = requested_timeout(request.uri().query())
        .map_or(limits.timeout, |requested| requested.min(limits.timeout));
    let deadline = Instant::now() + timeout;
    let content_type = content_type(&request);
    let unread = |answer: Answer| encode(Envelope::default(), &answer);
    let read = tokio::time::timeout_at(deadline, read(request.into_body(), limits.body));
    json(match read.await {
        Err(_) => unread(Answer::errored(400, &format!("no whole request within {timeout:?}"))),
        Ok(Err(answer)) => unread(answer),
        Ok(Ok(_)) if content_type != "application/json" => {
            let message = format!("contentType={content_type}, expected application/json");
            unread(Answer::errored(400, &message))
        }
        Ok(Ok(body)) if body.len() < LARGE => decide(&served.route, timeout, deadline, &body).await,
        Ok(Ok(body)) => {
            let served = Arc::clone(served);
            let decision = async move { decide(&served.route, timeout, deadline, &body).await };
            match tokio::time::timeout_at(deadline, large.run(decision)).await {
                Ok(Some(answer)) => answer,
                Ok(None) => unread(Answer::errored(500, "the review could not be judged")),
                Err(_) => unread(Answer::errored(500, &format!("no decision within {timeout:?}"))),
            }
        }
    })
}

/// Reads a review, calls the webhook and writes its answer.
async fn decide(route: &Route, timeout: Duration, deadline: Instant, body: &[u8]) -> Vec<u8> {
    let review = match Review::read(body) {
        Ok(review) => review,
        Err(error) => {
            tracing::error!(webhook = route.name, %error, "unable to decode the request");
            return encode(Envelope::default(), &Answer::errored(400, &error.to_string()));
        }
    };
    let Some(request) = &review.request else {
        return encode(review.envelope(), &Answer::errored(400, "there is no content to decode"));
    };
    let decision = AssertUnwindSafe(route.webhook.answer(request)).catch_unwind();
    let answer = match tokio::time::timeout_at(deadline, decision).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(panic)) => {
            let message = panic_message(panic.as_ref());
            tracing::error!(webhook = route.name, panic = message, "webhook panicked");
            Answer::errored(500, &format!("panic: {message} [recovered]"))
        }
        Err(_) => {
            tracing::error!(webhook = route.name, ?timeout, "webhook gave no answer in time");
            Answer::errored(500, &format!("no decision within {timeout:?}"))
        }
    };
    encode(review.envelope(), &answer)
}

async fn read<B>(body: B, limit: usize) -> Result<Bytes, Answer>
where
    B: hyper::body::Body<Data = Bytes>,
    B::Error: std::error::Error + Send + Sync + 'static,
{
    match Limited::new(body, limit).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<http_body_util::LengthLimitError>() => {
            Err(Answer::errored(413, &format!("request entity is too large; limit is {limit} bytes")))
        }
        Err(error) => {
            Err(Answer::errored(400, &format!("failed to read the body of the request: {}", root(&*error))))
        }
    }
}

/// The message of the first cause, which is about the request; the others are about where it was noticed.
fn root(error: &(dyn std::error::Error + 'static)) -> String {
    std::iter::successors(Some(error), |error| error.source())
        .last()
        .map(ToString::to_string)
        .unwrap_or_default()
}

fn content_type<B>(request: &Request<B>) -> String {
    let header = request.headers().get(http::header::CONTENT_TYPE).map(http::HeaderValue::as_bytes);
    String::from_utf8_lossy(header.unwrap_or_default()).into_owned()
}

/// The `timeout` of a query such as `timeout=10s`; values that are not a positive duration are ignored.
fn requested_timeout(query: Option<&str>) -> Option<Duration> {
    let value = query?.split('&').find_map(|pair| pair.strip_prefix("timeout="))?;
    GoDuration::parse(value).ok()?.to_std().filter(|timeout| !timeout.is_zero())
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no words")
}

fn json(body: Vec<u8>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    response
        .headers_mut()
        .insert(http::header::CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
    response
}

fn not_found() -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from_static(b"404 page not found\n")));
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
        .headers_mut()
        .insert(http::header::CONTENT_TYPE, http::HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}
