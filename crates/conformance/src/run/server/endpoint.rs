//! Serves the target over TLS on loopback, for an API server outside this process; probes show which registrations are active.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use webhook::dial::{DialError, Dialer as _};
use webhook::registration::WebhookConfiguration;

use super::probe;
use super::recorder::Recorder;
use crate::loopback::{ServeError, TlsEndpoint, allowed, reply};
use crate::route;
use crate::route::DEFAULT_TIMEOUT;

/// Path prefix of probes.
const PROBES: &str = "/probe/";

/// An open port. Dropping it closes it.
pub(super) struct WebhookEndpoint {
    served: TlsEndpoint,
    seen: Arc<Mutex<BTreeSet<String>>>,
}

impl WebhookEndpoint {
    /// Opens it; requests go to the recorder.
    pub(super) async fn open(recorder: Arc<Recorder>) -> Result<Self, ServeError> {
        let seen = Arc::<Mutex<BTreeSet<String>>>::default();
        let probes = Arc::clone(&seen);
        let service = tower::service_fn(move |request: Request<Incoming>| {
            let (recorder, probes) = (Arc::clone(&recorder), Arc::clone(&probes));
            async move { Ok::<_, Infallible>(answer(&recorder, &probes, request).await) }
        });
        let served = TlsEndpoint::open((Ipv4Addr::LOCALHOST, 0).into(), None, service).await?;
        Ok(Self { served, seen })
    }

    /// The configuration with every webhook's address replaced by this endpoint, and a probe.
    pub(super) fn redirected(
        &self,
        configuration: &WebhookConfiguration,
        number: usize,
    ) -> WebhookConfiguration {
        let mut redirected = configuration.clone();
        for webhook in &mut redirected.webhooks {
            webhook.client_config = self.served.client_config(&route::path(webhook));
        }
        let to_probe = self.served.client_config(&format!("{PROBES}{number}"));
        redirected.webhooks.push(probe::registration(number, "", to_probe));
        redirected
    }

    /// Forgets the probes received so far.
    pub(super) fn reset_probes(&self) {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Number of different probes received since.
    pub(super) fn probe_count(&self) -> usize {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

async fn answer(
    recorder: &Recorder,
    probes: &Mutex<BTreeSet<String>>,
    request: Request<Incoming>,
) -> Response<Full<Bytes>> {
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str()).to_owned();
    let timeout = request.uri().query().and_then(timeout).unwrap_or(DEFAULT_TIMEOUT);
    let Ok(body) = request.into_body().collect().await else {
        return reply(StatusCode::BAD_REQUEST, Bytes::new());
    };
    let body = body.to_bytes();
    if path.starts_with(PROBES) {
        probes.lock().unwrap_or_else(PoisonError::into_inner).insert(path);
        return reply(StatusCode::OK, allowed(&body));
    }
    match recorder.post(&path, body, timeout).await {
        Ok(answer) => {
            reply(StatusCode::from_u16(answer.status).unwrap_or(StatusCode::BAD_GATEWAY), answer.body)
        }
        Err(error @ DialError::Timeout { .. }) => {
            reply(StatusCode::GATEWAY_TIMEOUT, error.to_string().into())
        }
        Err(error) => reply(StatusCode::BAD_GATEWAY, error.to_string().into()),
    }
}

/// `timeout=10s`, as kube-apiserver writes it.
fn timeout(query: &str) -> Option<Duration> {
    let value = query.split('&').find_map(|pair| pair.strip_prefix("timeout="))?;
    formats::duration::GoDuration::parse(value).ok()?.to_std()
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use serde_json::{Value, json};
    use webhook::dial::{HttpAnswer, Https, Target, Trust};
    use webhook::registration::{ClientConfig, Phase, Registration};

    /// Answers with the path and body of the request.
    struct Echo;

    #[async_trait::async_trait]
    impl webhook::dial::Dialer for Echo {
        async fn post(&self, path: &str, body: Bytes, timeout: Duration) -> Result<HttpAnswer, DialError> {
            if path.starts_with("/late") {
                return Err(DialError::Timeout { url: path.to_owned(), timeout });
            }
            let body = format!("{path} {timeout:?} {}", String::from_utf8_lossy(&body));
            Ok(HttpAnswer { media: None, status: 418, body: body.into() })
        }
    }

    async fn opened() -> (WebhookEndpoint, Https) {
        let recorder = Arc::new(Recorder::default());
        recorder.reach(Arc::new(Echo));
        let endpoint = WebhookEndpoint::open(recorder).await.unwrap();
        let reached = endpoint.served.client_config("");
        let trust = Trust::Bundle(STANDARD.decode(reached.ca_bundle.unwrap()).unwrap());
        let target = Target { url: reached.url.unwrap(), address: None, server_name: None, trust };
        let client = Https::new(&target).unwrap();
        (endpoint, client)
    }

    async fn post(client: &Https, path: &str, body: &str) -> (u16, String) {
        let answer = client.post(path, body.to_owned().into(), Duration::from_secs(20)).await.unwrap();
        (answer.status, String::from_utf8_lossy(&answer.body).into_owned())
    }

    #[tokio::test]
    async fn reviews_reach_the_target_and_probes_do_not() {
        let (endpoint, client) = opened().await;
        let want = (418, "/webhooks/a?timeout=3s 3s {}".to_owned());
        assert_eq!(post(&client, "/webhooks/a?timeout=3s", "{}").await, want);
        assert_eq!(post(&client, "/late", "{}").await.0, 504);
        assert_eq!(endpoint.probe_count(), 0);
        let review = r#"{"request": {"uid": "u1"}}"#;
        for _ in 0..2 {
            let (status, body) = post(&client, "/probe/0?timeout=10s", review).await;
            let body: Value = serde_json::from_str(&body).unwrap();
            assert_eq!((status, &body["response"]), (200, &json!({"uid": "u1", "allowed": true})));
        }
        assert_eq!(endpoint.probe_count(), 1);
        endpoint.reset_probes();
        assert_eq!(endpoint.probe_count(), 0);
    }

    #[tokio::test]
    async fn every_webhook_of_a_configuration_is_redirected_and_a_probe_is_added() {
        let (endpoint, _) = opened().await;
        let at = |to: ClientConfig| Registration { client_config: to, ..Registration::default() };
        let service = json!({"service": {"namespace": "garden", "name": "grm", "path": "/webhooks/b"}});
        let webhooks = vec![
            at(ClientConfig {
                url: Some("https://grm.garden:443/webhooks/a".to_owned()),
                ..ClientConfig::default()
            }),
            at(serde_json::from_value(service).unwrap()),
        ];
        let configuration = WebhookConfiguration {
            phase: Phase::Mutating,
            name: "grm".to_owned(),
            labels: std::collections::BTreeMap::new(),
            webhooks,
        };
        let redirected = endpoint.redirected(&configuration, 3);
        let urls: Vec<_> = redirected.webhooks.iter().map(|webhook| webhook.client_config.clone()).collect();
        let wanted =
            ["/webhooks/a", "/webhooks/b", "/probe/3"].map(|path| endpoint.served.client_config(path));
        assert_eq!(urls, wanted);
    }
}
