//! Prints N namespaces of Shoots as gardenlet v1.82 emits them: `cargo run --example namespaces -- 10000`. Goes through all
//! combinations of the fixtures' variations (Kubernetes versions, nodes, VPNs, audit), and starts again after the last.

#![expect(clippy::expect_used, reason = "an example that cannot read its contracts ends")]

mod emitted;

use std::io::{self, BufWriter, Write as _};

use contract::model::Catalog;
use emitted::{control_planes, in_namespace};
use formats::yaml;

/// The namespace in the fixtures.
const NAMESPACE: &str = "shoot--dev--app";

fn main() -> io::Result<()> {
    let number: usize = std::env::args().nth(1).and_then(|number| number.parse().ok()).unwrap_or(1);
    let fixtures = Catalog::load(&contracts::files()).expect("the contracts are well-formed").fixtures;
    let text = |object: &serde_json::Value| yaml::to_string(&in_namespace(object, NAMESPACE)?);
    let texts =
        |objects: Vec<&serde_json::Value>| objects.into_iter().map(text).collect::<Result<Vec<_>, _>>();
    let control_planes = control_planes(&fixtures)
        .into_iter()
        .map(|(_, objects)| texts(objects))
        .collect::<Result<Vec<_>, _>>()?;
    let mut out = BufWriter::new(io::stdout().lock());
    for (at, texts) in control_planes.iter().cycle().take(number).enumerate() {
        for text in texts {
            write!(out, "---\n{}", text.replace(NAMESPACE, &format!("shoot--dev--app-{at}")))?;
        }
    }
    out.flush()
}
