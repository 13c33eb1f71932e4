//! Answers, and the body they travel in.

use std::convert::Infallible;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER, WARNING};
use http::{HeaderMap, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};

use crate::http::notes::Notes;
use crate::http::status::Status;

/// The body of an answer; a watch sends its events one by one.
pub type Body = UnsyncBoxBody<Bytes, Infallible>;

/// An answer before it is put into HTTP.
pub(crate) struct Reply {
    /// HTTP status.
    pub(crate) code: u16,
    /// What is sent.
    pub(crate) body: Body,
    /// Its form.
    pub(crate) content_type: &'static str,
    /// What webhooks said.
    pub(crate) notes: Notes,
    /// The name that the server made up, for the request log.
    pub(crate) name: Option<String>,
    /// Whether nobody is told of it.
    pub(crate) withheld: bool,
    /// Whether nothing is served at the path.
    pub(crate) unknown: bool,
    /// After how many seconds to try again.
    pub(crate) retry_after: Option<u64>,
    /// What else is said, in place of what would be said of the form.
    pub(crate) headers: HeaderMap,
}

impl Reply {
    /// A JSON answer.
    pub(crate) fn json(code: u16, body: Bytes) -> Self {
        Self {
            code,
            body: full(body),
            content_type: "application/json",
            notes: Notes::default(),
            name: None,
            withheld: false,
            unknown: false,
            retry_after: None,
            headers: HeaderMap::new(),
        }
    }

    /// A text answer.
    pub(crate) fn text(code: u16, body: impl Into<Bytes>) -> Self {
        Self { content_type: "text/plain; charset=utf-8", ..Self::json(code, body.into()) }
    }

    /// What a path answers that the server does not know.
    pub(crate) fn unknown_path() -> Self {
        Self { unknown: true, ..Self::text(404, "404 page not found\n") }
    }

    /// The answer in HTTP.
    pub(crate) fn into_http(self) -> Response<Body> {
        let mut response = Response::new(self.body);
        *response.status_mut() = StatusCode::from_u16(self.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(RETRY_AFTER, seconds.into());
        }
        for warning in self.notes.headers() {
            if let Ok(value) = HeaderValue::from_bytes(warning.as_bytes()) {
                response.headers_mut().append(WARNING, value);
            }
        }
        for name in self.headers.keys() {
            response.headers_mut().remove(name);
        }
        for (name, value) in &self.headers {
            response.headers_mut().append(name, value.clone());
        }
        response
    }
}

impl From<Status> for Reply {
    fn from(status: Status) -> Self {
        let body = Bytes::from(status.json().to_string());
        let retry_after = status.details.get("retryAfterSeconds").and_then(serde_json::Value::as_u64);
        Self { notes: *status.notes, retry_after, ..Self::json(status.code, body) }
    }
}

/// A body that is there as a whole.
pub(crate) fn full(bytes: Bytes) -> Body {
    Full::new(bytes).boxed_unsync()
}
