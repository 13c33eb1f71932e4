//! What gardener-apiserver does to a Shoot before it stores it: defaults, and validation of a new and of a changed one.

#![expect(clippy::unwrap_used, reason = "a failure should end the benchmark")]

use std::hint::black_box;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use gardener_garden::strategies;
use jiff::Timestamp;
use serde_json::Value;
use webhook::strategy::{ObjectReader, Situation, Strategy};

const SHOOT: &str = include_str!("../contracts/fixtures/shoot.yaml");

/// A garden without objects: the rules read none where plugins judge what depends on them.
struct Nothing;

impl ObjectReader for Nothing {
    fn get(&self, _: &str, _: &str, _: &str) -> Option<Value> {
        None
    }

    fn list(&self, _: &str) -> Vec<Value> {
        Vec::new()
    }
}

fn strategy() -> &'static Strategy {
    let kinds = strategies::typed_kinds();
    kinds.into_iter().find(|(kind, _)| kind.resource().plural == "shoots").unwrap().1
}

fn rules(c: &mut Criterion) {
    let strategy = strategy();
    let bare: Value = formats::yaml::from_str(SHOOT).unwrap();
    let mut shoot = bare.clone();
    (strategy.default)(&mut shoot).unwrap();
    let (now, has_plugins) = (Timestamp::UNIX_EPOCH, true);
    let situation = Situation { subresource: "", now, has_plugins, objects: &Nothing };
    (strategy.validate)(&situation, None, &shoot).unwrap();
    let mut changed = shoot.clone();
    changed["spec"]["purpose"] = "testing".into();

    c.bench_function("set the defaults of a Shoot", |b| {
        b.iter_batched_ref(
            || bare.clone(),
            |shoot| (strategy.default)(shoot).unwrap(),
            BatchSize::SmallInput,
        );
    });
    c.bench_function("validate a new Shoot", |b| {
        b.iter(|| black_box((strategy.validate)(&situation, None, &shoot)));
    });
    c.bench_function("validate a changed Shoot", |b| {
        b.iter(|| black_box((strategy.validate)(&situation, Some(&shoot), &changed)));
    });
}

criterion_group!(benches, rules);
criterion_main!(benches);
