//! The configuration file's types.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{ClientConnection, Debugging, LeaderElection, Servers};

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
