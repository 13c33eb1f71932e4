//! Each webhook of the resource-manager: from the bytes of a review to the bytes of the answer, without TLS.

use controller::config::Configuration as _;
use std::hint::black_box;
use std::time::Duration;

use apiserver::ApiServer;
use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use gardener_resource_manager::config::ResourceManagerConfiguration;
use gardener_resource_manager::serving::{Clients, Webhooks, webhooks};
use http::Request;
use http_body_util::{BodyExt as _, Full};
use kube::Client;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tower::ServiceExt as _;

/// A configuration that enables all webhooks.
fn config() -> Value {
    let on = json!({"enabled": true});
    json!({
        "controllers": {"tokenInvalidator": on},
        "webhooks": {
            "crdDeletionProtection": on, "endpointSliceHints": on, "extensionValidation": on,
            "highAvailabilityConfig": {
                "enabled": true, "defaultNotReadyTolerationSeconds": 60, "defaultUnreachableTolerationSeconds": 60,
            },
            "kubernetesServiceHost": {"enabled": true, "host": "api.example.com"},
            "systemComponentsConfig": {
                "enabled": true, "podNodeSelector": {"worker.gardener.cloud/system-components": "true"},
                "podTolerations": [{"key": "dedicated", "operator": "Exists"}],
            },
            "podSchedulerName": {"enabled": true, "schedulerName": "bin-packing-scheduler"},
            "podTopologySpreadConstraints": on, "projectedTokenMount": on, "seccompProfile": on,
            "tokenInvalidator": on,
        },
    })
}

/// A Pod template of typical size, about 2 KB.
fn template() -> Value {
    let environment: Vec<Value> = (0..12)
        .map(|index| json!({"name": format!("VARIABLE_{index}"), "value": format!("a value of some length {index}")}))
        .collect();
    json!({
        "metadata": {"name": "app", "labels": {"app": "app", "pod-template-hash": "7d4b9c6f5d"}},
        "spec": {
            "serviceAccountName": "app",
            "topologySpreadConstraints": [
                {"topologyKey": "kubernetes.io/hostname", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"},
            ],
            "containers": [{
                "name": "app", "image": "registry.example.com/app:v1.2.3", "env": environment,
                "command": ["/app", "--kubeconfig=/etc/kubeconfig", "--leader-elect=true", "--v=2"],
                "livenessProbe": {"httpGet": {"path": "/healthz", "port": 8081, "scheme": "HTTP"}},
                "resources": {"requests": {"cpu": "23m", "memory": "47Mi"}, "limits": {"memory": "512Mi"}},
            }],
            "volumes": [{"name": "config", "configMap": {"name": "app-config", "defaultMode": 420}}],
        },
    })
}

/// A request to a webhook.
struct WebhookRequest {
    /// The name of the webhook.
    name: &'static str,
    path: &'static str,
    operation: &'static str,
    /// Group and kind of the object.
    kind: (&'static str, &'static str),
    object: Value,
}

fn requests() -> Vec<WebhookRequest> {
    let mut pod = template();
    pod["apiVersion"] = "v1".into();
    pod["kind"] = "Pod".into();
    let of_pods = [
        ("projected-token-mount", "/webhooks/mount-projected-service-account-token"),
        ("pod-topology-spread-constraints", "/webhooks/pod-topology-spread-constraints"),
        ("system-components-config", "/webhooks/system-components-config"),
        ("seccomp-profile", "/webhooks/seccomp-profile"),
        ("kubernetes-service-host", "/webhooks/kubernetes-service-host"),
        ("pod-scheduler-name", "/webhooks/default-pod-scheduler-name"),
    ];
    let mut requests: Vec<WebhookRequest> = of_pods
        .map(|(name, path)| WebhookRequest {
            name,
            path,
            operation: "CREATE",
            kind: ("", "Pod"),
            object: pod.clone(),
        })
        .into();
    requests.extend(of_other_kinds());
    requests.extend(of_extensions());
    requests
}

fn of_other_kinds() -> [WebhookRequest; 3] {
    let type_label = json!({"high-availability-config.resources.gardener.cloud/type": "server"});
    let consider_label = json!({"token-invalidator.resources.gardener.cloud/consider": "true"});
    let endpoints: Vec<Value> =
        (0..10).map(|index| json!({"addresses": [format!("10.0.0.{index}")], "zone": "a"})).collect();
    [
        WebhookRequest {
            name: "high-availability-config",
            path: "/webhooks/high-availability-config",
            operation: "CREATE",
            kind: ("apps", "Deployment"),
            object: json!({
                "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "app", "labels": type_label},
                "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "app"}}, "template": template()},
            }),
        },
        WebhookRequest {
            name: "endpoint-slice-hints",
            path: "/webhooks/endpoint-slice-hints",
            operation: "CREATE",
            kind: ("discovery.k8s.io", "EndpointSlice"),
            object: json!({
                "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": {"name": "app"},
                "addressType": "IPv4", "endpoints": endpoints,
            }),
        },
        WebhookRequest {
            name: "token-invalidator",
            path: "/webhooks/invalidate-service-account-token-secret",
            operation: "CREATE",
            kind: ("", "Secret"),
            object: json!({
                "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "app", "labels": consider_label},
                "data": {"token": "dG9rZW4=", "namespace": "YQ=="},
            }),
        },
    ]
}

fn of_extensions() -> [WebhookRequest; 2] {
    [
        WebhookRequest {
            name: "extension-validation",
            path: "/validate-extensions-gardener-cloud-v1alpha1-infrastructure",
            operation: "CREATE",
            kind: ("extensions.gardener.cloud", "Infrastructure"),
            object: infrastructure(),
        },
        WebhookRequest {
            name: "crd-deletion-protection",
            path: "/webhooks/validate-crd-deletion",
            operation: "DELETE",
            kind: ("extensions.gardener.cloud", "Infrastructure"),
            object: infrastructure(),
        },
    ]
}

/// An extension resource whose deletion is confirmed.
fn infrastructure() -> Value {
    json!({
        "apiVersion": "extensions.gardener.cloud/v1alpha1", "kind": "Infrastructure",
        "metadata": {
            "name": "app", "namespace": "a", "annotations": {"confirmation.gardener.cloud/deletion": "true"},
        },
        "spec": {"type": "aws", "region": "eu", "secretRef": {"name": "cloudprovider", "namespace": "a"}},
    })
}

/// The review of a request. A deleted object is in `oldObject`.
fn review(request: &WebhookRequest) -> Bytes {
    let (group, kind) = request.kind;
    let version = if group.starts_with("extensions") { "v1alpha1" } else { "v1" };
    let resource = format!("{}s", kind.to_lowercase());
    let field = if request.operation == "DELETE" { "oldObject" } else { "object" };
    let review = json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": "705ab4f5-6393-11e8-b7cc-42010a800002", "namespace": "a", "name": "app",
            "operation": request.operation, field: request.object,
            "kind": {"group": group, "version": version, "kind": kind},
            "resource": {"group": group, "version": version, "resource": resource},
        },
    });
    Bytes::from(review.to_string())
}

async fn send(webhooks: &Webhooks, path: &str, body: Bytes) -> Bytes {
    let request = Request::post(path)
        .header("content-type", "application/json")
        .body(Full::new(body))
        .expect("the path is a constant");
    let Ok(response) = webhooks.service.clone().oneshot(request).await;
    let Ok(collected) = response.into_body().collect().await;
    collected.to_bytes()
}

/// Starts the webhooks with a cluster that has the objects they read.
async fn start() -> Webhooks {
    let server = ApiServer::builder().namespace("a").build();
    let client = Client::new(server, "default");
    let account: k8s_openapi::api::core::v1::ServiceAccount =
        serde_json::from_value(json!({"metadata": {"name": "app"}, "automountServiceAccountToken": false}))
            .expect("a constant");
    let accounts = kube::Api::namespaced(client.clone(), "a");
    accounts.create(&kube::api::PostParams::default(), &account).await.expect("the server is empty");
    let config = ResourceManagerConfiguration::from_partial(&config()).expect("the configuration is valid");
    let webhooks = webhooks(&config, &Clients { source: client.clone(), target: client });
    webhooks.wait_until_synced().await;
    webhooks
}

fn bench(criterion: &mut Criterion) {
    let runtime = Runtime::new().expect("threads can be started");
    let webhooks = runtime.block_on(start());
    let mut group = criterion.benchmark_group("webhooks");
    group.measurement_time(Duration::from_secs(2)).warm_up_time(Duration::from_secs(1));
    for request in requests() {
        let (WebhookRequest { name, path, .. }, body) = (&request, review(&request));
        let answer = runtime.block_on(send(&webhooks, path, body.clone()));
        assert!(answer.windows(14).any(|window| window == b"\"allowed\":true"), "{name} denies the request");
        group.throughput(Throughput::Bytes(body.len() as u64));
        group.bench_function(*name, |bencher| {
            bencher.iter(|| runtime.block_on(send(&webhooks, path, black_box(body.clone()))));
        });
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
