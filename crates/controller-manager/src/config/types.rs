//! The configuration file's types.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{ClientConnection, ControllersConfiguration, Debugging, LeaderElection, Servers};

/// The configuration of one instance.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ControllerManagerConfiguration {
    /// [`super::API_VERSION`].
    pub api_version: String,
    /// [`super::KIND`].
    pub kind: String,
    /// The garden.
    pub garden_client_connection: ClientConnection,
    /// Configuration of the controllers.
    pub controllers: ControllersConfiguration,
    /// Leader election among several instances.
    pub leader_election: LeaderElection,
    /// `debug`, `info` or `error`.
    pub log_level: String,
    /// `json` or `text`.
    pub log_format: String,
    /// Addresses of the servers.
    pub server: Servers,
    /// Profiling, which this program does not have; GCM-CFG-011.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub debugging: Option<Debugging>,
    /// Feature gates; v1.82 has none but `AllAlpha` and `AllBeta`.
    pub feature_gates: BTreeMap<String, bool>,
}
