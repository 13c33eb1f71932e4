//! One decision over 1,000 Seeds and 20,000 Shoots, and one event of the index of their use.

#![expect(clippy::unwrap_used, reason = "a failure should end the benchmark")]

use std::hint::black_box;
use std::sync::Arc;

use api::garden::{CloudProfile, Seed, Shoot};
use criterion::{Criterion, criterion_group, criterion_main};
use gardener_scheduler::decision::{Inputs, Strategy, Usage, decide};
use serde_json::{Value, json};

const SEEDS: usize = 1_000;
const SHOOTS: usize = 20_000;
/// Regions that the Seeds are spread over.
const REGIONS: usize = 20;

fn read<K: serde::de::DeserializeOwned>(value: &Value) -> K {
    K::deserialize(value).unwrap()
}

fn seed(number: usize) -> Arc<Seed> {
    Arc::new(read(&json!({
        "metadata": {"name": format!("seed-{number:04}"), "labels": {"landscape": "live"}},
        "spec": {
            "provider": {"type": "local", "region": format!("europe-west{}", number % REGIONS), "zones": ["a", "b", "c"]},
            "networks": {"nodes": "10.0.0.0/16", "pods": "10.1.0.0/16", "services": "10.2.0.0/16"},
            "taints": [{"key": "seed.gardener.cloud/protected"}],
            "settings": {"scheduling": {"visible": true}},
        },
        "status": {
            "lastOperation": {"state": "Succeeded"},
            "conditions": [{"type": "ExtensionsReady", "status": "True"}, {"type": "GardenletReady", "status": "True"}],
            "allocatable": {"shoots": "250"},
        },
    })))
}

fn usage() -> Usage {
    let mut usage = Usage::default();
    for number in 0..SHOOTS {
        let (name, seed) = (format!("shoot-{number}"), format!("seed-{:04}", number * 7 % SEEDS));
        usage.observe(("garden-dev", &name), Some(&seed), Some(&seed));
    }
    usage
}

fn measure(criterion: &mut Criterion) {
    let seeds: Vec<Arc<Seed>> = (0..SEEDS).map(seed).collect();
    let mut usage = usage();
    let profile: CloudProfile = read(&json!({
        "metadata": {"name": "local"}, "spec": {"seedSelector": {"matchLabels": {"landscape": "live"}}},
    }));
    let shoot: Shoot = read(&json!({"spec": {
        "cloudProfileName": "local", "region": "europe-west3", "provider": {"type": "local", "workers": [{}]},
        "networking": {"nodes": "10.250.0.0/16", "pods": "100.64.0.0/11", "services": "100.104.0.0/13"},
        "tolerations": [{"key": "seed.gardener.cloud/protected"}],
        "controlPlane": {"highAvailability": {"failureTolerance": {"type": "zone"}}},
    }}));
    let mut group = criterion.benchmark_group("decision, 1,000 seeds, 20,000 shoots");
    for strategy in Strategy::ALL {
        let inputs = Inputs {
            shoot: &shoot,
            seeds: &seeds,
            usage: &usage,
            cloud_profile: Some(&profile),
            region_configs: &[],
            strategy,
        };
        group.bench_function(strategy.as_str(), |bencher| bencher.iter(|| decide(black_box(&inputs))));
    }
    group.bench_function("a shoot moves", |bencher| {
        let mut there = false;
        bencher.iter(|| {
            there = !there;
            let seed = if there { "seed-0001" } else { "seed-0002" };
            usage.observe(("garden-dev", "shoot-1"), Some(black_box(seed)), None);
        });
    });
    group.finish();
}

criterion_group!(benches, measure);
criterion_main!(benches);
