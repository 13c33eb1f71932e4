//! Test environment: a server, a cluster on it, and the requests that a reconciler has seen.

use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use apiserver::ApiServer;
use controller::{CacheOptions, Cluster, Entropy, Outcome, Reconcile, Request, Store};
use futures::{StreamExt as _, TryStreamExt as _};
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::{Api, Client};
use serde_json::json;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

/// A fresh server with a client that talks to it in process.
pub(crate) struct World {
    pub(crate) server: ApiServer,
    pub(crate) client: Client,
    pub(crate) stop: CancellationToken,
}

impl World {
    pub(crate) fn new() -> Self {
        let server = ApiServer::builder().build();
        let client = Client::new(server.clone(), "default");
        Self { server, client, stop: CancellationToken::new() }
    }

    /// A cluster whose stores are filled.
    pub(crate) fn cluster(&self, options: CacheOptions) -> Cluster {
        self.cluster_on(self.client.clone(), options)
    }

    /// A cluster with another client.
    pub(crate) fn cluster_on(&self, client: Client, options: CacheOptions) -> Cluster {
        let cluster = Cluster::new("source", client, options, Entropy::seeded(1));
        let (running, stop) = (cluster.clone(), self.stop.clone());
        tokio::spawn(async move { running.run(stop).await.unwrap() });
        cluster
    }

    /// A cluster whose lists are slow.
    pub(crate) fn slow(&self, delay: Duration) -> Cluster {
        let server = self.server.clone();
        let service = tower::service_fn(move |request: http::Request<kube::client::Body>| {
            let server = server.clone();
            async move {
                if !request.uri().query().unwrap_or_default().contains("watch=true") {
                    tokio::time::sleep(delay).await;
                }
                server.oneshot(request).await
            }
        });
        self.cluster_on(Client::new(service, "default"), CacheOptions::default())
    }

    /// A client over a connection that can be cut.
    pub(crate) fn cuttable_client(&self) -> (Client, CuttableConnection) {
        let (connection, server) = (CuttableConnection::default(), self.server.clone());
        let shared = connection.clone();
        let service = tower::service_fn(move |request: http::Request<kube::client::Body>| {
            let (connection, server) = (shared.clone(), server.clone());
            async move {
                let broken = connection.broken();
                if broken.is_cancelled() {
                    return Err(std::io::Error::other("connection refused"));
                }
                let response = server.oneshot(request).await.unwrap_or_else(|never| match never {});
                let (parts, body) = response.into_parts();
                // Streams end with the connection, as when the other side fails.
                let frames = body.into_data_stream().take_until(broken.cancelled_owned());
                let body = StreamBody::new(frames.map_ok(Frame::data));
                Ok(http::Response::from_parts(parts, body))
            }
        });
        (Client::new(service, "default"), connection)
    }

    pub(crate) fn config_maps(&self) -> Api<ConfigMap> {
        Api::namespaced(self.client.clone(), "default")
    }

    pub(crate) async fn create(&self, name: &str) {
        self.config_maps().create(&PostParams::default(), &config_map(name)).await.unwrap();
    }

    pub(crate) async fn write(&self, name: &str, value: &str) {
        let patch = Patch::Merge(json!({"data": {"value": value}}));
        self.config_maps().patch(name, &PatchParams::default(), &patch).await.unwrap();
    }

    pub(crate) async fn delete(&self, name: &str) {
        self.config_maps().delete(name, &DeleteParams::default()).await.unwrap();
    }
}

/// A connection that can be cut.
#[derive(Clone, Default)]
pub(crate) struct CuttableConnection(Arc<Mutex<CancellationToken>>);

impl CuttableConnection {
    /// Ends all streams, and blocks requests.
    pub(crate) fn cut(&self) {
        self.broken().cancel();
    }

    /// Lets requests through again.
    pub(crate) fn mend(&self) {
        *self.0.lock().unwrap() = CancellationToken::new();
    }

    fn broken(&self) -> CancellationToken {
        self.0.lock().unwrap().clone()
    }
}

pub(crate) fn config_map(name: &str) -> ConfigMap {
    serde_json::from_value(json!({"metadata": {"name": name, "labels": {"app": name}}})).unwrap()
}

/// Records its requests, and returns the results of `answer`.
pub(crate) struct Recorder<F> {
    pub(crate) store: Store<ConfigMap>,
    pub(crate) seen: SeenRequests,
    pub(crate) answer: F,
}

/// Requests, as `name` for existing objects and `-name` for others.
#[derive(Clone, Default)]
pub(crate) struct SeenRequests(Arc<Mutex<Vec<(String, Instant)>>>);

impl SeenRequests {
    pub(crate) fn names(&self) -> Vec<String> {
        self.0.lock().unwrap().iter().map(|(name, _)| name.clone()).collect()
    }

    /// Milliseconds since `start`.
    pub(crate) fn times(&self, start: Instant) -> Vec<u128> {
        self.0.lock().unwrap().iter().map(|(_, at)| (*at - start).as_millis()).collect()
    }

    pub(crate) fn push(&self, name: String) {
        self.0.lock().unwrap().push((name, Instant::now()));
    }

    pub(crate) fn clear(&self) {
        self.0.lock().unwrap().clear();
    }
}

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct TestError(pub(crate) &'static str);

impl<F, R> Reconcile for Recorder<F>
where
    F: Fn(usize) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Outcome, TestError>> + Send,
{
    type Error = TestError;

    async fn reconcile(&self, request: Request) -> Result<Outcome, TestError> {
        let there = self.store.get(&request.namespace, &request.name).is_some();
        let count = self.seen.names().len();
        self.seen.push(if there { request.name } else { format!("-{}", request.name) });
        (self.answer)(count).await
    }
}

/// Runs all tasks that are ready. Time is paused, so this does not wait.
pub(crate) async fn run_pending_tasks() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}
