//! What each controller is told. A section that is left out says nothing, and is filled in as one that is empty.

use formats::duration::GoDuration;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One section a controller.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ControllersConfiguration {
    /// Bastions.
    pub bastion: BastionConfiguration,
    /// CertificateSigningRequests of gardenlets.
    pub certificate_signing_request: Concurrency,
    /// CloudProfiles.
    pub cloud_profile: Concurrency,
    /// ControllerDeployments.
    pub controller_deployment: Concurrency,
    /// ControllerRegistrations.
    pub controller_registration: Concurrency,
    /// Events; where it is left out, none are deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<EventConfiguration>,
    /// ExposureClasses.
    pub exposure_class: Concurrency,
    /// Projects: what they are made of, whether they are stale, when they were last used.
    pub project: ProjectConfiguration,
    /// Quotas.
    pub quota: Concurrency,
    /// SecretBindings.
    pub secret_binding: Concurrency,
    /// Seeds: whether they are alive.
    pub seed: SeedConfiguration,
    /// Whether the extensions of a seed are healthy.
    pub seed_extensions_check: CheckConfiguration,
    /// Whether the backup buckets of a seed are.
    pub seed_backup_buckets_check: CheckConfiguration,
    /// Maintenance of shoots.
    pub shoot_maintenance: ShootMaintenanceConfiguration,
    /// Shoots whose time is over.
    pub shoot_quota: ShootQuotaConfiguration,
    /// Shoots that sleep.
    pub shoot_hibernation: ShootHibernationConfiguration,
    /// What shoots refer to.
    pub shoot_reference: Concurrency,
    /// Shoots that failed.
    pub shoot_retry: ShootRetryConfiguration,
    /// Conditions of shoots that are seeds.
    pub shoot_conditions: Concurrency,
    /// The label that tells how a shoot is.
    pub shoot_status_label: Concurrency,
    /// ManagedSeedSets.
    pub managed_seed_set: ManagedSeedSetConfiguration,
}

/// How many objects are handled at once; every controller says it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Concurrency {
    /// 5 by default; 0 is 1.
    pub concurrent_syncs: Option<i64>,
}

/// Bastions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BastionConfiguration {
    /// How many are handled at once.
    pub concurrent_syncs: Option<i64>,
    /// How long one lives at most.
    pub max_lifetime: Option<GoDuration>,
}

/// Events of the garden.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EventConfiguration {
    /// How many are handled at once.
    pub concurrent_syncs: Option<i64>,
    /// How long those live that do not speak of shoots.
    #[serde(rename = "ttlNonShootEvents")]
    pub ttl_non_shoot_events: Option<GoDuration>,
}

/// Projects.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProjectConfiguration {
    /// How many are handled at once.
    pub concurrent_syncs: Option<i64>,
    /// Days before which none is stale.
    pub minimum_lifetime_days: Option<i64>,
    /// Days that an unused one is left alone.
    pub stale_grace_period_days: Option<i64>,
    /// Days after which an unused one is deleted.
    pub stale_expiration_time_days: Option<i64>,
    /// How often is looked for those that are not used.
    pub stale_sync_period: Option<GoDuration>,
    /// ResourceQuotas that their namespaces get.
    pub quotas: Vec<QuotaConfiguration>,
}

/// A ResourceQuota for the namespaces of some projects; the first that selects a project wins.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct QuotaConfiguration {
    /// A core `v1` ResourceQuota.
    pub config: Option<Value>,
    /// Labels of Projects; empty selects all.
    pub project_selector: Option<LabelSelector>,
}

/// A label selector as it stands in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LabelSelector {
    /// Labels and their values.
    pub match_labels: std::collections::BTreeMap<String, String>,
    /// Expressions over labels.
    pub match_expressions: Vec<LabelSelectorRequirement>,
}

/// One expression over a label.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LabelSelectorRequirement {
    /// The label.
    pub key: String,
    /// `In`, `NotIn`, `Exists` or `DoesNotExist`.
    pub operator: String,
    /// Values, for the first two.
    pub values: Vec<String>,
}

/// Seeds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SeedConfiguration {
    /// How many are handled at once.
    pub concurrent_syncs: Option<i64>,
    /// How long after a silent gardenlet its seed is unknown.
    pub monitor_period: Option<GoDuration>,
    /// How long after that its shoots are; five times as long by default.
    pub shoot_monitor_period: Option<GoDuration>,
    /// How often is looked.
    pub sync_period: Option<GoDuration>,
}

/// A check of what a seed has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CheckConfiguration {
    /// How many seeds are handled at once.
    pub concurrent_syncs: Option<i64>,
    /// How often is looked.
    pub sync_period: Option<GoDuration>,
    /// How long a condition is Progressing before it is False.
    pub condition_thresholds: Vec<ConditionThreshold>,
}

/// How long a condition is Progressing before it is False.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ConditionThreshold {
    /// Type of the condition.
    #[serde(rename = "type")]
    pub type_: String,
    /// How long.
    pub duration: GoDuration,
}

/// Maintenance of shoots.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ShootMaintenanceConfiguration {
    /// How many are handled at once.
    pub concurrent_syncs: Option<i64>,
    /// Whether pods of control planes are restarted.
    pub enable_shoot_control_plane_restarter: Option<bool>,
    /// Whether some addons are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enable_shoot_core_addon_restarter: Option<bool>,
}

/// Shoots whose time is over.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ShootQuotaConfiguration {
    /// How many are handled at once.
    pub concurrent_syncs: Option<i64>,
    /// How often is looked.
    pub sync_period: Option<GoDuration>,
}

/// Shoots that sleep.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ShootHibernationConfiguration {
    /// How many are handled at once.
    pub concurrent_syncs: Option<i64>,
    /// How late what was missed is made up for.
    pub trigger_deadline_duration: Option<GoDuration>,
}

/// Shoots that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ShootRetryConfiguration {
    /// How many are handled at once.
    pub concurrent_syncs: Option<i64>,
    /// How long is waited before one is tried again.
    pub retry_period: Option<GoDuration>,
    /// How much longer at most.
    pub retry_jitter_period: Option<GoDuration>,
}

/// ManagedSeedSets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ManagedSeedSetConfiguration {
    /// How many are handled at once.
    pub concurrent_syncs: Option<i64>,
    /// How often a shoot that failed is tried again.
    pub max_shoot_retries: Option<i64>,
    /// How often is looked.
    pub sync_period: Option<GoDuration>,
}
