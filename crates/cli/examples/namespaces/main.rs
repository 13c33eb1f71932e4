//! Prints namespaces of shoots as gardenlet v1.82 emits them, as many as are wanted: `cargo run --example namespaces -- 10000`.
//! Every combination of the variations of the fixtures (versions of Kubernetes, nodes, VPNs, audit) has its turn.

#![expect(clippy::expect_used, reason = "an example that cannot read its contracts ends")]

mod emitted;

use std::io::{self, BufWriter, Write as _};

use contract::model::Catalog;
use emitted::{moved, varied};
use formats::yaml;

/// What stands in each object where its namespace is named.
const NAMESPACE: &str = "shoot--dev--app";

fn main() -> io::Result<()> {
    let number: usize = std::env::args().nth(1).and_then(|number| number.parse().ok()).unwrap_or(1);
    let fixtures = Catalog::load(&contracts::files()).expect("the contracts are well-formed").fixtures;
    let text = |object: &serde_json::Value| yaml::to_string(&moved(object, NAMESPACE)?);
    let of = |objects: Vec<&serde_json::Value>| objects.into_iter().map(text).collect::<Result<Vec<_>, _>>();
    let control_planes =
        varied(&fixtures).into_iter().map(|(_, objects)| of(objects)).collect::<Result<Vec<_>, _>>()?;
    let mut out = BufWriter::new(io::stdout().lock());
    for (at, texts) in control_planes.iter().cycle().take(number).enumerate() {
        for text in texts {
            write!(out, "---\n{}", text.replace(NAMESPACE, &format!("shoot--dev--app-{at}")))?;
        }
    }
    out.flush()
}
