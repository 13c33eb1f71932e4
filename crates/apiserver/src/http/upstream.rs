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
use crate::http::forwarding::{request_headers, response_headers};
use crate::http::reply::{Body, Reply, full};
use crate::http::status::Status;

/// A server that requests are forwarded to, as whoever holds its credentials.
pub trait Upstream: Send + Sync {
    /// Answers a request, of which the path is the one that came in; without an answer, says why.
    fn send(&self, request: Request<Bytes>) -> Answer;
}

/// What an upstream answers.
pub type Answer = Pin<Box<dyn Future<Output = Result<Response<Body>, String>> + Send>>;

/// The way to another server, and the writes that are on it.
pub(crate) struct UpstreamProxy {
    upstream: Arc<dyn Upstream>,
    writes: TaskTracker,
}

impl UpstreamProxy {
    pub(crate) fn to(upstream: Arc<dyn Upstream>) -> Self {
        Self { upstream, writes: TaskTracker::new() }
    }

    /// Another door to the same server.
    pub(crate) fn fork(&self) -> Self {
        Self::to(Arc::clone(&self.upstream))
    }

    /// Answers a write to the end, also when nobody waits for it any more: the other server may have heard it. None where
    /// a fault leaves it without an answer.
    pub(crate) async fn finish_write(
        &self,
        answer: impl Future<Output = Option<Reply>> + Send + 'static,
    ) -> Option<Reply> {
        let reply = self.writes.spawn(answer).await;
        reply.unwrap_or_else(|error| Some(Status::internal(&error.to_string()).into()))
    }

    /// Waits until no write is under way.
    pub(crate) async fn wait_until_idle(&self) {
        self.writes.close();
        self.writes.wait().await;
        self.writes.reopen();
    }

    /// Hands a request on; a running watch ends where a fault says so.
    pub(crate) async fn forward(
        &self,
        faults: &Faults,
        (parts, request): (&Parts, &Attributes),
        body: Bytes,
    ) -> Reply {
        let mut ends = faults.watch_ends();
        let mut forwarded = Request::new(body);
        *forwarded.method_mut() = parts.method.clone();
        *forwarded.uri_mut() = parts.uri.clone();
        *forwarded.headers_mut() = upstream_headers(&parts.headers);
        let (answer, body) = match self.upstream.send(forwarded).await {
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
            Some(Verb::Create) => with_object_name(body).await,
            _ => (body, None),
        };
        let code = answer.status.as_u16();
        Reply { body, name, headers: response_headers(&answer.headers), ..Reply::json(code, Bytes::new()) }
    }
}

/// What is said to the next one. The log reads answers, and nobody here reads compressed or protobuf ones.
fn upstream_headers(sent: &HeaderMap) -> HeaderMap {
    let mut headers = request_headers(sent);
    headers.remove(ACCEPT_ENCODING);
    let is_protobuf = |value: &HeaderValue| value.to_str().is_ok_and(|text| text.contains("protobuf"));
    if headers.get(ACCEPT).is_some_and(is_protobuf) {
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    }
    headers
}

/// The answer to a creation and the name that it tells.
async fn with_object_name(body: Body) -> (Body, Option<String>) {
    let Ok(bytes) = body.collect().await.map(http_body_util::Collected::to_bytes);
    let object: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let name = object["metadata"]["name"].as_str().map(str::to_owned);
    (full(bytes), name)
}
