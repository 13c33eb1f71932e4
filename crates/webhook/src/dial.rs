//! How a webhook is reached: in process for our own components, over TLS for all others.

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

/// What came back over HTTP; whether it is an AdmissionReview is the caller's question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpAnswer {
    /// HTTP status.
    pub status: u16,
    /// Body as sent.
    pub body: Bytes,
}

/// Why no HTTP answer came.
#[derive(Clone, Debug, thiserror::Error)]
pub enum DialError {
    /// Nothing listens there.
    #[error("failed to connect to {url}: {source_text}")]
    Connect {
        /// The address asked.
        url: String,
        /// The operating system's words.
        source_text: String,
    },
    /// The certificate is not trusted.
    #[error("failed to trust the certificate of {url}: {source_text}")]
    Tls {
        /// The address asked.
        url: String,
        /// The TLS library's words.
        source_text: String,
    },
    /// No answer in time.
    #[error("no answer from {url} within {timeout:?}")]
    Timeout {
        /// The address asked.
        url: String,
        /// The time given.
        timeout: Duration,
    },
    /// The connection broke in the middle of an exchange.
    #[error("failed to exchange with {url}: {source_text}")]
    Exchange {
        /// The address asked.
        url: String,
        /// The HTTP library's words.
        source_text: String,
    },
    /// Whoever is behind it is asked otherwise than by reviews, and this one cannot be asked so.
    #[error("the question cannot be put: {reason}")]
    NotPut {
        /// Why.
        reason: String,
    },
}

/// An answer that comes piece by piece, as a watch does.
pub type Streamed = http::Response<UnsyncBoxBody<Bytes, Box<dyn std::error::Error + Send + Sync>>>;

/// What an API server knows of a way beside the client configuration.
#[derive(Clone, Copy, Debug, Default)]
pub struct Connection<'a> {
    /// `host:port` that it found behind a Service; the name in the certificate is that of the Service nevertheless.
    pub endpoint: Option<&'a str>,
    /// Whether any certificate will do.
    pub insecure: bool,
    /// What it shows whoever asks for a certificate.
    pub certificate: Option<&'a ClientCertificate>,
}

/// A client certificate.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClientCertificate {
    /// The certificate, and those between it and its authority: PEM.
    pub certificate_pem: String,
    /// Its private key: PEM.
    pub key_pem: String,
}

/// Sends a review to a path of one target.
#[async_trait]
pub trait Dialer: Send + Sync {
    /// Posts `body` as `application/json` to `path` (`/webhooks/…`, query included) and waits at most `timeout`.
    ///
    /// # Errors
    /// When no HTTP answer came.
    async fn post(&self, path: &str, body: Bytes, timeout: Duration) -> Result<HttpAnswer, DialError>;

    /// Passes any request on, as it is, and gives the answer as it comes. Its URI is a path; a way that carries reviews
    /// alone refuses.
    ///
    /// # Errors
    /// When no answer began.
    async fn pass(&self, request: http::Request<Bytes>) -> Result<Streamed, DialError> {
        let url = request.uri().path().to_owned();
        Err(DialError::Exchange { url, source_text: "reviews alone are carried this way".to_owned() })
    }
}

/// Finds the way to a registered webhook; what the embedded API server is given.
pub trait Dialers: Send + Sync {
    /// The dialer for a client configuration; [`ClientConfig::address`] has the path to post to.
    ///
    /// # Errors
    /// When the address cannot be resolved or its authorities cannot be read.
    fn dialer(
        &self,
        to: &ClientConfig,
        over: Connection<'_>,
    ) -> Result<std::sync::Arc<dyn Dialer>, DialError>;
}

impl std::fmt::Debug for ClientCertificate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientCertificate")
            .field("certificate_pem", &self.certificate_pem)
            .finish_non_exhaustive()
    }
}
