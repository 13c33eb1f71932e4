//! Serves the webhook of `fidelity` over TLS on a loopback port.

use std::convert::Infallible;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use fidelity::webhook::{WebhookReply, WebhookServer};
use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use substrate::identity::Identity;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use webhook::server::{self, Certificates, Patience, TlsOptions};

use crate::terminal::Failure;

/// A served webhook; dropping it closes the port.
pub(super) struct Served {
    /// Where it is reached.
    pub(super) server: WebhookServer,
    serving: JoinHandle<()>,
}

/// Starts to serve.
pub(super) async fn serve() -> Result<Served, Failure> {
    let failed =
        |error: &dyn std::fmt::Display| Failure::environment(format!("failed to serve webhooks: {error}"));
    let identity = Identity::made("fidelity", ["127.0.0.1".to_owned()]).map_err(|error| failed(&error))?;
    let certificates = Certificates::from_pem(identity.certificate.as_bytes(), identity.key.as_bytes());
    let certificates = Arc::new(certificates.map_err(|error| failed(&error))?);
    let tls = server::config(certificates, TlsOptions::default()).map_err(|error| failed(&error))?;
    let listener = TcpListener::bind("127.0.0.1:0").await.map_err(|error| failed(&error))?;
    let address = listener.local_addr().map_err(|error| failed(&error))?;
    let server =
        WebhookServer { url: format!("https://{address}"), bundle: STANDARD.encode(identity.authority) };
    let service = tower::service_fn(answer);
    let never = std::future::pending();
    let serving = tokio::spawn(server::serve(listener, Some(tls), service, Patience::default(), never));
    Ok(Served { server, serving })
}

impl Drop for Served {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (parts, body) = request.into_parts();
    let review = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let Some(reply) = WebhookReply::of(parts.uri.path(), &review) else {
        let mut response = Response::new(Full::from("the path contains no reply"));
        *response.status_mut() = StatusCode::NOT_FOUND;
        return Ok(response);
    };
    let mut response = Response::new(Full::from(reply.text));
    *response.status_mut() = StatusCode::from_u16(reply.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut set = |name, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value) {
            response.headers_mut().insert(name, value);
        }
    };
    set(header::CONTENT_TYPE, reply.media.as_deref().unwrap_or("application/json"));
    if let Some(location) = &reply.location {
        set(header::LOCATION, location);
    }
    Ok(response)
}
