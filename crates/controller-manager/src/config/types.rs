//! The configuration as a file has it: connection, leader election, servers, log.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{ControllersConfiguration, Debugging, LeaderElection, Server};

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

/// Where is listened.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Servers {
    /// HTTP, `/healthz` and `/readyz`.
    pub health_probes: Option<Server>,
    /// HTTP, `/metrics`.
    pub metrics: Option<Server>,
}
