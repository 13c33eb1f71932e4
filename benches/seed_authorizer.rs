//! The graph of a garden with 10,000 Shoots on 500 Seeds: building it, one event, and decisions about requests of gardenlets.

#![expect(clippy::unwrap_used, reason = "a failure should end the benchmark")]

use std::hint::black_box;

use api::garden::{Seed, Shoot};
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use gardener_admission_controller::authorizer::{
    AccessQuestion, GraphAt, ResourceAttributes, UnknownDeletions, decide,
};
use gardener_admission_controller::graph::{Contributes, Graph};
use jiff::Timestamp;
use serde_json::{Value, json};

const SEEDS: usize = 500;
const SHOOTS: usize = 10_000;
/// Shoots of one namespace.
const NEIGHBOURS: usize = 5;

fn read<K: serde::de::DeserializeOwned>(value: &Value) -> K {
    K::deserialize(value).unwrap()
}

fn seed(number: usize) -> Seed {
    read(&json!({
        "metadata": {"name": format!("seed-{number}")},
        "spec": {
            "provider": {"type": "local", "region": "local"},
            "networks": {"pods": "10.1.0.0/16", "services": "10.2.0.0/16"},
            "backup": {"provider": "local", "secretRef": {"name": "backup", "namespace": "garden"}},
        },
    }))
}

fn shoot(number: usize) -> Shoot {
    read(&json!({
        "metadata": {"name": format!("shoot-{number}"), "namespace": format!("garden-{}", number / NEIGHBOURS)},
        "spec": {
            "cloudProfileName": "local", "region": "local", "secretBindingName": "account", "purpose": "production",
            "kubernetes": {"version": "1.27.3"}, "networking": {"type": "calico"},
            "provider": {"type": "local", "workers": []}, "seedName": format!("seed-{}", number % SEEDS),
        },
        "status": {"technicalID": format!("shoot--{number}")},
    }))
}

fn garden() -> (Vec<Seed>, Vec<Shoot>) {
    ((0..SEEDS).map(seed).collect(), (0..SHOOTS).map(shoot).collect())
}

fn graph((seeds, shoots): &(Vec<Seed>, Vec<Shoot>)) -> Graph {
    let mut graph = Graph::default();
    for seed in seeds {
        graph.put(&seed.vertex(), seed.contribution());
    }
    for shoot in shoots {
        graph.put(&shoot.vertex(), shoot.contribution());
    }
    graph
}

/// What a gardenlet wants to do with an object of the Shoot of this number.
fn question(seed: usize, verb: &str, (resource, shoot, suffix): (&str, usize, &str)) -> AccessQuestion {
    let (group, resource) = resource.split_once('/').unwrap_or(("", resource));
    AccessQuestion {
        user: format!("gardener.cloud:system:seed:seed-{seed}"),
        groups: vec!["gardener.cloud:system:seeds".to_owned()],
        attributes: Some(ResourceAttributes {
            group: group.to_owned(),
            resource: resource.to_owned(),
            verb: verb.to_owned(),
            namespace: format!("garden-{}", shoot / NEIGHBOURS),
            name: format!("shoot-{shoot}{suffix}"),
            ..ResourceAttributes::default()
        }),
    }
}

fn building(c: &mut Criterion) {
    let garden = garden();
    let mut group = c.benchmark_group("graph of 10,000 Shoots");
    group.sample_size(10);
    group.bench_function("build", |b| b.iter(|| black_box(graph(&garden))));
    group.finish();
    let built = graph(&garden);
    let mut moved = shoot(7);
    moved.spec.seed_name = Some("seed-9".to_owned());
    c.bench_function("a Shoot moves to another Seed", |b| {
        b.iter_batched_ref(
            || built.clone(),
            |graph| graph.put(&moved.vertex(), moved.contribution()),
            BatchSize::SmallInput,
        );
    });
}

fn deciding(c: &mut Criterion) {
    let graph = graph(&garden());
    let paths = GraphAt { graph: &graph, now: Timestamp::UNIX_EPOCH };
    let shoots = "core.gardener.cloud/shoots";
    let questions = [
        ("its own Shoot", question(7, "update", (shoots, 7, ""))),
        ("a Secret of its Shoot", question(7, "get", ("secrets", 7, ".kubeconfig"))),
        ("a Shoot of another Seed", question(8, "update", (shoots, 7, ""))),
        ("a Secret of another Seed's Shoot", question(8, "get", ("secrets", 7, ".kubeconfig"))),
    ];
    for (name, question) in &questions {
        c.bench_function(&format!("decide about {name}"), |b| {
            b.iter(|| black_box(decide(question, &paths, UnknownDeletions::Allowed)));
        });
    }
}

criterion_group!(benches, building, deciding);
criterion_main!(benches);
