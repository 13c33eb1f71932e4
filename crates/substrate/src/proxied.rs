//! A Service of a cluster, asked from outside through its API server's proxy.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, header};
use kube::client::Body;
use webhook::dial::{DialError, Dialer, HttpAnswer};

/// A port of a Service.
#[derive(Clone)]
pub struct Proxied {
    client: kube::Client,
    base: String,
}

impl Proxied {
    /// The port named `port` of a Service, which speaks `https` or `http`.
    #[must_use]
    pub fn new(client: kube::Client, namespace: &str, service: &str, (scheme, port): (&str, &str)) -> Self {
        let base = format!("/api/v1/namespaces/{namespace}/services/{scheme}:{service}:{port}/proxy");
        Self { client, base }
    }

    async fn send(&self, path: &str, body: Bytes) -> Result<HttpAnswer, DialError> {
        let url = format!("{}{path}", self.base);
        let broken = |error: &dyn std::fmt::Display| DialError::Exchange {
            url: url.clone(),
            source_text: error.to_string(),
        };
        let request = Request::post(&url).header(header::CONTENT_TYPE, "application/json");
        let request = request.body(Body::from(body.to_vec())).map_err(|error| broken(&error))?;
        let answer = self.client.send(request).await.map_err(|error| broken(&error))?;
        let status = answer.status().as_u16();
        let body = answer.into_body().collect_bytes().await.map_err(|error| broken(&error))?;
        // A webhook answers with none of these: they are the proxy's.
        if matches!(status, 502..=504) {
            let source_text = String::from_utf8_lossy(&body).into_owned();
            return Err(DialError::Connect { url, source_text });
        }
        Ok(HttpAnswer { status, body })
    }
}

#[async_trait]
impl Dialer for Proxied {
    async fn post(&self, path: &str, body: Bytes, timeout: Duration) -> Result<HttpAnswer, DialError> {
        let sent = tokio::time::timeout(timeout, self.send(path, body)).await;
        sent.unwrap_or_else(|_| Err(DialError::Timeout { url: format!("{}{path}", self.base), timeout }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    /// A client of a server that answers 200 with what it was asked, and 503 on `/gone`.
    fn client() -> kube::Client {
        let service = tower::service_fn(|request: Request<Body>| async move {
            let (head, body) = request.into_parts();
            let body = body.collect_bytes().await.unwrap_or_default();
            let status = if head.uri.path().ends_with("/gone") { 503 } else { 200 };
            let said = format!("{} {} {}", head.method, head.uri, String::from_utf8_lossy(&body));
            let mut answer = http::Response::new(Body::from(said.into_bytes()));
            *answer.status_mut() = http::StatusCode::from_u16(status).unwrap_or_default();
            Ok::<_, Infallible>(answer)
        });
        kube::Client::new(service, "default")
    }

    #[tokio::test]
    async fn a_port_is_asked_through_the_proxy_and_what_the_proxy_says_is_no_answer() {
        let base = "/api/v1/namespaces/one/services/https:grm:server/proxy";
        let port = Proxied::new(client(), "one", "grm", ("https", "server"));
        let patience = Duration::from_secs(20);
        let answer = port.post("/webhooks/a?timeout=3s", "{}".into(), patience).await.unwrap();
        let want = HttpAnswer { status: 200, body: format!("POST {base}/webhooks/a?timeout=3s {{}}").into() };
        assert_eq!(answer, want);
        let gone = port.post("/gone", "{}".into(), patience).await.unwrap_err();
        assert_eq!(gone.to_string(), format!("failed to connect to {base}/gone: POST {base}/gone {{}}"));
    }
}
