//! Prints namespaces of shoots as gardenlet v1.82 emits them, as many as are wanted: `cargo run --example namespaces -- 10000`.

#![expect(clippy::expect_used, reason = "an example that cannot read its contracts ends")]

use std::io::{self, BufWriter, Write as _};

use contract::model::Catalog;
use formats::yaml;

/// What is in each.
const OBJECTS: [&str; 9] = [
    "control-plane-namespace",
    "kube-apiserver",
    "kube-apiserver-service",
    "kube-controller-manager",
    "kube-scheduler",
    "etcd-main",
    "etcd-events",
    "osc-reconcile",
    "osc-provision",
];

fn main() -> io::Result<()> {
    let number: usize = std::env::args().nth(1).and_then(|number| number.parse().ok()).unwrap_or(1);
    let fixtures = Catalog::embedded().expect("the contracts are well-formed").fixtures;
    let texts: Vec<String> =
        OBJECTS.iter().map(|name| yaml::to_string(&fixtures[*name]).expect("an object is YAML")).collect();
    let mut out = BufWriter::new(io::stdout().lock());
    for at in 0..number {
        for text in &texts {
            write!(out, "---\n{}", text.replace("shoot--dev--app", &format!("shoot--dev--app-{at}")))?;
        }
    }
    out.flush()
}
