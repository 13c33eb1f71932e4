//! Forwards all requests to an upstream server; only faults and the request log stay here.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use futures::StreamExt;
use http::header::{ACCEPT, ACCEPT_ENCODING};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Request, Response};
use http_body_util::{BodyExt, BodyStream, StreamBody};
use tokio_util::task::TaskTracker;

use crate::access::attributes::{Attributes, RequestInfo};
use crate::call::Verb;
use crate::faults::Faults;
use crate::http::forwarding::{request_headers, response_headers};
use crate::http::reply::{Body, Reply, full};
use crate::http::status::Status;

/// A server to which requests are forwarded, with its own credentials.
pub trait Upstream: Send + Sync {
    /// Sends a request, whose path is the original one; the error says why there is no response.
    fn send(&self, request: Request<Bytes>) -> Answer;
}

/// The response of an upstream server.
pub type Answer = Pin<Box<dyn Future<Output = Result<Response<Body>, String>> + Send>>;

/// The upstream server, and the writes in progress.
pub(crate) struct UpstreamProxy {
    upstream: Arc<dyn Upstream>,
    writes: TaskTracker,
}

impl UpstreamProxy {
    pub(crate) fn to(upstream: Arc<dyn Upstream>) -> Self {
        Self { upstream, writes: TaskTracker::new() }
    }

    /// A new proxy to the same server.
    pub(crate) fn fork(&self) -> Self {
        Self::to(Arc::clone(&self.upstream))
    }

    /// Completes a write even if its client is gone, because the upstream server may have received it. Returns nothing
    /// if a fault suppresses the answer.
    pub(crate) async fn finish_write(
        &self,
        answer: impl Future<Output = Option<Reply>> + Send + 'static,
    ) -> Option<Reply> {
        let reply = self.writes.spawn(answer).await;
        reply.unwrap_or_else(|error| Some(Status::internal(&error.to_string()).into()))
    }

    /// Waits until no write is in progress.
    pub(crate) async fn wait_until_idle(&self) {
        self.writes.close();
        self.writes.wait().await;
        self.writes.reopen();
    }

    /// Forwards a request; a fault may end a running watch.
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

/// The headers to forward. The log parses responses, so they must be neither compressed nor protobuf.
fn upstream_headers(sent: &HeaderMap) -> HeaderMap {
    let mut headers = request_headers(sent);
    headers.remove(ACCEPT_ENCODING);
    let is_protobuf = |value: &HeaderValue| value.to_str().is_ok_and(|text| text.contains("protobuf"));
    if headers.get(ACCEPT).is_some_and(is_protobuf) {
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    }
    headers
}

/// Reads the response to a create request, and the object's name in it.
async fn with_object_name(body: Body) -> (Body, Option<String>) {
    let Ok(bytes) = body.collect().await.map(http_body_util::Collected::to_bytes);
    let object = formats::json::document(&bytes).unwrap_or_default();
    let name = object["metadata"]["name"].as_str().map(str::to_owned);
    (full(bytes), name)
}
