//! The sentences of the documents that require nothing, listed so that no sentence is overlooked.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The sentences that require nothing, `kind: NotNormative`; `contracts/not-normative.yaml`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct NotNormative {
    /// `conformance.gardener.cloud/v1alpha1`.
    pub api_version: String,
    /// `NotNormative`.
    pub kind: String,
    /// The documents.
    pub documents: Vec<NotNormativeDocument>,
}

/// The sentences of one document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "OfDocument")]
pub struct NotNormativeDocument {
    /// Public document, Gardener's path: `docs/concepts/resource-manager.md`.
    pub document: String,
    /// Its version: `v1.63`.
    pub version: String,
    /// Why each sentence is not normative, by its hash ([`crate::sentence::hash`]).
    pub sentences: BTreeMap<String, Reason>,
}

/// Why a sentence requires nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Reason {
    /// Navigation of the page, beside its text.
    Navigation,
    /// A heading, of a section or of a table.
    Heading,
    /// It links to another document.
    Link,
    /// It introduces a list, a table or an example that states the content.
    Introduction,
    /// An object, a command or an output that illustrates other sentences.
    Example,
    /// How Kubernetes, a provider or something else outside Gardener works, or what a word means.
    Explanation,
    /// Why something exists.
    Motivation,
    /// What people should do.
    Advice,
    /// What was or will be.
    History,
    /// Another sentence of the documents says the same.
    Repetition,
}
