//! Sends reviews to webhooks: in process to the project's components, over TLS to all others.

mod connector;
mod fixed;
mod https;
mod in_process;

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;

use crate::registration::ClientConfig;

pub use crate::trust::Trust;
pub use fixed::{Destination, FixedDialers};
pub use https::{Https, Target, handshake};
pub use in_process::InProcess;

/// An HTTP response. The caller checks whether it is an AdmissionReview.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpAnswer {
    /// HTTP status.
    pub status: u16,
    /// The header `Content-Type`.
    pub media: Option<String>,
    /// Body as sent.
    pub body: Bytes,
}

/// Reason there is no HTTP response.
#[derive(Clone, Debug, thiserror::Error)]
pub enum DialError {
    /// The connection failed.
    #[error("failed to connect to {url}: {source_text}")]
    Connect {
        /// The address.
        url: String,
        /// The operating system's message.
        source_text: String,
    },
    /// The certificate is not trusted.
    #[error("failed to trust the certificate of {url}: {source_text}")]
    Tls {
        /// The address.
        url: String,
        /// The TLS library's message.
        source_text: String,
    },
    /// The response did not arrive in time.
    #[error("no answer from {url} within {timeout:?}")]
    Timeout {
        /// The address.
        url: String,
        /// The time limit.
        timeout: Duration,
    },
    /// The connection broke during the exchange.
    #[error("failed to exchange with {url}: {source_text}")]
    Exchange {
        /// The address.
        url: String,
        /// The HTTP library's message.
        source_text: String,
    },
    /// The target does not receive reviews, and this review cannot be converted to a request that it receives.
    #[error("the review cannot be sent to this target: {reason}")]
    NotPut {
        /// The reason.
        reason: String,
    },
}

/// A response whose body is streamed, such as that of a watch.
pub type Streamed = http::Response<UnsyncBoxBody<Bytes, Box<dyn std::error::Error + Send + Sync>>>;

/// Settings of a connection beyond the client configuration, from the API server.
#[derive(Clone, Copy, Debug, Default)]
pub struct Connection<'a> {
    /// `host:port` of an endpoint of the Service; the certificate still has the name of the Service.
    pub endpoint: Option<&'a str>,
    /// Whether to accept any certificate.
    pub insecure: bool,
    /// The client certificate.
    pub certificate: Option<&'a ClientCertificate>,
}

/// A client certificate.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClientCertificate {
    /// The certificate with its intermediates, in PEM.
    pub certificate_pem: String,
    /// Its private key, in PEM.
    pub key_pem: String,
}

/// Sends reviews to one target.
#[async_trait]
pub trait Dialer: Send + Sync {
    /// Posts `body` as `application/json` to `path` (`/webhooks/…`, query included) and waits at most `timeout`.
    ///
    /// # Errors
    /// If there is no HTTP response.
    async fn post(&self, path: &str, body: Bytes, timeout: Duration) -> Result<HttpAnswer, DialError>;

    /// Forwards a request unchanged and streams the response. The URI of the request is a path. Dialers that only send
    /// reviews return an error.
    ///
    /// # Errors
    /// If there is no response.
    async fn pass(&self, request: http::Request<Bytes>) -> Result<Streamed, DialError> {
        let url = request.uri().path().to_owned();
        Err(DialError::Exchange { url, source_text: "this dialer sends only AdmissionReviews".to_owned() })
    }
}

/// Resolves registered webhooks to dialers; the embedded API server uses it.
pub trait Dialers: Send + Sync {
    /// The dialer for a client configuration; [`ClientConfig::address`] has the path for [`Dialer::post`].
    ///
    /// # Errors
    /// If the address cannot be resolved or its authorities cannot be read.
    fn dialer(
        &self,
        to: &ClientConfig,
        connection: Connection<'_>,
    ) -> Result<std::sync::Arc<dyn Dialer>, DialError>;
}

/// The header `Content-Type`.
fn media(headers: &http::HeaderMap) -> Option<String> {
    headers.get(http::header::CONTENT_TYPE)?.to_str().ok().map(str::to_owned)
}

impl std::fmt::Debug for ClientCertificate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientCertificate")
            .field("certificate_pem", &self.certificate_pem)
            .finish_non_exhaustive()
    }
}
