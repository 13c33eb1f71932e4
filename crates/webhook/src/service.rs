//! Webhooks behind paths as one tower service, with limits on size and time.

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
use crate::metrics::{Counts, families};
use crate::review::{AdmissionRequest, Review};

/// One webhook: judges a request, knows no HTTP.
#[async_trait]
pub trait Webhook: Send + Sync {
    /// What is said to a request; a panic is answered with 500.
    async fn answer(&self, request: &AdmissionRequest<'_>) -> Answer;
}

/// A webhook and where it is served.
#[derive(Clone)]
pub struct Route {
    /// Name of the webhook, as in its contract.
    pub name: &'static str,
    /// Path it answers on, such as `/webhooks/seccomp-profile`; matched exactly.
    pub path: String,
    /// Who answers.
    pub webhook: Arc<dyn Webhook>,
}

impl fmt::Debug for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Route").field("name", &self.name).field("path", &self.path).finish_non_exhaustive()
    }
}

/// What a request may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a request body. kube-apiserver takes objects of 3 MiB, an update carries two of them.
    pub body: usize,
    /// Time for one request; a shorter `?timeout=` of the caller wins.
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
    routes: Arc<BTreeMap<String, Arc<Served>>>,
    limits: Limits,
    large: Large,
}

/// From so many bytes on a review is judged apart from the thread that answers everybody else, probes included.
const LARGE: usize = 64 * 1024;

/// Judges large reviews on threads of their own, as many at a time as there are cores.
#[derive(Clone, Debug)]
struct Large(Arc<Semaphore>);

impl Large {
    fn new() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self(Arc::new(Semaphore::new(cores)))
    }

    /// What comes of `judged`; absent if a thread was lost. While `judged` waits it has no thread: tokio's paused clock
    /// stands as long as there is one. Whoever stops waiting leaves the thread until `judged` waits.
    async fn apart<T: Send + 'static>(&self, judged: impl Future<Output = T> + Send + 'static) -> Option<T> {
        let mut judged = Box::pin(judged);
        let woken = Arc::new(Woken(Notify::new()));
        loop {
            let permit = Arc::clone(&self.0).acquire_owned().await.ok()?;
            let waker = Waker::from(Arc::clone(&woken));
            let thread = tokio::task::spawn_blocking(move || {
                let polled = judged.as_mut().poll(&mut Context::from_waker(&waker));
                drop(permit);
                (judged, polled)
            });
            match thread.await.ok()? {
                (_, Poll::Ready(answer)) => return Some(answer),
                (waiting, Poll::Pending) => judged = waiting,
            }
            woken.0.notified().await;
        }
    }
}

/// Whether a review that waited can go on.
struct Woken(Notify);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.notify_one();
    }
}

/// A route and what was counted of it.
#[derive(Debug)]
struct Served {
    route: Route,
    counts: Counts,
}

/// Puts webhooks behind their paths; of two routes with one path the last is served.
#[must_use]
pub fn service(routes: Vec<Route>, limits: Limits) -> WebhookService {
    let served = |route| Arc::new(Served { route, counts: Counts::default() });
    let routes = routes.into_iter().map(|route| (route.path.clone(), served(route))).collect();
    WebhookService { routes: Arc::new(routes), limits, large: Large::new() }
}

impl WebhookService {
    /// The routes, ordered by path.
    pub fn routes(&self) -> impl Iterator<Item = &Route> {
        self.routes.values().map(|served| &served.route)
    }

    /// What was counted so far, under the names of controller-runtime.
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
    served: &Arc<Served>,
    limits: Limits,
    large: &Large,
    request: Request<B>,
) -> Response<Full<Bytes>>
where
    B: hyper::body::Body<Data = Bytes>,
    B::Error: std::error::Error + Send + Sync + 'static,
{
    let timeout =
        asked_timeout(request.uri().query()).map_or(limits.timeout, |asked| asked.min(limits.timeout));
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
        Ok(Ok(body)) if body.len() < LARGE => judge(&served.route, timeout, deadline, &body).await,
        Ok(Ok(body)) => {
            let served = Arc::clone(served);
            let judged = async move { judge(&served.route, timeout, deadline, &body).await };
            match tokio::time::timeout_at(deadline, large.apart(judged)).await {
                Ok(Some(answer)) => answer,
                Ok(None) => unread(Answer::errored(500, "the review could not be judged")),
                Err(_) => unread(Answer::errored(500, &format!("no decision within {timeout:?}"))),
            }
        }
    })
}

/// Reads the review, asks the webhook and writes what it says.
async fn judge(route: &Route, timeout: Duration, deadline: Instant, body: &[u8]) -> Vec<u8> {
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
            let words = panic_words(panic.as_ref());
            tracing::error!(webhook = route.name, panic = words, "webhook panicked");
            Answer::errored(500, &format!("panic: {words} [recovered]"))
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
        Err(error) => Err(Answer::errored(400, &error.to_string())),
    }
}

fn content_type<B>(request: &Request<B>) -> String {
    let header = request.headers().get(http::header::CONTENT_TYPE).map(http::HeaderValue::as_bytes);
    String::from_utf8_lossy(header.unwrap_or_default()).into_owned()
}

/// `timeout` of a query such as `timeout=10s`; what is no duration above zero is ignored.
fn asked_timeout(query: Option<&str>) -> Option<Duration> {
    let value = query?.split('&').find_map(|pair| pair.strip_prefix("timeout="))?;
    GoDuration::parse(value).ok()?.to_std().filter(|timeout| !timeout.is_zero())
}

fn panic_words(panic: &(dyn Any + Send)) -> &str {
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
