//! Sends requests to an API server and reads answers and watch streams.

use std::time::Duration;

use http::{Request, header};
use http_body_util::BodyExt as _;
use kube::client::Body;
use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinHandle;

pub use crate::memory::FilledRequest;

/// The user agent, which becomes the field manager of writes.
const AGENT: &str = "fidelity/1";
/// How long an answer may take; kube-apiserver itself ends requests after a minute.
const PATIENCE: Duration = Duration::from_secs(75);

/// A server may not read a larger body completely.
const LARGE: usize = 1 << 20;

/// An API server behind a client.
#[derive(Clone)]
pub struct Server {
    client: kube::Client,
}

/// An answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServerAnswer {
    /// HTTP status; 0 if the server closed the connection instead.
    pub code: u16,
    /// Its media type, without parameters.
    pub media: String,
    /// Texts of the `Warning` headers.
    pub warnings: Vec<String>,
    /// The body; a text if it is not JSON, null for a watch.
    pub body: Value,
}

/// The stream of a watch; dropping it ends the watch.
pub struct Stream {
    reader: JoinHandle<()>,
    items: UnboundedReceiver<StreamItem>,
    end: StreamEnd,
    /// The events that were taken so far.
    pub events: Vec<Value>,
}

/// What the reader of a watch sends.
enum StreamItem {
    Event(Value),
    End(StreamEnd),
}

/// How a watch ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamEnd {
    /// It has not ended.
    Open,
    /// The server ended it.
    Closed,
    /// The connection failed.
    Failed,
}

/// Why a request has no answer.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The request is not valid HTTP.
    #[error("failed to build the request {method} {uri}: {source}")]
    Build {
        /// HTTP method.
        method: String,
        /// Path and query.
        uri: String,
        /// The reason.
        source: http::Error,
    },
    /// The request could not be sent.
    #[error("failed to send {method} {uri}: {source}")]
    Send {
        /// HTTP method.
        method: String,
        /// Path and query.
        uri: String,
        /// The client's reason.
        source: Box<kube::Error>,
    },
    /// The answer could not be read.
    #[error("failed to read the answer to {method} {uri}: {source}")]
    Read {
        /// HTTP method.
        method: String,
        /// Path and query.
        uri: String,
        /// The client's reason.
        source: Box<kube::Error>,
    },
    /// The namespace of a sequence was not created.
    #[error("failed to create a namespace: {code} {message}")]
    Namespace {
        /// HTTP status.
        code: u16,
        /// The server's message.
        message: String,
    },
    /// The server did not answer in time.
    #[error("no answer to {method} {uri} within {} s", PATIENCE.as_secs())]
    Timeout {
        /// HTTP method.
        method: String,
        /// Path and query.
        uri: String,
    },
}

impl ServerAnswer {
    /// Whether the server refused the request.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        self.code >= 400 || self.code == 0
    }

    /// The reason of a refusal; empty if there is none.
    #[must_use]
    pub fn reason(&self) -> &str {
        if self.is_refusal() { self.body["reason"].as_str().unwrap_or_default() } else { "" }
    }
}

impl Server {
    /// The server of a client.
    #[must_use]
    pub fn new(client: kube::Client) -> Self {
        Self { client }
    }

    /// Sends a request; for a watch also returns its stream.
    ///
    /// # Errors
    /// If the server does not answer, or not in time; a refusal is an answer.
    pub async fn send(&self, filled: &FilledRequest) -> Result<(ServerAnswer, Option<Stream>), ServerError> {
        let answer = tokio::time::timeout(PATIENCE, self.answer(filled)).await;
        answer.unwrap_or_else(|_| {
            Err(ServerError::Timeout { method: filled.method.clone(), uri: filled.uri.clone() })
        })
    }

    async fn answer(&self, filled: &FilledRequest) -> Result<(ServerAnswer, Option<Stream>), ServerError> {
        let method_and_uri = || (filled.method.clone(), filled.uri.clone());
        let build = |source| {
            let (method, uri) = method_and_uri();
            ServerError::Build { method, uri, source }
        };
        let mut response = self.client.send(request(filled).map_err(build)?).await;
        // Repeat a read: the server may have closed the connection because it was idle.
        if filled.method == "GET" && response.as_ref().is_err_and(is_closed) {
            response = self.client.send(request(filled).map_err(build)?).await;
        }
        let response = match response {
            Err(source) if is_closed(&source) => {
                return Ok((ServerAnswer { body: "no answer".into(), ..ServerAnswer::default() }, None));
            }
            other => other.map_err(|source| {
                let (method, uri) = method_and_uri();
                ServerError::Send { method, uri, source: Box::new(source) }
            })?,
        };
        let (parts, body) = response.into_parts();
        let mut answer = ServerAnswer {
            code: parts.status.as_u16(),
            media: media(&parts.headers),
            warnings: warnings(&parts.headers),
            body: Value::Null,
        };
        if filled.is_watch && answer.code == 200 {
            return Ok((answer, Some(Stream::of(body))));
        }
        let bytes = body.collect().await.map_err(|source| {
            let (method, uri) = method_and_uri();
            ServerError::Read { method, uri, source: Box::new(source) }
        })?;
        let bytes = bytes.to_bytes();
        answer.body = value(&bytes);
        Ok((answer, None))
    }
}

impl Stream {
    fn of(mut body: Body) -> Self {
        let (sender, items) = unbounded_channel();
        let reader = tokio::spawn(async move {
            let send = |line: &[u8]| sender.send(StreamItem::Event(value(line)));
            let mut rest: Vec<u8> = Vec::new();
            let end = loop {
                let data = match body.frame().await {
                    None => break StreamEnd::Closed,
                    Some(Err(_)) => break StreamEnd::Failed,
                    Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
                };
                rest.extend_from_slice(&data);
                while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                    let line: Vec<u8> = rest.drain(..=end).collect();
                    if send(&line).is_err() {
                        return;
                    }
                }
            };
            // Errors mean that the stream was dropped.
            let _dropped = if rest.is_empty() { Ok(()) } else { send(&rest) };
            let _dropped = sender.send(StreamItem::End(end));
        });
        Self { reader, items, end: StreamEnd::Open, events: Vec::new() }
    }

    /// Takes the events that have arrived.
    pub fn take(&mut self) {
        while let Ok(item) = self.items.try_recv() {
            match item {
                StreamItem::Event(event) => self.events.push(event),
                StreamItem::End(end) => self.end = end,
            }
        }
    }

    /// How the watch ended, as far as taken.
    #[must_use]
    pub fn end(&self) -> StreamEnd {
        self.end
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

/// A body or an event, as deep as the servers read it; a text if it is not JSON.
fn value(bytes: &[u8]) -> Value {
    let text = |_| Value::String(String::from_utf8_lossy(bytes).into_owned());
    formats::json::exact(bytes).unwrap_or_else(text)
}

/// Whether the server closed the connection instead of answering.
fn is_closed(error: &kube::Error) -> bool {
    let first: &dyn std::error::Error = error;
    std::iter::successors(Some(first), |error| error.source())
        .any(|error| error.to_string().contains("connection closed before message completed"))
}

fn request(filled: &FilledRequest) -> Result<Request<Body>, http::Error> {
    let mut request = Request::builder()
        .method(filled.method.as_str())
        .uri(&filled.uri)
        .header(header::ACCEPT, &filled.accept)
        .header(header::USER_AGENT, AGENT);
    if let Some(media) = &filled.media {
        request = request.header(header::CONTENT_TYPE, media);
    }
    if filled.body.len() > LARGE {
        // A server that does not read the whole body closes the connection, so no other request may use it.
        request = request.header(header::CONNECTION, "close");
    }
    if let Some(user) = &filled.user {
        request = request.header("Impersonate-User", user);
    }
    request.body(Body::from(filled.body.clone()))
}

fn media(headers: &header::HeaderMap) -> String {
    let text = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    text.split(';').next().unwrap_or_default().trim().to_owned()
}

fn warnings(headers: &header::HeaderMap) -> Vec<String> {
    let texts = headers.get_all(header::WARNING).iter().filter_map(|value| value.to_str().ok());
    texts.map(formats::warning::text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_bodies_are_values_whose_revisions_are_masked() {
        let nested = "[".repeat(300) + &"]".repeat(300);
        let body = |revision: &str| {
            let text = format!(r#"{{"metadata":{{"resourceVersion":"{revision}"}},"spec":{nested}}}"#);
            let answer = ServerAnswer { body: value(text.as_bytes()), ..ServerAnswer::default() };
            crate::normalize::Normalizer::default().answer(&answer).body
        };
        assert_eq!(body("1315"), body("1088"));
        assert_eq!(value(b"not JSON"), "not JSON");
    }
}
