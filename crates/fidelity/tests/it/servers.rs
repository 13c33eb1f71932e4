//! Embedded servers, correct ones and ones with a planted bug.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use apiserver::{ApiServer, Authorization, Controllers};
use async_trait::async_trait;
use bytes::Bytes;
use fidelity::play::Servers;
use fidelity::server::Server;
use fidelity::webhook::{WebhookReply, WebhookServer};
use http::{Method, Request, Response};
use http_body_util::{BodyExt as _, Full, StreamBody};
use kube::client::Body;
use schema::Crd;
use serde_json::Value;
use tower::ServiceExt as _;
use webhook::dial::{Connection, DialError, Dialer, Dialers, HttpAnswer};
use webhook::registration::ClientConfig;

/// A planted bug.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Bug {
    /// Replacements lose their revision, so they never conflict.
    LostConflict,
    /// The second event of a watch comes before the first.
    WrongWatchOrder,
    /// Answers contain Secrets without their default type.
    MissingDefault,
}

/// A correct server.
pub(crate) fn sound(seed: u64) -> Server {
    Server::new(kube::Client::new(server(seed), "default"))
}

/// A server with a bug.
pub(crate) fn faulty(bug: Bug) -> Server {
    let server = server(9);
    let service = tower::service_fn(move |request: Request<Body>| {
        let server = server.clone();
        async move {
            let watches = request.uri().query().is_some_and(|query| query.contains("watch="));
            let request =
                if matches!(bug, Bug::LostConflict) { without_revision(request).await } else { request };
            let Ok(answer) = server.oneshot(request).await;
            Ok::<_, Infallible>(match bug {
                Bug::WrongWatchOrder if watches && answer.status() == 200 => swapped(answer),
                Bug::MissingDefault if !watches => without_type(answer).await,
                _ => answer.map(boxed),
            })
        }
    });
    Server::new(kube::Client::new(service, "default"))
}

/// The servers of a comparison.
pub(crate) fn servers(real: Server, embedded: Server) -> Servers {
    Servers {
        real,
        embedded,
        webhooks: WebhookServer { url: "https://hooks.test".to_owned(), ..WebhookServer::default() },
    }
}

/// Answers as the URL of a webhook demands, in process.
struct Hooks;

impl Dialers for Hooks {
    fn dialer(&self, _: &ClientConfig, _: Connection<'_>) -> Result<Arc<dyn Dialer>, DialError> {
        Ok(Arc::new(Self))
    }
}

#[async_trait]
impl Dialer for Hooks {
    async fn post(&self, path: &str, body: Bytes, _: Duration) -> Result<HttpAnswer, DialError> {
        let reply = WebhookReply::of(path, &body);
        let unread =
            || DialError::Exchange { url: path.to_owned(), source_text: "no reply in the path".to_owned() };
        let reply = reply.ok_or_else(unread)?;
        Ok(HttpAnswer { media: None, status: reply.code, body: reply.text.into() })
    }
}

fn server(seed: u64) -> ApiServer {
    let own = fidelity::kinds::definitions().iter().map(|crd| Crd::from_value(crd.clone()).unwrap());
    ApiServer::builder()
        .crds(schema::crds().iter().cloned().chain(own))
        .dialers(Arc::new(Hooks))
        .epoch("2026-06-01T00:00:00Z".parse().unwrap())
        .controllers(Controllers::none())
        .authorization(Authorization::Rbac)
        .seed(seed)
        .build()
}

type Answered = http_body_util::combinators::UnsyncBoxBody<Bytes, Infallible>;

fn boxed(body: apiserver::Body) -> Answered {
    body.boxed_unsync()
}

async fn without_revision(request: Request<Body>) -> Request<Body> {
    if request.method() != Method::PUT {
        return request;
    }
    let (parts, body) = request.into_parts();
    let bytes = body.collect().await.unwrap().to_bytes();
    let Ok(mut object) = serde_json::from_slice::<Value>(&bytes) else {
        return Request::from_parts(parts, Body::from(bytes.to_vec()));
    };
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("resourceVersion");
    }
    Request::from_parts(parts, Body::from(object.to_string().into_bytes()))
}

/// How long the first event waits for the second one.
const SOON: Duration = Duration::from_millis(20);

/// The state of a stream whose first two events are swapped.
enum Swap {
    /// No frame was read.
    Pending,
    /// The first frame, which is held back.
    HeldBack(Result<http_body::Frame<Bytes>, Infallible>),
    /// Both frames were sent.
    Done,
}

/// Swaps the first two frames of an answer.
fn swapped(answer: Response<apiserver::Body>) -> Response<Answered> {
    answer.map(|body| {
        let frames = futures::stream::unfold((body, Swap::Pending), |(mut body, swap)| async move {
            let frame = match swap {
                Swap::HeldBack(frame) => return Some((frame, (body, Swap::Done))),
                Swap::Pending | Swap::Done => body.frame().await?,
            };
            match swap {
                Swap::Pending => {
                    // A single frame is not held back.
                    match tokio::time::timeout(SOON, body.frame()).await {
                        Ok(Some(second)) => Some((second, (body, Swap::HeldBack(frame)))),
                        Ok(None) | Err(_) => Some((frame, (body, Swap::Done))),
                    }
                }
                _ => Some((frame, (body, Swap::Done))),
            }
        });
        StreamBody::new(frames).boxed_unsync()
    })
}

async fn without_type(answer: Response<apiserver::Body>) -> Response<Answered> {
    let (parts, body) = answer.into_parts();
    let Ok(bytes) = body.collect().await.map(http_body_util::Collected::to_bytes);
    let bytes = match serde_json::from_slice::<Value>(&bytes) {
        Ok(mut object) if object["kind"] == "Secret" && object["type"] == "Opaque" => {
            object.as_object_mut().unwrap().remove("type");
            Bytes::from(object.to_string())
        }
        _ => bytes,
    };
    Response::from_parts(parts, Full::new(bytes).boxed_unsync())
}
