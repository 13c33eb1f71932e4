//! One API server that is asked: requests as they are, answers as they come, watches until they are ended.

use std::time::Duration;

use http::{Request, header};
use http_body_util::BodyExt as _;
use kube::client::Body;
use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinHandle;

pub use crate::memory::Filled;

/// How requests call themselves, which becomes the manager of what they write.
const AGENT: &str = "fidelity/1";
/// How long an answer may take; kube-apiserver ends what it is asked itself after a minute.
const PATIENCE: Duration = Duration::from_secs(75);

/// What is larger may not be read by a server.
const LARGE: usize = 1 << 20;

/// An API server behind a client.
#[derive(Clone)]
pub struct Server {
    client: kube::Client,
}

/// An answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// HTTP status; 0 where the server ended the connection instead.
    pub code: u16,
    /// Its media type, without parameters.
    pub media: String,
    /// Texts of the `Warning` headers.
    pub warnings: Vec<String>,
    /// What it says; a text where it is no JSON, null while it goes on.
    pub body: Value,
}

/// A watch that goes on; dropping it ends it.
pub struct Stream {
    reader: JoinHandle<()>,
    coming: UnboundedReceiver<Came>,
    end: End,
    /// What has come.
    pub events: Vec<Value>,
}

/// What comes of a watch.
enum Came {
    Event(Value),
    End(End),
}

/// How a watch came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It goes on.
    None,
    /// The server ended it.
    Whole,
    /// It broke off.
    Broken,
}

/// Why a server was not asked.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// It is none that can be sent.
    #[error("failed to make a request of {method} {uri}: {source}")]
    Make {
        /// HTTP method.
        method: String,
        /// Path and query.
        uri: String,
        /// What is wrong.
        source: http::Error,
    },
    /// The server did not answer.
    #[error("failed to {method} {uri}: {source}")]
    Send {
        /// HTTP method.
        method: String,
        /// Path and query.
        uri: String,
        /// The client's reason.
        source: Box<kube::Error>,
    },
    /// The answer broke off.
    #[error("failed to read the answer to {method} {uri}: {source}")]
    Read {
        /// HTTP method.
        method: String,
        /// Path and query.
        uri: String,
        /// The client's reason.
        source: Box<kube::Error>,
    },
    /// The namespace of a sequence was not made.
    #[error("failed to make a namespace: {code} {said}")]
    Namespace {
        /// HTTP status.
        code: u16,
        /// What the server says of it.
        said: String,
    },
    /// The server did not answer in time.
    #[error("{method} {uri} was not answered within {} seconds", PATIENCE.as_secs())]
    Silent {
        /// HTTP method.
        method: String,
        /// Path and query.
        uri: String,
    },
}

impl Answer {
    /// Whether the server did not do what it was asked.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        self.code >= 400 || self.code == 0
    }

    /// The reason of a refusal; empty where it gives none.
    #[must_use]
    pub fn reason(&self) -> &str {
        if self.is_refusal() { self.body["reason"].as_str().unwrap_or_default() } else { "" }
    }
}

impl Server {
    /// The server behind a client.
    #[must_use]
    pub fn new(client: kube::Client) -> Self {
        Self { client }
    }

    /// Asks; a watch that is granted goes on beside the answer.
    ///
    /// # Errors
    /// When the server does not answer, or not in time; a refusal is an answer.
    pub async fn ask(&self, filled: &Filled) -> Result<(Answer, Option<Stream>), ServerError> {
        let answer = tokio::time::timeout(PATIENCE, self.answer(filled)).await;
        answer.unwrap_or_else(|_| {
            Err(ServerError::Silent { method: filled.method.clone(), uri: filled.uri.clone() })
        })
    }

    async fn answer(&self, filled: &Filled) -> Result<(Answer, Option<Stream>), ServerError> {
        let named = || (filled.method.clone(), filled.uri.clone());
        let make = |source| {
            let (method, uri) = named();
            ServerError::Make { method, uri, source }
        };
        let mut response = self.client.send(request(filled).map_err(make)?).await;
        // What is only read is asked once more: the connection may have ended because it had nothing to do.
        if filled.method == "GET" && response.as_ref().is_err_and(is_closed) {
            response = self.client.send(request(filled).map_err(make)?).await;
        }
        let response = match response {
            Err(source) if is_closed(&source) => {
                return Ok((Answer { body: "no answer".into(), ..Answer::default() }, None));
            }
            other => other.map_err(|source| {
                let (method, uri) = named();
                ServerError::Send { method, uri, source: Box::new(source) }
            })?,
        };
        let (parts, body) = response.into_parts();
        let mut answer = Answer {
            code: parts.status.as_u16(),
            media: media(&parts.headers),
            warnings: warnings(&parts.headers),
            body: Value::Null,
        };
        if filled.is_watch && answer.code == 200 {
            return Ok((answer, Some(Stream::of(body))));
        }
        let bytes = body.collect().await.map_err(|source| {
            let (method, uri) = named();
            ServerError::Read { method, uri, source: Box::new(source) }
        })?;
        let bytes = bytes.to_bytes();
        answer.body = serde_json::from_slice(&bytes)
            .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&bytes).into_owned()));
        Ok((answer, None))
    }
}

impl Stream {
    fn of(mut body: Body) -> Self {
        let (send, coming) = unbounded_channel();
        let reader = tokio::spawn(async move {
            let tell = |line: &[u8]| {
                let text = || Value::String(String::from_utf8_lossy(line).into_owned());
                send.send(Came::Event(serde_json::from_slice(line).unwrap_or_else(|_| text())))
            };
            let mut rest: Vec<u8> = Vec::new();
            let end = loop {
                let data = match body.frame().await {
                    None => break End::Whole,
                    Some(Err(_)) => break End::Broken,
                    Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
                };
                rest.extend_from_slice(&data);
                while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                    let line: Vec<u8> = rest.drain(..=end).collect();
                    if tell(&line).is_err() {
                        return;
                    }
                }
            };
            // Whoever does not listen any more need not know.
            let _unheard = if rest.is_empty() { Ok(()) } else { tell(&rest) };
            let _unheard = send.send(Came::End(end));
        });
        Self { reader, coming, end: End::None, events: Vec::new() }
    }

    /// Takes what has come.
    pub fn take(&mut self) {
        while let Ok(came) = self.coming.try_recv() {
            match came {
                Came::Event(event) => self.events.push(event),
                Came::End(end) => self.end = end,
            }
        }
    }

    /// How it came to its end, as far as was taken.
    #[must_use]
    pub fn end(&self) -> End {
        self.end
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

/// Whether a server ended the connection instead of answering.
fn is_closed(error: &kube::Error) -> bool {
    let first: &dyn std::error::Error = error;
    std::iter::successors(Some(first), |error| error.source())
        .any(|error| error.to_string().contains("connection closed before message completed"))
}

fn request(filled: &Filled) -> Result<Request<Body>, http::Error> {
    let mut request = Request::builder()
        .method(filled.method.as_str())
        .uri(&filled.uri)
        .header(header::ACCEPT, &filled.accept)
        .header(header::USER_AGENT, AGENT);
    if let Some(media) = &filled.media {
        request = request.header(header::CONTENT_TYPE, media);
    }
    if filled.body.len() > LARGE {
        // A server that does not read it all ends the connection, which nothing else shall be sent on then.
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
