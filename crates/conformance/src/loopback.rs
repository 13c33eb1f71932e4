//! TLS endpoints of this process.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::Incoming;
use serde_json::json;
use substrate::identity::Identity;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use webhook::registration::ClientConfig;
use webhook::server::{self, CertificateError, Certificates, Patience, TlsError, TlsOptions};

/// Creates a certificate for the loopback addresses and a host.
pub(crate) fn certificate(host: &str) -> Result<Identity, rcgen::Error> {
    create_certificate(&[host.to_owned()])
}

fn create_certificate(further: &[String]) -> Result<Identity, rcgen::Error> {
    let own = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec();
    let further = further.iter().filter(|name| !name.is_empty() && !own.contains(name)).cloned();
    let names: Vec<String> = own.iter().cloned().chain(further).collect();
    Identity::made("target", names)
}

/// Why an endpoint cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// No certificate could be created.
    #[error("failed to create a certificate: {0}")]
    Make(#[from] rcgen::Error),
    /// The certificate cannot be used.
    #[error("failed to serve over TLS: {0}")]
    Certificate(#[from] CertificateError),
    /// The TLS library refuses the certificate.
    #[error("failed to serve over TLS: {0}")]
    Tls(#[from] TlsError),
    /// The address is in use, or does not belong to this machine.
    #[error("failed to listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: std::io::Error,
    },
}

/// An open port that serves requests. Dropping it closes it.
pub(crate) struct TlsEndpoint {
    /// The address on which it listens.
    pub(crate) address: SocketAddr,
    /// `https://HOST:PORT`, as clients reach it.
    base: String,
    /// PEM of its authority, in base64.
    bundle: String,
    serving: JoinHandle<()>,
}

impl TlsEndpoint {
    /// Serves on an address, with a certificate for loopback and the optional host at which clients reach it.
    pub(crate) async fn open<S>(
        address: SocketAddr,
        host: Option<&str>,
        service: S,
    ) -> Result<Self, ServeError>
    where
        S: tower::Service<Request<Incoming>, Response = Response<Full<Bytes>>, Error = Infallible>
            + Clone
            + Send
            + Sync
            + 'static,
        S::Future: Send,
    {
        let made = create_certificate(&host.map(str::to_owned).into_iter().collect::<Vec<_>>())?;
        let certificates = Certificates::from_pem(made.certificate.as_bytes(), made.key.as_bytes())?;
        let tls = server::config(Arc::new(certificates), TlsOptions::default())?;
        let listen = |source| ServeError::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let base = match host {
            Some(host) if host.contains(':') => format!("https://[{host}]:{}", address.port()),
            Some(host) => format!("https://{host}:{}", address.port()),
            None => format!("https://{address}"),
        };
        let never = std::future::pending();
        let serving = tokio::spawn(server::serve(listener, Some(tls), service, Patience::default(), never));
        Ok(Self { address, base, bundle: STANDARD.encode(made.authority), serving })
    }

    /// The client configuration of a registration for a path.
    pub(crate) fn client_config(&self, path: &str) -> ClientConfig {
        let url = Some(format!("{}{path}", self.base));
        ClientConfig { url, service: None, ca_bundle: Some(self.bundle.clone()) }
    }
}

impl Drop for TlsEndpoint {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// The answer that allows a review.
pub(crate) fn allowed(body: &[u8]) -> Bytes {
    let review = formats::json::document(body).unwrap_or_default();
    let answer = json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "response": {"uid": review["request"]["uid"], "allowed": true},
    });
    answer.to_string().into()
}

/// A JSON response.
pub(crate) fn reply(status: StatusCode, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    let json = header::HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}
