//! Decides which request is sent to which webhook: rules, selectors and match policy, evaluated as by kube-apiserver.
//!
//! The `direct` substrate and the embedded API server use the same function, [`matches()`].

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

/// Whether a webhook may change the object or only validate it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// From a MutatingWebhookConfiguration.
    Mutating,
    /// From a ValidatingWebhookConfiguration.
    Validating,
}

/// Effect of a failed call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum FailurePolicy {
    /// The request continues.
    Ignore,
    /// The request is rejected.
    #[default]
    Fail,
}

/// Whether a rule also covers the same object in another version or group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum MatchPolicy {
    /// Only the version and group of the rule.
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

/// A rule; `*` matches everything.
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

/// Address of a webhook.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ClientConfig {
    /// An `https` address with path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// A Service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<ServiceReference>,
    /// PEM bundle of the trusted authorities, in base64.
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
    /// Its address.
    pub client_config: ClientConfig,
    /// Requests that it receives: those that match any of these rules.
    pub rules: Vec<Rule>,
    /// Namespaces of the objects that it receives; absent or empty: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace_selector: Option<LabelSelector>,
    /// Objects that it receives; absent or empty: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_selector: Option<LabelSelector>,
    /// Effect of a failed call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_policy: Option<FailurePolicy>,
    /// Whether rules also match other versions of the same object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_policy: Option<MatchPolicy>,
    /// `None`, `NoneOnDryRun`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side_effects: Option<String>,
    /// Seconds, 1 to 30; default 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u32>,
    /// Versions of AdmissionReview that it supports, preferred first.
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

/// The attributes of a request that decide which webhooks receive it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attributes<'a> {
    /// API group of the request.
    pub group: &'a str,
    /// API version of the request.
    pub version: &'a str,
    /// Plural resource name.
    pub resource: &'a str,
    /// Empty, or a name such as `status`.
    pub subresource: &'a str,
    /// Namespace of the object, empty if cluster-scoped. For a Namespace, its own name.
    pub namespace: &'a str,
    /// The other resources (group, version, resource) that serve the same object.
    pub equivalents: &'a [(String, String, String)],
    /// The operation.
    pub operation: Option<Operation>,
}
