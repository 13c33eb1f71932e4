//! Benchmarks of the steps of a review: read, decide, diff, write; then of the whole review in process and over TLS.

#![expect(clippy::unwrap_used, reason = "what fails here ends the bench")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rcgen::generate_simple_self_signed;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use webhook::answer::{Answer, encode};
use webhook::dial::{Dialer as _, Https, InProcess, Target, Trust};
use webhook::review::{AdmissionRequest, Review};
use webhook::server::{Certificates, Patience, TlsOptions, config, serve};
use webhook::service::{Limits, Route, Webhook, WebhookService, service};
use webhook::{mutation, object, patch};

/// Makes changes of the same cost as high-availability-config to a Deployment: replicas, affinity, constraints.
struct Spread;

#[async_trait]
impl Webhook for Spread {
    async fn answer(&self, request: &AdmissionRequest<'_>) -> Answer {
        mutation::answer(request, |deployment| {
            spread(deployment);
            Ok(())
        })
    }
}

fn spread(deployment: &mut Value) {
    object::set(deployment, &["spec", "replicas"], 2).unwrap();
    let pod = deployment.pointer_mut("/spec/template/spec").unwrap();
    let labels = json!({"matchLabels": {"app": "kube-apiserver", "role": "server"}});
    let constraint = |key: &str| {
        json!({"topologyKey": key, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": labels})
    };
    let constraints = object::list_mut(pod, &["topologySpreadConstraints"]).unwrap();
    constraints.push(constraint("kubernetes.io/hostname"));
    constraints.push(constraint("topology.kubernetes.io/zone"));
    let zones = json!({"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["a", "b", "c"]});
    let terms =
        ["affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"];
    object::list_mut(pod, &terms).unwrap().push(json!({"matchExpressions": [zones]}));
}

/// A review of about 3 KiB.
fn review() -> Bytes {
    let container = |name: &str| {
        json!({
            "name": name, "image": "registry.example.com/images/component:v1.2.3", "imagePullPolicy": "IfNotPresent",
            "args": ["--v=2", "--secure-port=443", "--kubeconfig=/var/run/kubeconfig", "--leader-elect=true"],
            "ports": [{"name": "https", "containerPort": 443, "protocol": "TCP"}],
            "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "1Gi"}},
            "volumeMounts": [{"name": "kubeconfig", "mountPath": "/var/run", "readOnly": true},
                {"name": "certificates", "mountPath": "/srv/certificates"}],
            "livenessProbe": {"httpGet": {"path": "/healthz", "port": 443, "scheme": "HTTPS"}, "periodSeconds": 10},
        })
    };
    let labels = json!({"app": "kube-apiserver", "role": "server", "gardener.cloud/role": "controlplane"});
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "kube-apiserver", "namespace": "shoot--a--b", "labels": labels, "generation": 3,
            "annotations": {"checksum": "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}},
        "spec": {"replicas": 1, "revisionHistoryLimit": 1, "selector": {"matchLabels": labels},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 0}},
            "template": {"metadata": {"labels": labels}, "spec": {
                "containers": [container("server"), container("sidecar")], "priorityClassName": "gardener-system-500",
                "serviceAccountName": "kube-apiserver", "terminationGracePeriodSeconds": 30,
                "volumes": [{"name": "kubeconfig", "secret": {"secretName": "kubeconfig", "defaultMode": 420}},
                    {"name": "certificates", "emptyDir": {}}]}}},
        "status": {},
    });
    let gvk = json!({"group": "apps", "version": "v1", "kind": "Deployment"});
    let gvr = json!({"group": "apps", "version": "v1", "resource": "deployments"});
    json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {"uid": "0b4f5c7e-1d2e-4f60-8a3b-9c1d2e3f4a5b", "kind": gvk, "resource": gvr, "requestKind": gvk,
            "requestResource": gvr, "name": "kube-apiserver", "namespace": "shoot--a--b", "operation": "CREATE",
            "userInfo": {"username": "gardenlet", "groups": ["gardener.cloud:system:seeds", "system:authenticated"]},
            "object": deployment, "oldObject": null, "dryRun": false,
            "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"}},
    })
    .to_string()
    .into()
}

fn spread_service() -> WebhookService {
    let route = Route { name: "spread", path: "/spread".to_owned(), webhook: Arc::new(Spread) };
    service(vec![route], Limits::default())
}

fn steps(bench: &mut Criterion) {
    let body = review();
    let mut group = bench.benchmark_group("review");
    group.throughput(Throughput::Bytes(body.len() as u64));
    group.bench_function("read", |b| {
        b.iter(|| Review::read(black_box(&body)).unwrap().request.unwrap().uid.len());
    });
    let read = Review::read(&body).unwrap();
    let request = read.request.as_ref().unwrap();
    group.bench_function("decode", |b| b.iter(|| mutation::decode(black_box(request.object)).unwrap()));
    let before = mutation::decode(request.object).unwrap();
    group.bench_function("clone and decide", |b| {
        b.iter(|| {
            let mut after = black_box(&before).clone();
            spread(&mut after);
            after
        });
    });
    let mut after = before.clone();
    spread(&mut after);
    group.bench_function("diff", |b| b.iter(|| patch::between(black_box(&before), &after)));
    let answer = Answer::patched(patch::between(&before, &after));
    group.bench_function("write", |b| b.iter(|| encode(read.envelope(), black_box(&answer))));
    group.finish();
}

fn round_trip(bench: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let body = review();
    let minute = Duration::from_mins(1);
    let mut group = bench.benchmark_group("service");
    group.throughput(Throughput::Elements(1));
    let dialer = InProcess::new(spread_service());
    group.bench_function("in process", |b| {
        b.to_async(&runtime).iter(|| async { dialer.post("/spread", body.clone(), minute).await.unwrap() });
    });
    let address = runtime.block_on(serve_over_tls());
    let url = format!("https://{address}");
    let dialer =
        Https::new(&Target { url, address: None, server_name: None, trust: Trust::Insecure }).unwrap();
    group.bench_function("TLS, kept alive, client included", |b| {
        b.to_async(&runtime).iter(|| async { dialer.post("/spread", body.clone(), minute).await.unwrap() });
    });
    group.finish();
}

/// Serves the webhook over TLS and returns the address.
async fn serve_over_tls() -> String {
    let pair = generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let (certificate, key) = (pair.cert.pem(), pair.signing_key.serialize_pem());
    let certificates = Certificates::from_pem(certificate.as_bytes(), key.as_bytes()).unwrap();
    let tls = config(Arc::new(certificates), TlsOptions::default()).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(serve(listener, Some(tls), spread_service(), Patience::default(), std::future::pending()));
    address
}

criterion_group!(benches, steps, round_trip);
criterion_main!(benches);
