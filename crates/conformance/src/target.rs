//! The target under test: an implementation that can be started with a configuration and that answers requests.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use contract::model::Form;
use contract::process::ProcessAction;
use controller::leader::ElectionConfig;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use substrate::embedded::Embedded;
use webhook::dial::Dialer;
use webhook::registration::WebhookConfiguration;

use crate::gardener::Versions;
use crate::rollouts::Rollouts;

pub mod built_in;
pub mod command;
pub(crate) mod configured;
mod error;
mod needs;
pub mod plain;
pub mod url;

pub use configured::Configured;
pub use error::TargetError;
pub use needs::{Needs, NeedsError};

/// The kind of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum TargetKind {
    /// A component of this project, in process.
    BuiltIn,
    /// A running webhook at a URL.
    Url,
    /// A binary that is started for the run.
    Command,
    /// A container that is started for the run.
    Image,
    /// A deployment inside a cluster.
    InCluster,
    /// The writer of existing objects.
    Objects,
    /// A running garden whose API server serves Gardener's kinds itself.
    Garden,
}

impl TargetKind {
    /// Whether it has another author: gaps and unproven clauses are findings about our contracts, and not about it.
    #[must_use]
    pub fn is_foreign(self) -> bool {
        match self {
            Self::Url | Self::Command | Self::Image | Self::Garden => true,
            Self::BuiltIn | Self::InCluster | Self::Objects => false,
        }
    }
}

/// The identity of a target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Identity {
    /// `gardener-resource-manager`.
    pub name: String,
    /// `v1.82.0`; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Its kind.
    pub kind: TargetKind,
    /// The address, the command line, or `in process`.
    pub endpoint: String,
}

/// The component configurations that a target can have.
#[derive(Clone, Debug, PartialEq)]
pub enum Configurable {
    /// Any: it is started again for each.
    Any,
    /// It runs with this one; cases whose configuration is included in it can run.
    Fixed(Value),
    /// It runs with these in parallel.
    OneOf(Rollouts),
    /// It runs with an unknown one: the configuration of most cases of a contract is assumed.
    Unknown,
}

/// The cluster from which a target reads facts.
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

/// The Service of a target that runs in the cluster of the API server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// Namespace of the Service.
    pub namespace: String,
    /// Its name; it listens on port 443.
    pub name: String,
    /// PEM of the authority that signed the target's certificate, in base64.
    pub ca_bundle: String,
}

/// The random numbers of a target in this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Chance {
    /// A sequence that is the same in every run.
    #[default]
    Seeded,
    /// Each is the minimum.
    Least,
    /// Each is the upper bound.
    Greatest,
}

/// The leader election of an instance.
#[derive(Clone)]
pub struct Election {
    /// Its Lease, identity and times.
    pub config: ElectionConfig,
    /// Reads and writes the Lease.
    pub client: kube::Client,
}

/// The clusters that a controller works with.
#[derive(Clone)]
pub struct Clusters {
    /// The cluster with the controller's own objects.
    pub source: Facts,
    /// The cluster in which it acts; absent if it is the source, as for a seed.
    pub target: Option<Facts>,
    /// The time in both when they were started.
    pub now: Timestamp,
    /// Random numbers.
    pub chance: Chance,
    /// The leader election in which it takes part, for targets in this process; `None`: it leads at once.
    pub election: Option<Election>,
}

/// The parameters of a target's start.
#[derive(Clone)]
pub struct Setup<'a> {
    /// The component of the following cases.
    pub component: &'a str,
    /// Its fixed time; `None`: the real one.
    pub now: Option<Timestamp>,
    /// Effective component configuration of the following cases.
    pub config: &'a Value,
    /// Which of the component's registrations apply: `seed` or `shoot`.
    pub instance: &'a str,
    /// The controller that the following cases are about; `None`: they are about none.
    pub controller: Option<&'a str>,
    /// The cluster with facts; `None` if the case has none.
    pub facts: Option<Facts>,
    /// The clusters of its controllers; `None`: controllers are not started.
    pub clusters: Option<Clusters>,
}

/// What was observed of a program.
#[derive(Clone, Debug, PartialEq)]
pub enum Observed {
    /// `{"exitCode": 0, "output": "…"}`, or `{"response": {…}}`.
    Document(Value),
    /// The target file lacks something that the case needs, for this reason.
    Unknown(String),
}

/// A trial start with a configuration.
#[derive(Clone)]
pub struct Trial<'a> {
    /// The component of the configuration.
    pub component: &'a str,
    /// The content of the file; version and kind may be absent.
    pub config: &'a Value,
    /// Whether the configuration with all defaults is needed, and not only whether the target starts.
    pub effective: bool,
    /// The cluster of the start; `None`: no program outside this process is started.
    pub facts: Option<Facts>,
}

/// An implementation under test.
#[async_trait]
pub trait Target: Send + Sync {
    /// Its identity.
    fn identity(&self) -> Identity;

    /// Features that clauses may need.
    fn features(&self) -> BTreeSet<String>;

    /// The author's own file, on which findings of code scanning lie: the source file that the target file names, else the target
    /// file, as the user named it.
    fn file(&self) -> Option<&str> {
        None
    }

    /// Its provider extension; absent: the provider of the cases.
    fn provider(&self) -> Option<&str> {
        None
    }

    /// Objects that control planes' namespaces have for it, in the place of those of its provider's profile or beside them.
    fn cluster_objects(&self) -> &[Value] {
        &[]
    }

    /// The release of Gardener for which it is verified; absent: the default.
    fn gardener(&self) -> Option<&str> {
        None
    }

    /// Values that contracts name with `$name`.
    fn parameters(&self) -> BTreeMap<String, Value> {
        BTreeMap::new()
    }

    /// Path prefixes that it changes on purpose although no clause mentions them.
    fn extras(&self) -> Vec<String> {
        Vec::new()
    }

    /// Resources that it reads in all namespaces, such as `v1 configmaps`, so that it would see those of other cases.
    fn reads_everywhere(&self) -> BTreeSet<String> {
        BTreeSet::new()
    }

    /// Objects that must be in its cluster before it starts.
    fn needs(&self) -> &Needs {
        &needs::NOTHING
    }

    /// The configurations that a component of it can have.
    fn configurable(&self, _component: &str) -> Configurable {
        Configurable::Any
    }

    /// Whether it is ours: then the same request must also be answered with the same bytes.
    fn is_ours(&self) -> bool {
        false
    }

    /// Whether it runs outside this process and needs the facts over TLS.
    fn is_outside(&self) -> bool {
        true
    }

    /// Whether controllers of a component of it run only while it leads, if [`Clusters::election`] says so.
    fn elects_leader(&self, _component: &str) -> bool {
        false
    }

    /// Whether contracts of this component and form apply to it. Contracts about versions apply only to targets that decide.
    fn supports(&self, _component: &str, form: Form) -> bool {
        form != Form::Versions
    }

    /// What it has for rows about versions; `None`: they do not run for it.
    fn versions(&self) -> Option<&dyn Versions> {
        None
    }

    /// Whether cases run one after the other, because each would see the objects of the others.
    fn asks_in_turn(&self) -> bool {
        false
    }

    /// Whether a component of it runs in the whole cluster, if there is one; other components run on embedded servers.
    fn is_inside(&self, _component: &str) -> bool {
        true
    }

    /// Tries a configuration; `None`: its configuration cannot be set.
    ///
    /// # Errors
    /// If the trial is impossible; a refusal is no error.
    async fn configure(&self, _trial: Trial<'_>) -> Result<Option<Configured>, TargetError> {
        Ok(None)
    }

    /// Whether it has a program that [`Self::act`] can start.
    fn has_program(&self) -> bool {
        false
    }

    /// Acts on its program; `None`: it has none.
    ///
    /// # Errors
    /// If the program cannot be started or does not become ready.
    async fn act(&self, _setup: Setup<'_>, _action: &ProcessAction) -> Result<Option<Observed>, TargetError> {
        Ok(None)
    }

    /// Starts it and waits until it is ready.
    ///
    /// # Errors
    /// If it does not become ready, which says nothing about the contracts.
    async fn start(&self, setup: Setup<'_>) -> Result<Box<dyn Running>, TargetError>;

    /// Removes objects that it wrote for the whole run, and returns those that it could not remove.
    async fn leave(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A started target.
#[async_trait]
pub trait Running: Send + Sync {
    /// The connection to it.
    fn dialer(&self) -> Arc<dyn Dialer>;

    /// Its webhook configurations; `None` if unknown.
    fn registrations(&self) -> Option<&[WebhookConfiguration]>;

    /// The paths of a webhook; empty if unknown.
    fn paths(&self, webhook: &str) -> Vec<String>;

    /// Its Service in the cluster in which it runs; `None` if it runs in no cluster.
    fn service(&self) -> Option<Service> {
        None
    }

    /// Its exit status, if it has ended.
    fn ended(&mut self) -> Option<String> {
        None
    }

    /// Its metrics in Prometheus' text format; `None` if they cannot be read.
    async fn metrics(&self) -> Option<String> {
        None
    }

    /// The end of its standard error, secrets masked; empty if it cannot be read.
    fn last_output(&self) -> String {
        String::new()
    }

    /// The number of lines of output so far, for [`Self::output_since`].
    fn output_mark(&self) -> u64 {
        0
    }

    /// What it wrote since a mark, secrets masked, at most 200 lines; empty if its output cannot be read.
    async fn output_since(&self, _mark: u64) -> String {
        String::new()
    }

    /// Stops it and everything that it started.
    async fn stop(self: Box<Self>);
}
