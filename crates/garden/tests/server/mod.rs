//! The garden's kinds on the embedded API server, as gardener-apiserver serves them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]

mod admin_kubeconfig;
mod aggregated;
mod binding;
mod command_line;
mod generations;
mod managed_seeds;
mod monitoring;
mod objects;
mod patches;
mod plugins;
mod presentation;
mod presets;
mod refusals;

use apiserver::{ApiServer, Builder};
use gardener_garden::strategies;
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};

const CORE: &str = "/apis/core.gardener.cloud/v1beta1";
const NAMESPACE: &str = "garden-dev";

/// A garden with one profile and one Seed, at the time of the fixtures.
struct TestGarden {
    client: Client,
}

impl TestGarden {
    async fn start() -> Self {
        Self::start_as(ApiServer::builder()).await
    }

    /// As [`Self::start`], with a server that has more settings.
    async fn start_as(builder: Builder) -> Self {
        let epoch = "2024-06-01T00:00:00Z".parse().expect("a constant");
        let builder = builder.typed_kinds(strategies::typed_kinds()).epoch(epoch);
        let server = builder.namespace(NAMESPACE).namespace("garden").build();
        let garden = Self { client: Client::new(server, "default") };
        let profile = fixture(include_str!("../../../../contracts/fixtures/cloudprofile.yaml"));
        garden.create("cloudprofiles", &profile).await;
        garden.create("seeds", &seed("local")).await;
        garden
    }

    /// The code and the body of the answer; `form` is a media type.
    async fn send(&self, method: &str, path: &str, form: &str, body: &Value) -> (u16, Value) {
        let (code, _, answer) = self.exchange(method, path, &[("content-type", form)], body).await;
        (code, answer)
    }

    /// As [`Self::send`], with any headers, and with the texts of warnings.
    async fn exchange(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> (u16, Vec<String>, Value) {
        let mut request = http::Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let request = request.body(Body::from(body)).expect("a request");
        let (head, body) = self.client.send(request).await.expect("the server answers").into_parts();
        let body = body.collect_bytes().await.expect("the body ends");
        let warnings = head.headers.get_all("warning").into_iter();
        let warnings = warnings.map(|text| text.to_str().expect("ASCII").to_owned()).collect();
        (head.status.as_u16(), warnings, serde_json::from_slice(&body).expect("JSON"))
    }

    /// Creates an object of a resource.
    async fn create(&self, resource: &str, object: &Value) -> Value {
        let (code, made) = self.send("POST", &collection(resource, object), "application/json", object).await;
        assert_eq!(code, 201, "{made}");
        made
    }

    /// Patches an object, or a subresource, and expects that this succeeds.
    async fn patch(&self, path: &str, form: &str, change: &Value) -> Value {
        let (code, patched) = self.try_patch(path, form, change).await;
        assert_eq!(code, 200, "{patched}");
        patched
    }

    async fn try_patch(&self, path: &str, form: &str, change: &Value) -> (u16, Value) {
        self.send("PATCH", path, &format!("application/{form}+json"), change).await
    }

    async fn get(&self, path: &str) -> (u16, Value) {
        self.send("GET", path, "application/json", &Value::Null).await
    }
}

/// The path of the collection of an object.
fn collection(resource: &str, object: &Value) -> String {
    let api = object["apiVersion"].as_str().expect("it has a version");
    match object["metadata"]["namespace"].as_str() {
        Some(namespace) => format!("/apis/{api}/namespaces/{namespace}/{resource}"),
        None => format!("/apis/{api}/{resource}"),
    }
}

/// An object of a file, without what only a server sets.
fn fixture(yaml: &str) -> Value {
    let mut object: Value = formats::yaml::from_str(yaml).expect("a fixture");
    let metadata = object["metadata"].as_object_mut().expect("it has metadata");
    metadata.retain(|field, _| matches!(field.as_str(), "name" | "namespace" | "labels" | "annotations"));
    object
}

/// A Shoot with one pool.
fn shoot() -> Value {
    fixture(include_str!("../../../../contracts/fixtures/shoot.yaml"))
}

const SHOOT: &str = "/apis/core.gardener.cloud/v1beta1/namespaces/garden-dev/shoots/app";

/// A Seed with backups and three zones.
fn seed(name: &str) -> Value {
    json!({
        "apiVersion": "core.gardener.cloud/v1beta1", "kind": "Seed", "metadata": {"name": name},
        "spec": {
            "provider": {"type": "local", "region": "local", "zones": ["a", "b", "c"]},
            "networks": {"pods": "10.1.0.0/16", "services": "10.2.0.0/16", "nodes": "10.3.0.0/16"},
            "dns": {"provider": {"type": "local", "secretRef": {"name": "dns", "namespace": "garden"}}},
            "ingress": {"domain": format!("{name}.example.com"), "controller": {"kind": "nginx"}},
            "backup": {"provider": "local", "region": "local", "secretRef": {"name": "backup", "namespace": "garden"}},
        },
    })
}

fn project() -> Value {
    json!({
        "apiVersion": "core.gardener.cloud/v1beta1", "kind": "Project", "metadata": {"name": "dev"},
        "spec": {
            "namespace": NAMESPACE,
            "tolerations": {"whitelist": [{"key": "a"}, {"key": "b", "value": "1"}], "defaults": [{"key": "a"}]},
        },
    })
}

const PROJECT: &str = "/apis/core.gardener.cloud/v1beta1/projects/dev";
