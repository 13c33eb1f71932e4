//! Which request is sent to which webhook: rules, selectors and match policy, evaluated as kube-apiserver does.
//!
//! One function serves the `direct` substrate and the embedded API server.

mod client;
mod lint;
mod matching;
mod object;

use std::collections::BTreeMap;

use formats::selector::LabelSelector;
use serde::{Deserialize, Serialize};

use crate::review::Operation;

pub use client::{Address, AddressError};
pub use lint::{lint, lint_client_config};
pub use matching::matches;
pub use object::ReadError;

/// Whether a webhook may change the object or only judge it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// From a MutatingWebhookConfiguration.
    Mutating,
    /// From a ValidatingWebhookConfiguration.
    Validating,
}

/// What a failed call means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum FailurePolicy {
    /// The request goes on.
    Ignore,
    /// The request is refused.
    #[default]
    Fail,
}

/// Whether a rule also covers the same object in another version or group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum MatchPolicy {
    /// Only what the rule says.
    Exact,
    /// The same object in any version.
    #[default]
    Equivalent,
}

/// Whether a webhook is called again after a later one changed the object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReinvocationPolicy {
    /// Once per request.
    #[default]
    Never,
    /// Again when needed.
    IfNeeded,
}

/// What a rule covers; `*` stands for all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Rule {
    /// CREATE, UPDATE, DELETE, CONNECT or `*`.
    pub operations: Vec<String>,
    /// API groups.
    pub api_groups: Vec<String>,
    /// API versions.
    pub api_versions: Vec<String>,
    /// `pods`, `pods/status`, `*`, `*/*`, `pods/*`, `*/status`.
    pub resources: Vec<String>,
    /// `Cluster`, `Namespaced` or `*` (default).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
}

/// Where a webhook is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ClientConfig {
    /// An `https` address with path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// A Service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<ServiceReference>,
    /// PEM bundle of the authorities trusted, base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca_bundle: Option<String>,
}

/// A Service that serves a webhook.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ServiceReference {
    /// Namespace of the Service.
    pub namespace: String,
    /// Name of the Service.
    pub name: String,
    /// Path of the webhook.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Port of the Service; 443 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
}

/// One webhook of a webhook configuration, as the API writes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Registration {
    /// Fully qualified name.
    pub name: String,
    /// Where it is reached.
    pub client_config: ClientConfig,
    /// What it is asked about; any of these rules.
    pub rules: Vec<Rule>,
    /// Namespaces whose objects it is asked about; absent or empty: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace_selector: Option<LabelSelector>,
    /// Objects it is asked about; absent or empty: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_selector: Option<LabelSelector>,
    /// What a failed call means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_policy: Option<FailurePolicy>,
    /// Whether other versions of the same object count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_policy: Option<MatchPolicy>,
    /// `None`, `NoneOnDryRun`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side_effects: Option<String>,
    /// Seconds, 1 to 30; default 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u32>,
    /// Versions it understands, best first.
    pub admission_review_versions: Vec<String>,
    /// Whether it may be called twice; mutating only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reinvocation_policy: Option<ReinvocationPolicy>,
}

/// A webhook configuration object: its kind, name and webhooks.
#[derive(Clone, Debug, PartialEq)]
pub struct WebhookConfiguration {
    /// Mutating or validating.
    pub phase: Phase,
    /// Name of the object.
    pub name: String,
    /// Labels of the object.
    pub labels: BTreeMap<String, String>,
    /// Its webhooks, in order.
    pub webhooks: Vec<Registration>,
}

/// What is known of a request when webhooks are chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attributes<'a> {
    /// API group of the request.
    pub group: &'a str,
    /// API version of the request.
    pub version: &'a str,
    /// Plural resource name.
    pub resource: &'a str,
    /// Empty, or `status` and so on.
    pub subresource: &'a str,
    /// Namespace of the object, empty if cluster-scoped. A Namespace is in itself.
    pub namespace: &'a str,
    /// The other (group, version, resource) under which the same object is served.
    pub equivalents: &'a [(String, String, String)],
    /// What is done.
    pub operation: Option<Operation>,
}
