//! Another server, for which this one is the door: faults and the request log are kept here, everything else is there.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use futures::StreamExt;
use http::header::{ACCEPT, ACCEPT_ENCODING};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Request, Response};
use http_body_util::{BodyExt, BodyStream, StreamBody};
use serde_json::Value;
use tokio_util::task::TaskTracker;

use crate::access::attributes::{Attributes, RequestInfo};
use crate::call::Verb;
use crate::faults::Faults;
use crate::http::passing::{answered, said_on};
use crate::http::reply::{Body, Reply, full};
use crate::http::status::Status;

/// A server that requests are handed on to, as whoever holds its credentials.
pub trait Upstream: Send + Sync {
    /// Answers a request, of which the path is the one that came in; without an answer, says why.
    fn send(&self, request: Request<Bytes>) -> Answer;
}

/// What an upstream answers.
pub type Answer = Pin<Box<dyn Future<Output = Result<Response<Body>, String>> + Send>>;

/// The way to another server, and the writes that are on it.
pub(crate) struct Door {
    upstream: Arc<dyn Upstream>,
    under_way: TaskTracker,
}

impl Door {
    pub(crate) fn to(upstream: Arc<dyn Upstream>) -> Self {
        Self { upstream, under_way: TaskTracker::new() }
    }

    /// Another door to the same server.
    pub(crate) fn anew(&self) -> Self {
        Self::to(Arc::clone(&self.upstream))
    }

    /// Answers a write to the end, also when nobody waits for it any more: the other server may have heard it. None where
    /// a fault leaves it without an answer.
    pub(crate) async fn through(
        &self,
        answer: impl Future<Output = Option<Reply>> + Send + 'static,
    ) -> Option<Reply> {
        let answered = self.under_way.spawn(answer).await;
        answered.unwrap_or_else(|error| Some(Status::internal(&error.to_string()).into()))
    }

    /// Waits until no write is under way.
    pub(crate) async fn settled(&self) {
        self.under_way.close();
        self.under_way.wait().await;
        self.under_way.reopen();
    }

    /// Hands a request on; a running watch ends where a fault says so.
    pub(crate) async fn hand_on(
        &self,
        faults: &Faults,
        (parts, request): (&Parts, &Attributes),
        body: Bytes,
    ) -> Reply {
        let mut ends = faults.watch_ends();
        let mut handed = Request::new(body);
        *handed.method_mut() = parts.method.clone();
        *handed.uri_mut() = parts.uri.clone();
        *handed.headers_mut() = headers(&parts.headers);
        let (answer, body) = match self.upstream.send(handed).await {
            Ok(answer) => answer.into_parts(),
            Err(reason) => return Status::plain(503, "ServiceUnavailable", reason).into(),
        };
        let verb = match &request.info {
            RequestInfo::Resource { verb, .. } => Some(*verb),
            RequestInfo::NonResource { .. } => None,
        };
        let (body, name) = match verb {
            Some(Verb::Watch) => {
                let request = request.clone();
                let end = async move { ends.wait(&request).await };
                (StreamBody::new(BodyStream::new(body).take_until(Box::pin(end))).boxed_unsync(), None)
            }
            Some(Verb::Create) => named(body).await,
            _ => (body, None),
        };
        let code = answer.status.as_u16();
        Reply { body, name, headers: answered(&answer.headers), ..Reply::json(code, Bytes::new()) }
    }
}

/// What is said to the next one. The log reads answers, and nobody here reads compressed or protobuf ones.
fn headers(said: &HeaderMap) -> HeaderMap {
    let mut headers = said_on(said);
    headers.remove(ACCEPT_ENCODING);
    let is_protobuf = |value: &HeaderValue| value.to_str().is_ok_and(|text| text.contains("protobuf"));
    if headers.get(ACCEPT).is_some_and(is_protobuf) {
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    }
    headers
}

/// The answer to a creation and the name that it tells.
async fn named(body: Body) -> (Body, Option<String>) {
    let Ok(bytes) = body.collect().await.map(http_body_util::Collected::to_bytes);
    let object: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let name = object["metadata"]["name"].as_str().map(str::to_owned);
    (full(bytes), name)
}
