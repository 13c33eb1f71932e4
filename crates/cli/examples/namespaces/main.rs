//! Prints namespaces of shoots as gardenlet v1.82 emits them, as many as are wanted: `cargo run --example namespaces -- 10000`.

#![expect(clippy::expect_used, reason = "an example that cannot read its contracts ends")]

mod emitted;

use std::io::{self, BufWriter, Write as _};

use contract::model::Catalog;
use emitted::emitted;
use formats::yaml;

const NAMESPACE: &str = "shoot--dev--app";

fn main() -> io::Result<()> {
    let number: usize = std::env::args().nth(1).and_then(|number| number.parse().ok()).unwrap_or(1);
    let fixtures = Catalog::embedded().expect("the contracts are well-formed").fixtures;
    let objects = emitted(&fixtures, NAMESPACE)?;
    let texts = objects.iter().map(yaml::to_string).collect::<Result<Vec<_>, _>>()?;
    let mut out = BufWriter::new(io::stdout().lock());
    for at in 0..number {
        for text in &texts {
            write!(out, "---\n{}", text.replace(NAMESPACE, &format!("shoot--dev--app-{at}")))?;
        }
    }
    out.flush()
}
