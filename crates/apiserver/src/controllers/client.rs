//! The client of the controllers: each request passes through the whole server, as the controller's user.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, USER_AGENT};
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use serde_json::Value;

use crate::call::User;
use crate::http::reply::Body;
use crate::registry::ServedResource;

/// Sends a request to the server; absent if the server is gone.
pub(crate) type SendRequest = Arc<
    dyn Fn(Request<Full<Bytes>>) -> Pin<Box<dyn Future<Output = Option<Response<Body>>> + Send>>
        + Send
        + Sync,
>;

/// The timeout of a request.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Sends the requests of controllers.
#[derive(Clone)]
pub(crate) struct Client(SendRequest);

/// Reason why a request failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(super) enum RequestError {
    /// The server is gone or does not respond.
    #[error("no answer")]
    NoAnswer,
    /// The server refused the request.
    #[error("{message}")]
    Refused {
        /// HTTP status.
        code: u16,
        /// The server's message.
        message: String,
    },
}

impl RequestError {
    /// Whether a retry is useless: the object has changed or is gone.
    pub(super) fn is_outdated(&self) -> bool {
        matches!(self, Self::Refused { code: 404 | 409, .. })
    }
}

impl Client {
    pub(crate) fn new(send: SendRequest) -> Self {
        Self(send)
    }

    /// Creates an object.
    pub(super) async fn create(
        &self,
        controller: &str,
        path: &str,
        object: &Value,
    ) -> Result<Value, RequestError> {
        self.send(controller, "POST", path, "application/json", object).await
    }

    /// Replaces an object.
    pub(super) async fn update(
        &self,
        controller: &str,
        path: &str,
        object: &Value,
    ) -> Result<Value, RequestError> {
        self.send(controller, "PUT", path, "application/json", object).await
    }

    /// Patches an object with a merge patch.
    pub(super) async fn patch(
        &self,
        controller: &str,
        path: &str,
        change: &Value,
    ) -> Result<Value, RequestError> {
        self.send(controller, "PATCH", path, "application/merge-patch+json", change).await
    }

    /// Deletes an object or a collection.
    pub(super) async fn delete(
        &self,
        controller: &str,
        path: &str,
        options: &Value,
    ) -> Result<Value, RequestError> {
        self.send(controller, "DELETE", path, "application/json", options).await
    }

    async fn send(
        &self,
        controller: &str,
        method: &str,
        path: &str,
        content_type: &str,
        body: &Value,
    ) -> Result<Value, RequestError> {
        let groups = ["system:serviceaccounts", "system:serviceaccounts:kube-system"];
        let user = User::of_groups(&format!("system:serviceaccount:kube-system:{controller}"), &groups);
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(CONTENT_TYPE, content_type)
            .header(USER_AGENT, "kube-controller-manager")
            .extension(user)
            .body(Full::new(Bytes::from(body.to_string())));
        let request = request.map_err(|_| RequestError::NoAnswer)?;
        let answer = tokio::time::timeout(TIMEOUT, (self.0)(request)).await.ok().flatten();
        let answer = answer.ok_or(RequestError::NoAnswer)?;
        let code = answer.status().as_u16();
        // The body's error type has no value.
        let bytes = answer.into_body().collect().await.map_err(|_| RequestError::NoAnswer)?.to_bytes();
        let value = formats::json::document(&bytes).unwrap_or_default();
        if code < 300 {
            return Ok(value);
        }
        let message = value.get("message").and_then(Value::as_str);
        let message = message.map_or_else(|| String::from_utf8_lossy(&bytes).into_owned(), str::to_owned);
        Err(RequestError::Refused { code, message })
    }
}

/// The path of an object; with an empty name, of its collection.
pub(super) fn path(target: &ServedResource, namespace: &str, name: &str) -> String {
    let storage = &target.storage;
    let root = if storage.group.is_empty() { "/api".to_owned() } else { format!("/apis/{}", storage.group) };
    let scope = if storage.namespaced { format!("/namespaces/{namespace}") } else { String::new() };
    let name = if name.is_empty() { String::new() } else { format!("/{}", escape(name)) };
    format!("{root}/{}{scope}/{}{name}", storage.version, storage.plural)
}

/// Escapes a name for a path: names of roles may contain other characters than labels.
fn escape(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b':');
    name.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}
