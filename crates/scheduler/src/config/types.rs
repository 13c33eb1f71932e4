//! The configuration file's types: connection, leader election, servers, log, schedulers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Debugging, LeaderElection, Server};

/// The configuration of one instance.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SchedulerConfiguration {
    /// [`super::API_VERSION`].
    pub api_version: String,
    /// [`super::KIND`].
    pub kind: String,
    /// The garden.
    pub client_connection: ClientConnection,
    /// Leader election among several instances.
    pub leader_election: LeaderElection,
    /// `debug`, `info` or `error`.
    pub log_level: String,
    /// `json` or `text`.
    pub log_format: String,
    /// Addresses of the servers.
    pub server: Servers,
    /// Profiling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub debugging: Option<Debugging>,
    /// What is scheduled, and how.
    pub schedulers: SchedulerControllerConfiguration,
    /// Feature gates; v1.82 has none but `AllAlpha` and `AllBeta`.
    pub feature_gates: BTreeMap<String, bool>,
}

/// How to connect to the garden.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ClientConnection {
    /// Path of a kubeconfig; empty: the cluster that the process runs in.
    pub kubeconfig: String,
    /// Accepted media types; empty: the client's default.
    pub accept_content_types: String,
    /// Media type of requests; empty: the client's default.
    pub content_type: String,
    /// Requests per second.
    pub qps: f64,
    /// Burst beyond `qps`.
    pub burst: i64,
}

/// Addresses of the servers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Servers {
    /// HTTP, `/healthz` and `/readyz`.
    pub health_probes: Option<Server>,
    /// HTTP, `/metrics`.
    pub metrics: Option<Server>,
}

/// What is scheduled, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SchedulerControllerConfiguration {
    /// BackupBuckets. The original has no controller that reads it, nor has this program.
    pub backup_bucket: Option<BackupBucketSchedulerConfiguration>,
    /// Shoots.
    pub shoot: Option<ShootSchedulerConfiguration>,
}

/// How BackupBuckets would be scheduled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BackupBucketSchedulerConfiguration {
    /// How many are processed at once.
    pub concurrent_syncs: i64,
}

/// How Shoots are scheduled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ShootSchedulerConfiguration {
    /// How many are processed at once.
    pub concurrent_syncs: i64,
    /// Name of a [`crate::decision::Strategy`].
    pub candidate_determination_strategy: String,
}
