//! What is verified: an implementation that can be started with a configuration and asked.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use contract::case::Given;
use contract::decision::Decision;
use contract::model::Form;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use substrate::embedded::Embedded;
use webhook::dial::Dialer;
use webhook::registration::WebhookConfiguration;

use crate::rollouts::Rollouts;

pub mod built_in;
pub mod command;
mod configured;
mod error;
pub mod garden;
mod needs;
pub mod plain;
pub mod provider;
pub(crate) mod question;
pub mod url;

pub use component::Decided;
pub use configured::Configured;
pub use error::TargetError;
pub use needs::{Needs, NeedsError};

/// How an implementation is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum TargetKind {
    /// A component of this project, in process.
    BuiltIn,
    /// A webhook that runs already.
    Url,
    /// A binary that is started for the run.
    Command,
    /// A container that is started for the run.
    Image,
    /// A deployment inside a cluster.
    InCluster,
    /// Whoever wrote the objects that are read.
    Objects,
    /// A garden that runs already, with an API server of its own for Gardener's kinds.
    Garden,
}

/// Who is verified.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Identity {
    /// `gardener-resource-manager`.
    pub name: String,
    /// `v1.82.0`; absent where nobody told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// How it is reached.
    pub kind: TargetKind,
    /// The address, the command line, or `in process`.
    pub endpoint: String,
}

/// Which component configurations a target can be asked under.
#[derive(Clone, Debug, PartialEq)]
pub enum Configurable {
    /// Started anew for each.
    Any,
    /// It runs with this one; cases whose configuration it contains can be asked.
    Fixed(Value),
    /// It runs with each of these, side by side.
    OneOf(Rollouts),
    /// It runs with one that nobody told: the configuration most cases of a contract share is taken for granted.
    Unknown,
}

/// The cluster that a target reads its facts from.
#[derive(Clone)]
pub struct Facts {
    /// Reads and writes it.
    pub client: kube::Client,
    /// A kubeconfig file of it, for targets outside this process.
    pub kubeconfig: Option<PathBuf>,
}

impl Facts {
    /// An API server of this process.
    #[must_use]
    pub fn in_process(server: &Embedded) -> Self {
        Self { client: server.client(), kubeconfig: server.kubeconfig().map(ToOwned::to_owned) }
    }

    /// A cluster of a real control plane.
    #[must_use]
    pub fn of(cluster: &substrate::envtest::Cluster) -> Self {
        Self { client: cluster.client.clone(), kubeconfig: Some(cluster.kubeconfig.clone()) }
    }
}

/// Where an API server reaches a target that runs in its own cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// Namespace of the Service.
    pub namespace: String,
    /// Its name; it listens on port 443.
    pub name: String,
    /// PEM of the authority that signed the target's certificate, in base64.
    pub ca_bundle: String,
}

/// What random numbers are to a target in this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Chance {
    /// Some sequence, the same in every run.
    #[default]
    Seeded,
    /// The least that each may be.
    Least,
    /// The bound that each stays below.
    Greatest,
}

/// The clusters that a controller works with.
#[derive(Clone)]
pub struct Clusters {
    /// Where the controller's own objects are.
    pub source: Facts,
    /// Where it acts; absent where that is the source itself, as it is for a seed.
    pub target: Option<Facts>,
    /// The time in both when they were started.
    pub now: Timestamp,
    /// What is left to chance.
    pub chance: Chance,
}

/// What a target is started with.
#[derive(Clone)]
pub struct Setup<'a> {
    /// The component that the cases to come are about.
    pub component: &'a str,
    /// The time that it shows, standing still; `None`: the real one.
    pub now: Option<Timestamp>,
    /// Effective component configuration of the cases to come.
    pub config: &'a Value,
    /// Which of the component's registrations apply: `seed` or `shoot`.
    pub instance: &'a str,
    /// Where facts are; `None`: nowhere.
    pub facts: Option<Facts>,
    /// The clusters that its controllers work with; `None`: they are not started.
    pub clusters: Option<Clusters>,
}

/// A configuration that a target is tried with.
#[derive(Clone)]
pub struct Trial<'a> {
    /// The component that the configuration is for.
    pub component: &'a str,
    /// What the file says; version and kind may be left out.
    pub config: &'a Value,
    /// Whether the configuration with all defaults is asked for, and not only whether it starts.
    pub effective: bool,
    /// The cluster that it is started with; `None`: nobody outside this process is started.
    pub facts: Option<Facts>,
}

/// An implementation under test.
#[async_trait]
pub trait Target: Send + Sync {
    /// Who is verified.
    fn identity(&self) -> Identity;

    /// Features that clauses may need.
    fn features(&self) -> BTreeSet<String>;

    /// The provider of extensions that it is of; absent: that of the cases.
    fn provider(&self) -> Option<&str> {
        None
    }

    /// The release of Gardener that it is asked for; absent: the usual one.
    fn gardener(&self) -> Option<&str> {
        None
    }

    /// Values that contracts name with `$name`.
    fn parameters(&self) -> BTreeMap<String, Value> {
        BTreeMap::new()
    }

    /// Path prefixes it changes on purpose though no clause speaks of them.
    fn extras(&self) -> Vec<String> {
        Vec::new()
    }

    /// Resources that it reads in all namespaces at once, such as `v1 configmaps`: another case's would be seen.
    fn reads_everywhere(&self) -> BTreeSet<String> {
        BTreeSet::new()
    }

    /// What must be in its cluster before it starts.
    fn needs(&self) -> &Needs {
        &needs::NOTHING
    }

    /// Which configurations a component of it can be asked under.
    fn configurable(&self, _component: &str) -> Configurable {
        Configurable::Any
    }

    /// Whether it is ours: then also the same bytes are demanded for the same request.
    fn is_ours(&self) -> bool {
        false
    }

    /// Whether it runs outside this process and needs the facts over TLS.
    fn is_outside(&self) -> bool {
        true
    }

    /// Whether it can be asked of a contract at all. Who decides nothing is not asked about versions.
    fn is_asked_of(&self, _component: &str, form: Form) -> bool {
        form != Form::Versions
    }

    /// What it decides about versions; `None`: it makes no such decisions. Not async, no clock: the decision has its time.
    fn decide(&self, _decision: &Decision, _given: &Given) -> Option<Decided> {
        None
    }

    /// Whether rows that run on the pure decision are asked of it. One that runs as a whole may know what would be decided, and is
    /// asked nothing of that.
    fn decides(&self) -> bool {
        true
    }

    /// Whether rows about versions are asked of its admission, under a name of its webhooks for Shoots, `shoot`, and at the
    /// row's time.
    fn admits(&self) -> bool {
        false
    }

    /// The component that maintains Shoots when it is started with [`Setup::clusters`]: rows about versions are asked of it. `None`: no
    /// component of it does.
    fn maintainer(&self) -> Option<&str> {
        None
    }

    /// Whether cases are asked one after the other, because what one needs to stand would be seen by the next.
    fn asks_in_turn(&self) -> bool {
        false
    }

    /// Whether a component of it runs in the whole cluster, where there is one; what does not is asked on servers in this
    /// process.
    fn is_inside(&self, _component: &str) -> bool {
        true
    }

    /// What it makes of a configuration; `None`: it has no configuration that could be set.
    ///
    /// # Errors
    /// When it cannot be tried; a refusal is no error.
    async fn configure(&self, _trial: Trial<'_>) -> Result<Option<Configured>, TargetError> {
        Ok(None)
    }

    /// Starts it and waits until it can be asked.
    ///
    /// # Errors
    /// When it does not come up; says nothing about the contracts.
    async fn start(&self, setup: Setup<'_>) -> Result<Box<dyn Running>, TargetError>;

    /// Takes back what it wrote for the run as a whole, and says what it could not.
    async fn leave(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A started target.
#[async_trait]
pub trait Running: Send + Sync {
    /// The way to ask it.
    fn dialer(&self) -> Arc<dyn Dialer>;

    /// Its webhook configurations; `None` where nobody told.
    fn registrations(&self) -> Option<&[WebhookConfiguration]>;

    /// The paths that serve a webhook of this name; empty: not known.
    fn paths(&self, webhook: &str) -> Vec<String>;

    /// Where an API server of the cluster that it runs in reaches it; `None`: it runs in none.
    fn service(&self) -> Option<Service> {
        None
    }

    /// How it ended, if it did so by itself.
    fn ended(&mut self) -> Option<String> {
        None
    }

    /// Its metrics in Prometheus' text format; `None` where it has none that can be read.
    async fn metrics(&self) -> Option<String> {
        None
    }

    /// What it wrote last to standard error, secrets masked; empty where it cannot be read.
    fn last_output(&self) -> String {
        String::new()
    }

    /// Ends it, with everything it started.
    async fn stop(self: Box<Self>);
}
