//! How a component is installed in a cluster, by the manifests in `kind/manifests/<name>`.

use serde_json::Value;
use webhook::registration::WebhookConfiguration;

use crate::Manifests;

/// How a component is installed in a cluster.
#[derive(Debug)]
pub struct Installation {
    /// Its manifests.
    pub manifests: Manifests,
    /// The namespace of a component that serves its cluster alone.
    pub namespace: &'static str,
    /// Its webhooks there; `None`: it has none.
    pub webhooks: Option<Webhooks>,
    /// How it answers cases of contracts in a cluster; `None`: cases are asked of it in this process alone.
    pub rollout: Option<Rollout>,
}

/// Webhooks that are registered once they are served.
#[derive(Debug)]
pub struct Webhooks {
    /// The Service that the registrations name.
    pub service: &'static str,
    /// The registrations, for the authority whose PEM this is, in base64; an error is the reason why the configuration among the
    /// manifests is refused.
    pub registrations: fn(&str) -> Result<Vec<WebhookConfiguration>, String>,
    /// An object that the webhooks are asked about.
    pub probe: fn() -> Probe,
}

/// What shows that the API server reaches webhooks: a dry run of it is answered.
#[derive(Debug)]
pub struct Probe {
    /// Objects that must exist before.
    pub around: Vec<Value>,
    /// What is created in a dry run.
    pub object: Value,
}

/// A component that runs with each configuration that cases need, side by side.
#[derive(Debug)]
pub struct Rollout {
    /// How configurations of cases become those of rollouts.
    pub combining: Combining,
    /// The configuration file for a configuration of cases; `None`: the component has none. An error is the reason for a refusal.
    pub file: fn(&Value) -> Result<Option<Value>, String>,
    /// Its registrations under a configuration of a case, for an instance (`seed` or `shoot`).
    pub registrations: fn(&Value, &str) -> Result<Vec<WebhookConfiguration>, String>,
}

/// How the configurations of cases become those of rollouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combining {
    /// Configurations that do not set the same section share a rollout.
    Sections,
    /// Each configuration has a rollout of its own: what it leaves out counts as well.
    Nothing,
}
