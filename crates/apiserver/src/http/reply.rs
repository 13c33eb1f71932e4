//! Replies of the server.

use std::convert::Infallible;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER, WARNING};
use http::{HeaderMap, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};

use crate::http::notes::Notes;
use crate::http::status::Status;

/// The body of a response; a watch streams its events.
pub type Body = UnsyncBoxBody<Bytes, Infallible>;

/// A reply before it is converted to HTTP.
pub(crate) struct Reply {
    /// HTTP status.
    pub(crate) code: u16,
    /// The body.
    pub(crate) body: Body,
    /// The media type.
    pub(crate) content_type: &'static str,
    /// Warnings and audit annotations.
    pub(crate) notes: Notes,
    /// The name of the created object, for the request log.
    pub(crate) name: Option<String>,
    /// Whether it is not sent.
    pub(crate) withheld: bool,
    /// Whether the path is not served.
    pub(crate) unknown: bool,
    /// The value of `Retry-After`, in seconds.
    pub(crate) retry_after: Option<u64>,
    /// Further headers; they replace those of the same name.
    pub(crate) headers: HeaderMap,
}

impl Reply {
    /// A JSON reply.
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

    /// A plain text reply.
    pub(crate) fn text(code: u16, body: impl Into<Bytes>) -> Self {
        Self { content_type: "text/plain; charset=utf-8", ..Self::json(code, body.into()) }
    }

    /// The reply for an unknown path.
    pub(crate) fn unknown_path() -> Self {
        Self { unknown: true, ..Self::text(404, "404 page not found\n") }
    }

    /// Converts the reply to HTTP.
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

/// A body of these bytes.
pub(crate) fn full(bytes: Bytes) -> Body {
    Full::new(bytes).boxed_unsync()
}
