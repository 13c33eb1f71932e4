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
    /// Its webhooks there; `None` if it has none.
    pub webhooks: Option<Webhooks>,
    /// How it answers cases of contracts in a cluster; `None` if its cases run only in this process.
    pub rollout: Option<Rollout>,
}

/// Webhooks that are registered once the component serves them.
#[derive(Debug)]
pub struct Webhooks {
    /// The Service that the registrations name.
    pub service: &'static str,
    /// Builds the registrations; the argument is the CA bundle (PEM in base64). An error is the reason why the
    /// component refuses the configuration in its manifests.
    pub registrations: fn(&str) -> Result<Vec<WebhookConfiguration>, String>,
    /// Builds the object whose creation tests the webhooks.
    pub probe: fn() -> Probe,
}

/// Tests whether the API server reaches the webhooks: it must answer a dry run of this object.
#[derive(Debug)]
pub struct Probe {
    /// Objects that must exist first.
    pub around: Vec<Value>,
    /// The object to create in a dry run.
    pub object: Value,
}

/// How a component runs in a cluster with each configuration that cases need, side by side.
#[derive(Debug)]
pub struct Rollout {
    /// How the configurations of cases are combined in rollouts.
    pub combining: Combining,
    /// Builds the configuration file from a configuration of cases; `None` if the component has no file. An error is
    /// the reason why it refuses the configuration.
    pub file: fn(&Value) -> Result<Option<Value>, String>,
    /// Builds the registrations for a configuration of a case and an instance (`seed` or `shoot`).
    pub registrations: fn(&Value, &str) -> Result<Vec<WebhookConfiguration>, String>,
}

/// How the configurations of cases are combined in rollouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combining {
    /// Configurations that do not set the same section share a rollout.
    Sections,
    /// Each configuration has its own rollout, because omitting a section also has an effect.
    Nothing,
}
