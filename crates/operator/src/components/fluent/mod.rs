//! How logs get to Vali: fluent-bit reads what the programs of each node write, fluent-operator runs it and writes its configuration
//! from custom resources.
//!
//! [`operator`] and [`bit`] are the two programs, [`garden_resources`] says how logs of a Garden's components are read. Scripts are our
//! own, so that the name of the ConfigMap with them is another than the original's.

pub mod bit;
pub mod garden_resources;
pub mod operator;

mod bit_object;
mod outputs;
mod parsing;
#[cfg(test)]
mod tests;

use serde_json::{Value, json};

use super::objects::{cluster_metadata, entries};

const API_VERSION: &str = "fluentbit.fluent.io/v1alpha2";
/// The label of custom resources that fluent-bit is configured from.
const SELECTED: (&str, &str) = ("fluentbit.gardener/type", "seed");

/// A custom resource of the cluster that fluent-bit is configured from.
fn selected(kind: &str, name: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": API_VERSION,
        "kind": kind,
        "metadata": cluster_metadata(name, &entries([SELECTED])),
        "spec": spec,
    })
}
