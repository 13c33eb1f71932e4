//! Where an API server brings reviews: each is let through at once, and handed on.

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

use crate::loopback::{ServeError, Served, allowed, reply};

/// Reviews that wait to be taken; more are let through and lost, which is told.
const WAITING: usize = 1024;
/// A review larger than this is none: kube-apiserver takes no object beyond 3 MiB, and sends two.
const LONGEST: usize = 8 << 20;

/// A review that came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Path that was asked, without its query.
    pub path: String,
    /// What was sent.
    pub body: Bytes,
}

/// An open port that takes reviews. Dropping it closes it.
pub struct Tap {
    served: Served,
    taken: mpsc::Receiver<Taken>,
    lost: Arc<AtomicUsize>,
}

impl Tap {
    /// Opens a port of this machine; `host` is the name or address by which the API server reaches it, where that is another.
    ///
    /// # Errors
    /// When the port is taken, or no certificate can be made for the host.
    pub async fn open(address: SocketAddr, host: Option<&str>) -> Result<Self, ServeError> {
        let (hand, taken) = mpsc::channel(WAITING);
        let lost = Arc::<AtomicUsize>::default();
        let missed = Arc::clone(&lost);
        let service = tower::service_fn(move |request: Request<Incoming>| {
            let (hand, missed) = (hand.clone(), Arc::clone(&missed));
            async move {
                let path = request.uri().path().to_owned();
                let Ok(body) = Limited::new(request.into_body(), LONGEST).collect().await else {
                    missed.fetch_add(1, Ordering::Relaxed);
                    return Ok::<_, Infallible>(reply(StatusCode::PAYLOAD_TOO_LARGE, Bytes::new()));
                };
                let body = body.to_bytes();
                let answer = allowed(&body);
                if hand.try_send(Taken { path, body }).is_err() {
                    missed.fetch_add(1, Ordering::Relaxed);
                }
                Ok(reply(StatusCode::OK, answer))
            }
        });
        Ok(Self { served: Served::open(address, host, service).await?, taken, lost })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.served.address
    }

    /// How a registration leads here.
    #[must_use]
    pub fn client_config(&self, path: &str) -> ClientConfig {
        self.served.client_config(path)
    }

    /// The next review; waits for one.
    pub async fn next(&mut self) -> Option<Taken> {
        self.taken.recv().await
    }

    /// How many reviews came and could not be kept.
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
    async fn a_review_is_let_through_and_handed_on() {
        let mut tap = Tap::open((Ipv4Addr::LOCALHOST, 0).into(), Some("localhost")).await.unwrap();
        let reached = tap.client_config("/3");
        assert_eq!(reached.url, Some(format!("https://localhost:{}/3", tap.address().port())));
        let trust = Trust::Bundle(STANDARD.decode(reached.ca_bundle.unwrap()).unwrap());
        let url = reached.url.unwrap().trim_end_matches("/3").to_owned();
        let address = Some(tap.address().to_string());
        let client = Https::new(&Target { url, address, server_name: None, trust }).unwrap();
        let body = r#"{"request": {"uid": "u"}}"#;
        let answer = client.post("/3?timeout=1s", body.into(), Duration::from_secs(20)).await.unwrap();
        let said: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
        assert_eq!(said["response"], serde_json::json!({"uid": "u", "allowed": true}));
        assert_eq!(tap.next().await, Some(Taken { path: "/3".to_owned(), body: body.into() }));
        assert_eq!(tap.lost(), 0);
    }
}
