//! The hot path of the managed-resource controller: decoding manifests of Secrets, and comparing them with live objects.
//!
//! Half of the objects are Deployments, the others ConfigMaps, as in a control plane.

use std::collections::BTreeMap;
use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use gardener_resource_manager::managed_resource::ManagedResource;
use gardener_resource_manager::managed_resource::inject::labels_to_inject;
use gardener_resource_manager::managed_resource::inventory::{Inventory, KindScope};
use gardener_resource_manager::managed_resource::manifests::Manifests;
use gardener_resource_manager::managed_resource::merge::{Overwrite, Preserve, Rules};
use gardener_resource_manager::managed_resource::write::{ObjectWrite, write};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use serde_json::{Value, json};

const SIZES: [usize; 4] = [1, 60, 1_000, 10_000];

/// A Secret with `size` manifests, one per key.
fn secret(size: usize, notation: &str) -> Secret {
    let values = (0..size).map(|number| {
        let object = if number % 2 == 0 { deployment(number) } else { config_map(number) };
        let text = match notation {
            "JSON" => object.to_string(),
            _ => formats::yaml::to_string(&object).expect("it is JSON"),
        };
        (format!("object-{number}.yaml"), ByteString(text.into_bytes()))
    });
    Secret { data: Some(values.collect()), ..Secret::default() }
}

fn deployment(number: usize) -> Value {
    let name = format!("component-{number}");
    let container = |container: &str| {
        json!({
            "name": container, "image": format!("registry.example.org/{container}:v1.2.3"), "imagePullPolicy": "IfNotPresent",
            "args": ["--config=/etc/config/config.yaml", "--v=2", format!("--instance={number}")],
            "ports": [{"name": "metrics", "containerPort": 8080, "protocol": "TCP"}],
            "resources": {"requests": {"cpu": "50m", "memory": "100Mi"}, "limits": {"memory": "500Mi"}},
            "volumeMounts": [{"name": "config", "mountPath": "/etc/config"}],
        })
    };
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": name, "namespace": "shoot--project--name", "labels": {"app": name, "role": "controlplane"}},
        "spec": {
            "replicas": 2, "revisionHistoryLimit": 1, "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name, "role": "controlplane"}, "annotations": {"checksum/config": "d41d8cd9"}},
                "spec": {
                    "serviceAccountName": name, "priorityClassName": "gardener-system-300",
                    "containers": [container("main"), container("sidecar")],
                    "volumes": [{"name": "config", "configMap": {"name": name}}],
                },
            },
        },
    })
}

fn config_map(number: usize) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": format!("config-{number}"), "namespace": "shoot--project--name", "labels": {"app": "x"}},
        "data": {"config.yaml": "kind: Configuration\nlogLevel: info\n".repeat(8), "number": number.to_string()},
    })
}

fn inventory(secret: &Secret) -> Inventory {
    Inventory::compute(&ManagedResource::default(), Manifests::read(&[secret]), "gardener", |_| {
        Some(KindScope::Namespaced)
    })
}

/// Plans the write for each object.
fn writes(inventory: &Inventory, live: &[Option<Value>]) -> Vec<ObjectWrite> {
    let inject: BTreeMap<String, String> = labels_to_inject(None, "gardener");
    let objects = inventory.wanted.iter().zip(live);
    let writes = objects.map(|(wanted, live)| {
        let rules = Rules {
            origin: "cluster:namespace/name",
            inject: &inject,
            force_overwrite: Overwrite::default(),
            applied: &wanted.applied,
            preserve: Preserve::default(),
        };
        write(&rules, &wanted.object, live.as_ref(), false).expect("the manifests are complete")
    });
    writes.collect()
}

/// The objects in the cluster after they were written.
fn live(inventory: &Inventory) -> Vec<Option<Value>> {
    let absent = vec![None; inventory.wanted.len()];
    let created = writes(inventory, &absent).into_iter().map(|write| match write {
        ObjectWrite::Create(mut object) => {
            object["metadata"]["resourceVersion"] = json!("1234");
            object["metadata"]["uid"] = json!("8c3d49f6-e177-4938-8547-c61283a84876");
            object["status"] = json!({"observedGeneration": 1, "replicas": 2, "readyReplicas": 2});
            Some(object)
        }
        _ => None,
    });
    created.collect()
}

fn decode_and_plan(criterion: &mut Criterion) {
    for notation in ["YAML", "JSON"] {
        let mut group = criterion.benchmark_group(format!("decode and plan, {notation}"));
        group.sample_size(10);
        for size in SIZES {
            let secret = secret(size, notation);
            let live = live(&inventory(&secret));
            group.throughput(Throughput::Elements(size as u64));
            group.bench_function(BenchmarkId::from_parameter(size), |bencher| {
                bencher.iter(|| writes(&inventory(black_box(&secret)), &live));
            });
        }
        group.finish();
    }
}

fn plan_only(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("plan, 1000 decoded objects");
    group.sample_size(10).throughput(Throughput::Elements(1_000));
    let inventory = inventory(&secret(1_000, "YAML"));
    let live = live(&inventory);
    assert!(
        writes(&inventory, &live).iter().all(|write| *write == ObjectWrite::Nothing),
        "nothing has changed"
    );
    group.bench_function("nothing has changed", |bencher| {
        bencher.iter(|| writes(black_box(&inventory), &live));
    });
    let absent = vec![None; live.len()];
    group.bench_function("nothing is there", |bencher| {
        bencher.iter(|| writes(black_box(&inventory), &absent));
    });
    group.finish();
}

criterion_group!(all, decode_and_plan, plan_only);
criterion_main!(all);
