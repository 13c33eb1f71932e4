//! The sentences of the documents that ask nothing of anybody, so that no sentence is passed over in silence.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The sentences that ask nothing, `kind: NotNormative`; `contracts/not-normative.yaml`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct NotNormative {
    /// `conformance.gardener.cloud/v1alpha1`.
    pub api_version: String,
    /// `NotNormative`.
    pub kind: String,
    /// By document.
    pub documents: Vec<OfDocument>,
}

/// The sentences of one document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfDocument {
    /// Public document, Gardener's path: `docs/concepts/resource-manager.md`.
    pub document: String,
    /// Its version: `v1.63`.
    pub version: String,
    /// Why each is none, by its hash ([`crate::sentence::hash`]).
    pub sentences: BTreeMap<String, Reason>,
}

/// Why a sentence asks nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Reason {
    /// What a page has beside its text.
    Navigation,
    /// A heading, of a section or of a table.
    Heading,
    /// It leads to another document.
    Link,
    /// It begins a list, a table or an example, which says the thing itself.
    Introduction,
    /// An object, a command or an output that shows what other sentences say.
    Example,
    /// How Kubernetes, a provider or anything else that is not Gardener's works, or what a word means.
    Explanation,
    /// Why something is there.
    Motivation,
    /// What people should do.
    Advice,
    /// What was or will be.
    History,
    /// Another sentence of the documents says the same.
    Repetition,
}
