//! The schema of a file of variations.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// Variations of fixtures: tables, and how their rows change objects.
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(title = "Variations")]
pub(super) struct VariationsFile {
    #[schemars(extend("const" = "conformance.gardener.cloud/v1alpha1"))]
    api_version: String,
    #[schemars(extend("const" = "Variations"))]
    kind: String,
    metadata: VariationsMetadata,
    spec: VariationsSpec,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct VariationsMetadata {
    /// Name of the variations, for `vary` of a namespace: with-workers.
    name: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct VariationsSpec {
    /// Keys of lists that the schema does not declare: path → field.
    list_keys: Option<BTreeMap<String, String>>,
    /// Tables with bars; the first column of each names its rows, and one row of each makes a combination.
    #[schemars(length(min = 1))]
    axes: Vec<String>,
    /// Differences by fixture; `<column>` stands for a cell, `$is: <column>` removes an element or object if the cell
    /// is `absent`.
    change: BTreeMap<String, Map<String, Value>>,
}
