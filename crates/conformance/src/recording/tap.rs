//! An endpoint that allows each review of an API server at once, and passes it on.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use tokio::sync::mpsc;
use webhook::registration::ClientConfig;

use crate::loopback::{ServeError, TlsEndpoint, allowed, reply};

/// Number of reviews that may wait; further reviews are allowed and counted as lost.
const WAITING: usize = 1024;
/// Maximum size of a review: kube-apiserver accepts objects up to 3 MiB, and sends two.
const LONGEST: usize = 8 << 20;

/// A received review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Path without the query.
    pub path: String,
    /// Body of the request.
    pub body: Bytes,
}

/// An open port that receives reviews. Dropping it closes it.
pub struct Tap {
    served: TlsEndpoint,
    reviews: mpsc::Receiver<Taken>,
    lost: Arc<AtomicUsize>,
}

impl Tap {
    /// Opens a port of this machine; `host` is the name or address at which the API server reaches it, if another.
    ///
    /// # Errors
    /// If the port is in use, or no certificate can be created for the host.
    pub async fn open(address: SocketAddr, host: Option<&str>) -> Result<Self, ServeError> {
        let (sender, reviews) = mpsc::channel(WAITING);
        let lost = Arc::<AtomicUsize>::default();
        let missed = Arc::clone(&lost);
        let service = tower::service_fn(move |request: Request<Incoming>| {
            let (sender, missed) = (sender.clone(), Arc::clone(&missed));
            async move {
                let path = request.uri().path().to_owned();
                let Ok(body) = Limited::new(request.into_body(), LONGEST).collect().await else {
                    missed.fetch_add(1, Ordering::Relaxed);
                    return Ok::<_, Infallible>(reply(StatusCode::PAYLOAD_TOO_LARGE, Bytes::new()));
                };
                let body = body.to_bytes();
                let answer = allowed(&body);
                if sender.try_send(Taken { path, body }).is_err() {
                    missed.fetch_add(1, Ordering::Relaxed);
                }
                Ok(reply(StatusCode::OK, answer))
            }
        });
        Ok(Self { served: TlsEndpoint::open(address, host, service).await?, reviews, lost })
    }

    /// The address on which it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.served.address
    }

    /// The client configuration of a registration for this endpoint.
    #[must_use]
    pub fn client_config(&self, path: &str) -> ClientConfig {
        self.served.client_config(path)
    }

    /// Waits for the next review.
    pub async fn next(&mut self) -> Option<Taken> {
        self.reviews.recv().await
    }

    /// Number of lost reviews.
    #[must_use]
    pub fn lost(&self) -> usize {
        self.lost.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use std::net::Ipv4Addr;
    use std::time::Duration;
    use webhook::dial::{Dialer as _, Https, Target, Trust};

    #[tokio::test]
    async fn a_review_is_allowed_and_passed_on() {
        let mut tap = Tap::open((Ipv4Addr::LOCALHOST, 0).into(), Some("localhost")).await.unwrap();
        let reached = tap.client_config("/3");
        assert_eq!(reached.url, Some(format!("https://localhost:{}/3", tap.address().port())));
        let trust = Trust::Bundle(STANDARD.decode(reached.ca_bundle.unwrap()).unwrap());
        let url = reached.url.unwrap().trim_end_matches("/3").to_owned();
        let address = Some(tap.address().to_string());
        let client = Https::new(&Target { url, address, server_name: None, trust }).unwrap();
        let body = r#"{"request": {"uid": "u"}}"#;
        let answer = client.post("/3?timeout=1s", body.into(), Duration::from_secs(20)).await.unwrap();
        let answered: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
        assert_eq!(answered["response"], serde_json::json!({"uid": "u", "allowed": true}));
        assert_eq!(tap.next().await, Some(Taken { path: "/3".to_owned(), body: body.into() }));
        assert_eq!(tap.lost(), 0);
    }
}
