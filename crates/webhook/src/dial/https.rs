//! Sends reviews to webhooks over TLS, with a pool of connections.

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::{Method, Request, Response, Uri, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName};

use super::connector::{ConnectError, Connector};
use super::{ClientCertificate, DialError, Dialer, HttpAnswer, Streamed};
use crate::server::provider;
use crate::trust::{Trust, client_config};
use crate::url::Url;

/// Maximum number of bytes of a response to a review.
const RESPONSE_LIMIT: usize = 32 * 1024 * 1024;

/// How many redirects Go's client follows.
const REDIRECTS: usize = 10;

/// Address and trust of a webhook server.
#[derive(Clone, Debug)]
pub struct Target {
    /// `https://host[:port][/prefix]`; paths are appended.
    pub url: String,
    /// `host:port` to connect to instead of the URL's, such as an endpoint of a Service.
    pub address: Option<String>,
    /// Name in its certificate, if not the URL's host.
    pub server_name: Option<String>,
    /// Which certificates are trusted.
    pub trust: Trust,
}

/// Posts to one webhook server.
#[derive(Clone, Debug)]
pub struct Https {
    base: String,
    trust: Trust,
    client: Client<Connector, Full<Bytes>>,
}

impl Https {
    /// A dialer to `target`; connects on first use.
    ///
    /// # Errors
    /// If the URL is invalid or the authorities cannot be read.
    pub fn new(target: &Target) -> Result<Self, DialError> {
        Self::with_client_certificate(target, None)
    }

    /// The same with a client certificate, for servers that request one.
    ///
    /// # Errors
    /// As [`Self::new`], and if the certificate cannot be read.
    pub fn with_client_certificate(
        target: &Target,
        certificate: Option<&ClientCertificate>,
    ) -> Result<Self, DialError> {
        let unusable = |source_text: &str| DialError::Connect {
            url: without_user(&target.url),
            source_text: source_text.to_owned(),
        };
        let uri: Uri =
            target.url.parse().map_err(|error: http::uri::InvalidUri| unusable(&error.to_string()))?;
        let (Some("https"), Some(host)) = (uri.scheme_str(), uri.host()) else {
            return Err(unusable("the address must read https://host[:port][/path]"));
        };
        if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return Err(unusable("user information is not permitted in the address"));
        }
        // For the URI library, an address with a port that is too large has none.
        let written = Url::parse(&target.url).map_err(|error| unusable(&error.to_string()))?;
        let port = written.port().unwrap_or("443");
        let Some(port) = port.parse::<u16>().ok().filter(|port| *port > 0) else {
            return Err(unusable(&format!("{port} is no port; ports are 1 to 65535")));
        };
        let address = target.address.clone().unwrap_or_else(|| format!("{host}:{port}"));
        let name = target.server_name.as_deref().unwrap_or(host.trim_matches(['[', ']']));
        let name = ServerName::try_from(name.to_owned()).map_err(|error| unusable(&error.to_string()))?;
        let tls = |source_text| DialError::Tls { url: target.url.clone(), source_text };
        let mut config = client_config(&target.trust).map_err(tls)?;
        if let Some(certificate) = certificate {
            config.client_auth_cert_resolver = Arc::new(client_key_resolver(certificate).map_err(tls)?);
        }
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(Duration::from_mins(1))
            .build(Connector::new(address, name, config));
        Ok(Self { base: target.url.trim_end_matches('/').to_owned(), trust: target.trust.clone(), client })
    }

    /// Sends a review and follows redirects as Go's client does.
    async fn exchange(&self, path: &str, review: &Bytes) -> Result<HttpAnswer, DialError> {
        let mut hop = Hop { base: self.base.clone(), path: path.to_owned(), sends_review: true };
        let mut elsewhere: Option<Self> = None;
        for _ in 0..=REDIRECTS {
            let client = elsewhere.as_ref().unwrap_or(self);
            let response = client.send(&hop, review).await?;
            let Some(next) = hop.after(&response) else { return answer(response, &hop.url()).await };
            if next.base != hop.base {
                let target = Target {
                    url: next.base.clone(),
                    address: None,
                    server_name: None,
                    trust: self.trust.clone(),
                };
                elsewhere = Some(Self::new(&target)?);
            }
            hop = next;
        }
        let source_text = format!("stopped after {REDIRECTS} redirects");
        Err(DialError::Exchange { url: hop.url(), source_text })
    }

    async fn send(&self, hop: &Hop, review: &Bytes) -> Result<Response<Incoming>, DialError> {
        let url = hop.url();
        let (method, body) =
            if hop.sends_review { (Method::POST, review.clone()) } else { (Method::GET, Bytes::new()) };
        let request = Request::builder()
            .method(method)
            .uri(format!("{}{}", hop.base, hop.path))
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, "application/json")
            .body(Full::new(body))
            .map_err(|error| DialError::Exchange { url: url.clone(), source_text: error.to_string() })?;
        self.client.request(request).await.map_err(|error| classify(&url, &error))
    }
}

/// One request of an exchange.
struct Hop {
    /// `https://host:port`, with a prefix for the first.
    base: String,
    path: String,
    sends_review: bool,
}

impl Hop {
    /// The address without parameters.
    fn url(&self) -> String {
        let path = self.path.split('?').next().unwrap_or_default();
        format!("{}{path}", self.base)
    }

    /// The next request if a response is a redirect to an address that can be followed.
    fn after<B>(&self, response: &Response<B>) -> Option<Self> {
        let keeps_method = match response.status().as_u16() {
            301..=303 => false,
            307 | 308 => true,
            _ => return None,
        };
        let location = response.headers().get(header::LOCATION)?.to_str().ok()?;
        let sends_review = self.sends_review && keeps_method;
        if location.starts_with('/') && !location.starts_with("//") {
            let origin = self.base.splitn(4, '/').take(3).collect::<Vec<_>>().join("/");
            return Some(Self { base: origin, path: location.to_owned(), sends_review });
        }
        let rest = location.strip_prefix("https://")?;
        let end = rest.find('/').unwrap_or(rest.len());
        let path = if end == rest.len() { "/" } else { &rest[end..] };
        Some(Self { base: format!("https://{}", &rest[..end]), path: path.to_owned(), sends_review })
    }
}

async fn answer(response: Response<Incoming>, url: &str) -> Result<HttpAnswer, DialError> {
    let (status, media) = (response.status().as_u16(), super::media(response.headers()));
    let body = Limited::new(response.into_body(), RESPONSE_LIMIT).collect().await.map_err(|error| {
        DialError::Exchange { url: url.to_owned(), source_text: describe(error.as_ref()) }
    })?;
    Ok(HttpAnswer { status, media, body: body.to_bytes() })
}

#[async_trait]
impl Dialer for Https {
    async fn post(&self, path: &str, body: Bytes, timeout: Duration) -> Result<HttpAnswer, DialError> {
        let url = || format!("{}{}", self.base, path.split('?').next().unwrap_or_default());
        let late = |_| DialError::Timeout { url: url(), timeout };
        tokio::time::timeout(timeout, self.exchange(path, &body)).await.map_err(late)?
    }

    async fn pass(&self, request: Request<Bytes>) -> Result<Streamed, DialError> {
        let (mut parts, body) = request.into_parts();
        let address = format!("{}{}", self.base, parts.uri);
        let url = address.split('?').next().unwrap_or_default().to_owned();
        parts.uri = address.parse().map_err(|error: http::uri::InvalidUri| DialError::Exchange {
            url: url.clone(),
            source_text: error.to_string(),
        })?;
        parts.version = http::Version::default();
        let request = Request::from_parts(parts, Full::new(body));
        let response = self.client.request(request).await.map_err(|error| classify(&url, &error))?;
        Ok(response.map(|body| body.map_err(Into::into).boxed_unsync()))
    }
}

/// Checks that a server at `host:port` completes a TLS handshake, with any certificate.
///
/// # Errors
/// If the connection or the handshake fails, or takes longer than `timeout`.
pub async fn handshake(address: &str, timeout: Duration) -> Result<(), DialError> {
    let url = format!("https://{address}");
    let tls = |source_text| DialError::Tls { url: url.clone(), source_text };
    let name = ServerName::try_from("localhost").map_err(|error| tls(error.to_string()))?;
    let mut connector =
        Connector::new(address.to_owned(), name, client_config(&Trust::Insecure).map_err(tls)?);
    let connection = tower::Service::call(&mut connector, Uri::default());
    match tokio::time::timeout(timeout, connection).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(ConnectError::Tcp(source))) => {
            Err(DialError::Connect { url, source_text: source.to_string() })
        }
        Ok(Err(ConnectError::Tls(source))) => Err(DialError::Tls { url, source_text: source.to_string() }),
        Err(_) => Err(DialError::Timeout { url, timeout }),
    }
}

fn client_key_resolver(certificate: &ClientCertificate) -> Result<SingleCertAndKey, String> {
    let chain = CertificateDer::pem_slice_iter(certificate.certificate_pem.as_bytes()).collect();
    let chain: Vec<CertificateDer<'static>> =
        Result::map_err(chain, |error| format!("failed to read the client certificate: {error}"))?;
    let wrong =
        |error: &dyn std::fmt::Display| format!("failed to read the client certificate's key: {error}");
    let key = PrivateKeyDer::from_pem_slice(certificate.key_pem.as_bytes()).map_err(|error| wrong(&error))?;
    let certified = CertifiedKey::from_der(chain, key, &provider()).map_err(|error| wrong(&error))?;
    Ok(SingleCertAndKey::from(certified))
}

fn classify(url: &str, error: &hyper_util::client::legacy::Error) -> DialError {
    let url = url.to_owned();
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(found) = cause {
        match found.downcast_ref() {
            Some(ConnectError::Tcp(source)) => {
                return DialError::Connect { url, source_text: source.to_string() };
            }
            Some(ConnectError::Tls(source)) => {
                return DialError::Tls { url, source_text: source.to_string() };
            }
            None => cause = found.source(),
        }
    }
    DialError::Exchange { url, source_text: describe(error) }
}

/// What broke the exchange. Libraries describe a closed connection in the terms of their protocols.
fn describe(error: &(dyn Error + 'static)) -> String {
    let is_end = |cause: &(dyn Error + 'static)| {
        let is_eof = cause
            .downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == io::ErrorKind::UnexpectedEof);
        is_eof || cause.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_incomplete_message)
    };
    let mut cause = Some(error);
    while let Some(found) = cause {
        if is_end(found) {
            return "the server closed the connection before its response was complete".to_owned();
        }
        cause = found.source();
    }
    let text = chain(error);
    // HTTP/2 ends a request without its connection.
    if text.contains("stream error received") {
        return "the server broke off the request before its response was complete".to_owned();
    }
    text
}

/// An error and its causes in one line.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(found) = cause {
        text.push_str(": ");
        text.push_str(&found.to_string());
        cause = found.source();
    }
    text
}

fn without_user(url: &str) -> String {
    match url.split_once("://").zip(url.rsplit_once('@')) {
        Some(((scheme, _), (_, rest))) => format!("{scheme}://{rest}"),
        None => url.to_owned(),
    }
}
