//! A file of variations, as editors are told of it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// Fixtures as they vary: tables, and what their rows make of objects.
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
    /// What varies, as `vary` of a namespace names it: with-workers.
    name: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct VariationsSpec {
    /// Keys of lists that the schema does not know: path → field.
    list_keys: Option<BTreeMap<String, String>>,
    /// Tables drawn with bars; the first column of each names its rows, and one row of each makes a combination.
    #[schemars(length(min = 1))]
    axes: Vec<String>,
    /// Differences by fixture; `<column>` stands for a cell, `$is: <column>` takes out what a cell says is absent.
    change: BTreeMap<String, Map<String, Value>>,
}
