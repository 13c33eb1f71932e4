//! How many changes of a component's code its contracts noticed, written by `cargo xtask mutants --write`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The figures of a component, `kind: Mutants`; `contracts/<component>/mutants.yaml`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Mutants {
    /// `conformance.gardener.cloud/v1alpha1`.
    pub api_version: String,
    /// `Mutants`.
    pub kind: String,
    /// The component.
    pub component: String,
    /// What chose the sample.
    pub seed: u64,
    /// All changes that compile.
    pub mutants: usize,
    /// How many of them were tried.
    pub tried: usize,
    /// How many of those a contract noticed.
    pub noticed: usize,
    /// How many survived for a stated reason.
    pub reasoned: usize,
    /// How many survived without one.
    pub open: usize,
}
