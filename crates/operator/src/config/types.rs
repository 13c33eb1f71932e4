//! The configuration file's types.

use std::collections::BTreeMap;

use formats::duration::GoDuration;
use formats::selector::LabelSelector;
use serde::{Deserialize, Serialize};

use super::{ClientConnection, Debugging, LeaderElection, Server};

/// The configuration of one instance.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OperatorConfiguration {
    /// [`super::API_VERSION`].
    pub api_version: String,
    /// [`super::KIND`].
    pub kind: String,
    /// The runtime cluster.
    pub runtime_client_connection: ClientConnection,
    /// The virtual cluster; its kubeconfig is not used.
    pub virtual_client_connection: ClientConnection,
    /// Leader election among several instances.
    pub leader_election: LeaderElection,
    /// `debug`, `info` or `error`.
    pub log_level: String,
    /// `json` or `text`.
    pub log_format: String,
    /// Addresses of the servers.
    pub server: OperatorServers,
    /// Profiling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub debugging: Option<Debugging>,
    /// Feature gates.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub feature_gates: BTreeMap<String, bool>,
    /// Settings of the controllers.
    pub controllers: Controllers,
    /// How long pods of the runtime cluster stay on failing nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_toleration: Option<NodeToleration>,
}

impl OperatorConfiguration {
    /// Whether a feature is on, all of which are alpha.
    #[must_use]
    pub fn is_enabled(&self, feature: &str) -> bool {
        let gate = self.feature_gates.get(feature).or_else(|| self.feature_gates.get("AllAlpha"));
        gate.copied().unwrap_or(false)
    }
}

/// Addresses of the servers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OperatorServers {
    /// HTTPS, for reviews.
    pub webhooks: Server,
    /// HTTP, `/healthz` and `/readyz`.
    pub health_probes: Option<Server>,
    /// HTTP, `/metrics`.
    pub metrics: Option<Server>,
}

/// Settings of the controllers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Controllers {
    /// What reconciles Gardens.
    pub garden: GardenController,
    /// What checks the health of Gardens.
    pub garden_care: GardenCareController,
    /// What writes NetworkPolicies.
    pub network_policy: NetworkPolicyController,
}

/// What reconciles Gardens.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GardenController {
    /// Number of workers.
    pub concurrent_syncs: Option<i64>,
    /// Time between two reconciliations.
    pub sync_period: Option<GoDuration>,
    /// Settings of etcd-druid.
    pub etcd_config: Option<EtcdConfig>,
}

/// Settings of etcd-druid.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EtcdConfig {
    /// What reconciles Etcds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub etcd_controller: Option<Workers>,
    /// What follows Etcds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custodian_controller: Option<Workers>,
    /// What compacts backups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backup_compaction_controller: Option<BackupCompactionController>,
    /// Which member writes backups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backup_leader_election: Option<BackupLeaderElection>,
    /// Feature gates of etcd-druid.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub feature_gates: BTreeMap<String, bool>,
}

/// A controller of etcd-druid.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Workers {
    /// Number of workers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workers: Option<i64>,
}

/// What compacts backups.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BackupCompactionController {
    /// Number of workers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workers: Option<i64>,
    /// Whether backups are compacted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enable_backup_compaction: Option<bool>,
    /// Number of events after which they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events_threshold: Option<i64>,
    /// How long a compaction may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_deadline_duration: Option<GoDuration>,
    /// How long a finished compaction waits until its metrics are read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metrics_scrape_wait_duration: Option<GoDuration>,
}

/// Which member writes backups.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BackupLeaderElection {
    /// Time between two elections.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reelection_period: Option<GoDuration>,
    /// How long the election waits for etcd.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub etcd_connection_timeout: Option<GoDuration>,
}

/// What checks the health of Gardens.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GardenCareController {
    /// Time between two checks.
    pub sync_period: Option<GoDuration>,
    /// How long conditions are progressing before they are false.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub condition_thresholds: Vec<ConditionThreshold>,
}

/// How long a condition is progressing before it is false.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ConditionThreshold {
    /// Type of the condition.
    #[serde(rename = "type")]
    pub type_: String,
    /// The duration.
    pub duration: GoDuration,
}

/// What writes NetworkPolicies.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NetworkPolicyController {
    /// Number of workers; there is no default.
    pub concurrent_syncs: Option<i64>,
    /// Further namespaces that get NetworkPolicies.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub additional_namespace_selectors: Vec<LabelSelector>,
}

/// How long pods stay on failing nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeToleration {
    /// On nodes that are not ready, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_not_ready_toleration_seconds: Option<i64>,
    /// On nodes that cannot be reached, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_unreachable_toleration_seconds: Option<i64>,
}
