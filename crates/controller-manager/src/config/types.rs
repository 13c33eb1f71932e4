//! The configuration as a file has it: connection, leader election, servers, log.

use std::collections::BTreeMap;

use formats::duration::GoDuration;
use serde::{Deserialize, Serialize};

use super::ControllersConfiguration;

/// Everything that one instance is told.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ControllerManagerConfiguration {
    /// [`super::API_VERSION`].
    pub api_version: String,
    /// [`super::KIND`].
    pub kind: String,
    /// The garden.
    pub garden_client_connection: ClientConnection,
    /// What the controllers are told.
    pub controllers: ControllersConfiguration,
    /// Which of several instances runs the controllers.
    pub leader_election: LeaderElection,
    /// `debug`, `info` or `error`.
    pub log_level: String,
    /// `json` or `text`.
    pub log_format: String,
    /// Where is listened.
    pub server: Servers,
    /// Profiling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub debugging: Option<Debugging>,
    /// Features that are switched; v1.82 has none but `AllAlpha` and `AllBeta`.
    pub feature_gates: BTreeMap<String, bool>,
}

/// How the garden is reached.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ClientConnection {
    /// Path of a kubeconfig; empty: the cluster that the process runs in.
    pub kubeconfig: String,
    /// Media types accepted; empty for the client's own choice.
    pub accept_content_types: String,
    /// Media type sent; empty for the client's own choice.
    pub content_type: String,
    /// Requests per second.
    pub qps: f64,
    /// Requests at once beyond `qps`.
    pub burst: i64,
}

/// Leader election by a Lease.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LeaderElection {
    /// Whether a leader is elected at all.
    pub leader_elect: Option<bool>,
    /// How long followers wait for a silent leader.
    pub lease_duration: GoDuration,
    /// How long a leader tries to renew before it gives up.
    pub renew_deadline: GoDuration,
    /// Time between two tries.
    pub retry_period: GoDuration,
    /// Kind of object, `leases`.
    pub resource_lock: String,
    /// Name of the object.
    pub resource_name: String,
    /// Namespace of the object.
    pub resource_namespace: String,
}

/// Where is listened.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Servers {
    /// HTTP, `/healthz` and `/readyz`.
    pub health_probes: Option<Server>,
    /// HTTP, `/metrics`.
    pub metrics: Option<Server>,
}

/// One address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Server {
    /// Address listened on; empty: all.
    pub bind_address: String,
    /// Port listened on.
    pub port: i64,
}

/// Profiling.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Debugging {
    /// Whether profiles are served beside the metrics.
    pub enable_profiling: bool,
    /// Whether lock contention is profiled.
    pub enable_contention_profiling: bool,
}
