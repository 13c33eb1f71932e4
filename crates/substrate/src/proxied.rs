//! Calls a webhook in a cluster from outside, through its API server's Service proxy.

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
    /// The port named `port` of a Service, with the scheme `https` or `http`.
    #[must_use]
    pub fn new(client: kube::Client, namespace: &str, service: &str, (scheme, port): (&str, &str)) -> Self {
        let base = format!("/api/v1/namespaces/{namespace}/services/{scheme}:{service}:{port}/proxy");
        Self { client, base }
    }

    async fn send(&self, path: &str, body: Bytes) -> Result<HttpAnswer, DialError> {
        let url = format!("{}{path}", self.base);
        let exchange_error = |error: &dyn std::fmt::Display| DialError::Exchange {
            url: url.clone(),
            source_text: error.to_string(),
        };
        let request = Request::post(&url).header(header::CONTENT_TYPE, "application/json");
        let request = request.body(Body::from(body.to_vec())).map_err(|error| exchange_error(&error))?;
        let answer = self.client.send(request).await.map_err(|error| exchange_error(&error))?;
        let status = answer.status().as_u16();
        let body = answer.into_body().collect_bytes().await.map_err(|error| exchange_error(&error))?;
        // A webhook does not answer with these codes: they are the proxy's.
        if matches!(status, 502..=504) {
            let source_text = String::from_utf8_lossy(&body).into_owned();
            return Err(DialError::Connect { url, source_text });
        }
        Ok(HttpAnswer { media: None, status, body })
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

    /// A client of a server that answers 200 with an echo of the request, and 503 on `/gone`.
    fn client() -> kube::Client {
        let service = tower::service_fn(|request: Request<Body>| async move {
            let (head, body) = request.into_parts();
            let body = body.collect_bytes().await.unwrap_or_default();
            let status = if head.uri.path().ends_with("/gone") { 503 } else { 200 };
            let echo = format!("{} {} {}", head.method, head.uri, String::from_utf8_lossy(&body));
            let mut answer = http::Response::new(Body::from(echo.into_bytes()));
            *answer.status_mut() = http::StatusCode::from_u16(status).unwrap_or_default();
            Ok::<_, Infallible>(answer)
        });
        kube::Client::new(service, "default")
    }

    #[tokio::test]
    async fn a_webhook_is_called_through_the_proxy_and_proxy_errors_are_not_its_answers() {
        let base = "/api/v1/namespaces/one/services/https:grm:server/proxy";
        let port = Proxied::new(client(), "one", "grm", ("https", "server"));
        let timeout = Duration::from_secs(20);
        let answer = port.post("/webhooks/a?timeout=3s", "{}".into(), timeout).await.unwrap();
        let want = HttpAnswer {
            media: None,
            status: 200,
            body: format!("POST {base}/webhooks/a?timeout=3s {{}}").into(),
        };
        assert_eq!(answer, want);
        let gone = port.post("/gone", "{}".into(), timeout).await.unwrap_err();
        assert_eq!(gone.to_string(), format!("failed to connect to {base}/gone: POST {base}/gone {{}}"));
    }
}
