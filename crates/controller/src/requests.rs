//! Counts the requests of clients, under the metric name of client-go.

use std::collections::BTreeMap;
use std::sync::Arc;

use formats::exposition::{Family, Kind, Reading, Sample};
use http::Request;
use kube::Client;
use kube::client::Body;
use parking_lot::Mutex;

/// Counts the requests of all clients that it wraps. Cheap to clone; clones share the counts.
#[derive(Clone, Debug, Default)]
pub struct RequestCounts {
    counts: Arc<Mutex<BTreeMap<RequestLabels, u64>>>,
}

/// The labels of one counter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RequestLabels {
    /// Status code, or `<error>` without an answer.
    code: String,
    method: String,
    host: Arc<str>,
}

impl RequestCounts {
    /// A client that sends its requests through `client`; `host` is the label for the server, with its port if it has
    /// one.
    #[must_use]
    pub fn wrap_client(&self, client: &Client, host: &str) -> Client {
        let (counts, asked, host) = (self.clone(), client.clone(), Arc::<str>::from(host));
        let service = tower::service_fn(move |request: Request<Body>| {
            let (counts, client, host) = (counts.clone(), asked.clone(), host.clone());
            async move {
                let method = request.method().to_string();
                let answer = client.send(request).await;
                let code = match &answer {
                    Ok(response) => response.status().as_str().to_owned(),
                    Err(_) => "<error>".to_owned(),
                };
                *counts.counts.lock().entry(RequestLabels { code, method, host }).or_default() += 1;
                answer
            }
        });
        Client::new(service, client.default_namespace())
    }

    /// `rest_client_requests_total`.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "Prometheus counts in floating point")]
    pub fn families(&self) -> Vec<Family> {
        let counts = self.counts.lock();
        let sample = |(key, count): (&RequestLabels, &u64)| Sample {
            labels: vec![
                ("code", key.code.clone()),
                ("host", key.host.to_string()),
                ("method", key.method.clone()),
            ],
            reading: Reading::Number(*count as f64),
        };
        vec![Family {
            name: "rest_client_requests_total",
            help: "Number of HTTP requests, partitioned by status code, method, and host.",
            kind: Kind::Counter,
            samples: counts.iter().map(sample).collect(),
        }]
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use formats::exposition;
    use http::Response;
    use k8s_openapi::api::core::v1::Pod;
    use kube::Api;

    use super::*;

    #[tokio::test]
    async fn requests_are_counted_by_code_method_and_host() {
        let service = tower::service_fn(|request: Request<Body>| async move {
            let code = if request.uri().path().ends_with("/absent") { 404 } else { 200 };
            let body = r#"{"metadata":{"name":"a"}}"#;
            Ok::<_, Infallible>(
                Response::builder().status(code).body(Body::from(body.as_bytes().to_vec())).unwrap(),
            )
        });
        let counts = RequestCounts::default();
        let pods: Api<Pod> =
            Api::default_namespaced(counts.wrap_client(&Client::new(service, "default"), "api:6443"));
        pods.get("a").await.unwrap();
        pods.get("a").await.unwrap();
        pods.get("absent").await.unwrap_err();
        let text = exposition::encode(counts.families());
        let samples: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(
            samples,
            [
                r#"rest_client_requests_total{code="200",host="api:6443",method="GET"} 2"#,
                r#"rest_client_requests_total{code="404",host="api:6443",method="GET"} 1"#,
            ]
        );
    }
}
