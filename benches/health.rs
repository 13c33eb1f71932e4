//! The cost of health checks: reading Deployments from a list, and checking whether they are healthy and rolled out.

use std::hint::black_box;

use controller::reconcile::health::apps::Deployment;
use controller::reconcile::health::{Check as _, rollout};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use serde_json::{Value, json};

const ITEMS: usize = 1_000;

fn deployment(number: usize) -> Value {
    json!({
        "metadata": {
            "name": format!("component-{number}"), "namespace": "kube-system", "generation": 3,
            "annotations": {"resources.gardener.cloud/origin": "shoot--foo--bar/system"},
        },
        "spec": {
            "replicas": 1, "selector": {"matchLabels": {"app": format!("component-{number}")}},
            "template": {"spec": {"containers": [{"name": "c", "image": "i", "args": ["--a", "--b", "--c"]}]}},
        },
        "status": {"observedGeneration": 3, "replicas": 1, "conditions": [
            {"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable", "message": "M"},
            {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable", "message": "M"},
        ]},
    })
}

fn check_deployments(c: &mut Criterion) {
    let text = json!((0..ITEMS).map(deployment).collect::<Vec<_>>()).to_string();
    let read = || serde_json::from_str::<Vec<Deployment>>(&text).expect("they are Deployments");
    let deployments = read();
    let mut group = c.benchmark_group("health");
    group.throughput(Throughput::Elements(ITEMS as u64));
    group.bench_function("read 1,000 Deployments", |b| b.iter(|| black_box(read())));
    group.bench_function("check 1,000 Deployments", |b| {
        b.iter(|| {
            let is_healthy = |it: &&Deployment| it.check().is_ok() && rollout::deployment(it, |_| 1).is_ok();
            assert_eq!(black_box(deployments.iter().filter(is_healthy).count()), ITEMS);
        });
    });
    group.finish();
}

criterion_group!(benches, check_deployments);
criterion_main!(benches);
