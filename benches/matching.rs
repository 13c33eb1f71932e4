//! Contracts: loading and expanding all, and comparing answers with what cases assert.

use std::hint::black_box;

use contract::expect::compare;
use contract::load;
use contract::model::Contract;
use criterion::{Criterion, criterion_group, criterion_main};

fn loading(c: &mut Criterion) {
    let files = contracts::files();
    c.bench_function("load every contract", |b| b.iter(|| black_box(load::read(&files))));
}

fn comparing(c: &mut Criterion) {
    let catalog = contracts::all().expect("the contracts are well-formed");
    for name in ["seccomp-profile", "high-availability-config"] {
        let contract = catalog.iter().find(|contract| contract.name == name).expect("the contract is there");
        c.bench_function(&format!("compare every case of {name} with its input"), |b| {
            b.iter(|| black_box(compare_unchanged(contract)));
        });
    }
}

/// The number of mismatches of a target that changes nothing, in all cases that assert an object.
fn compare_unchanged(contract: &Contract) -> usize {
    let cases = contract.clauses.iter().flat_map(|clause| &clause.cases);
    let asserted = cases.filter_map(|case| Some((case.then.object.as_ref()?, case.given.object.as_ref()?)));
    asserted
        .map(|(expect, object)| compare(expect, Some(object), Some(object), &contract.rules(object)).len())
        .sum()
}

criterion_group!(benches, loading, comparing);
criterion_main!(benches);
