//! Calls webhooks in this process, without socket and TLS, so that tests can use virtual time.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::{Method, Request, Uri, header};
use http_body_util::{BodyExt as _, Full};
use tower::ServiceExt as _;

use super::{DialError, Dialer, HttpAnswer};
use crate::service::WebhookService;

/// Calls a service directly.
#[derive(Clone, Debug)]
pub struct InProcess {
    service: WebhookService,
}

impl InProcess {
    /// A dialer to `service`.
    #[must_use]
    pub fn new(service: WebhookService) -> Self {
        Self { service }
    }
}

#[async_trait]
impl Dialer for InProcess {
    async fn post(&self, path: &str, body: Bytes, timeout: Duration) -> Result<HttpAnswer, DialError> {
        let broken = |source_text: String| DialError::Exchange { url: path.to_owned(), source_text };
        let uri: Uri = path.parse().map_err(|error: http::uri::InvalidUri| broken(error.to_string()))?;
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = uri;
        let json = header::HeaderValue::from_static("application/json");
        request.headers_mut().insert(header::CONTENT_TYPE, json);
        let exchange = async {
            let Ok(response) = self.service.clone().oneshot(request).await;
            let (status, media) = (response.status().as_u16(), super::media(response.headers()));
            let Ok(body) = response.into_body().collect().await;
            HttpAnswer { status, media, body: body.to_bytes() }
        };
        let late = |_| DialError::Timeout { url: path.to_owned(), timeout };
        tokio::time::timeout(timeout, exchange).await.map_err(late)
    }
}
