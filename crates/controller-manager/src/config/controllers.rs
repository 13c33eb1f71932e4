//! Configuration of each controller. A missing section means the same as an empty one.

use formats::duration::GoDuration;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One section for each controller.
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
    /// Events; if missing, none are deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<EventConfiguration>,
    /// ExposureClasses.
    pub exposure_class: Concurrency,
    /// Projects: their namespaces, staleness and activity.
    pub project: ProjectConfiguration,
    /// Quotas.
    pub quota: Concurrency,
    /// SecretBindings.
    pub secret_binding: Concurrency,
    /// Seeds: whether their gardenlets are alive.
    pub seed: SeedConfiguration,
    /// Whether the extensions of a seed are healthy.
    pub seed_extensions_check: CheckConfiguration,
    /// Whether the backup buckets of a seed are healthy.
    pub seed_backup_buckets_check: CheckConfiguration,
    /// Maintenance of shoots.
    pub shoot_maintenance: ShootMaintenanceConfiguration,
    /// Shoots whose lifetime is over.
    pub shoot_quota: ShootQuotaConfiguration,
    /// Hibernation schedules of shoots.
    pub shoot_hibernation: ShootHibernationConfiguration,
    /// References of shoots to other objects.
    pub shoot_reference: Concurrency,
    /// Shoots that failed.
    pub shoot_retry: ShootRetryConfiguration,
    /// Conditions of shoots that are seeds.
    pub shoot_conditions: Concurrency,
    /// The status label of shoots.
    pub shoot_status_label: Concurrency,
    /// ManagedSeedSets.
    pub managed_seed_set: ManagedSeedSetConfiguration,
}

/// How many objects are processed at once; every controller has this field.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Concurrency {
    /// 5 by default; 0 counts as 1.
    pub concurrent_syncs: Option<i64>,
}

/// Bastions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BastionConfiguration {
    /// How many are processed at once.
    pub concurrent_syncs: Option<i64>,
    /// Maximum lifetime.
    pub max_lifetime: Option<GoDuration>,
}

/// Events of the garden.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EventConfiguration {
    /// How many are processed at once.
    pub concurrent_syncs: Option<i64>,
    /// Lifetime of events that are not about shoots.
    #[serde(rename = "ttlNonShootEvents")]
    pub ttl_non_shoot_events: Option<GoDuration>,
}

/// Projects.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProjectConfiguration {
    /// How many are processed at once.
    pub concurrent_syncs: Option<i64>,
    /// Minimum age in days of a stale project.
    pub minimum_lifetime_days: Option<i64>,
    /// Days before an unused project is marked stale.
    pub stale_grace_period_days: Option<i64>,
    /// Days before an unused project is deleted.
    pub stale_expiration_time_days: Option<i64>,
    /// How often to look for unused projects.
    pub stale_sync_period: Option<GoDuration>,
    /// ResourceQuotas for their namespaces.
    pub quotas: Vec<QuotaConfiguration>,
}

/// A ResourceQuota for the namespaces of some projects; the first that selects a project wins.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct QuotaConfiguration {
    /// A core `v1` ResourceQuota.
    pub config: Option<Value>,
    /// Selects Projects by label; empty selects all.
    pub project_selector: Option<LabelSelector>,
}

/// A label selector as a file has it.
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
    /// Values, for `In` and `NotIn`.
    pub values: Vec<String>,
}

/// Seeds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SeedConfiguration {
    /// How many are processed at once.
    pub concurrent_syncs: Option<i64>,
    /// Time without a heartbeat of the gardenlet after which a seed is unknown.
    pub monitor_period: Option<GoDuration>,
    /// Time after which its shoots are unknown as well; five times as long by default.
    pub shoot_monitor_period: Option<GoDuration>,
    /// How often to check.
    pub sync_period: Option<GoDuration>,
}

/// A health check of seeds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CheckConfiguration {
    /// How many seeds are processed at once.
    pub concurrent_syncs: Option<i64>,
    /// How often to check.
    pub sync_period: Option<GoDuration>,
    /// How long each condition is Progressing before it becomes False.
    pub condition_thresholds: Vec<ConditionThreshold>,
}

/// How long a condition is Progressing before it becomes False.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ConditionThreshold {
    /// Type of the condition.
    #[serde(rename = "type")]
    pub type_: String,
    /// The time.
    pub duration: GoDuration,
}

/// Maintenance of shoots.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ShootMaintenanceConfiguration {
    /// How many are processed at once.
    pub concurrent_syncs: Option<i64>,
    /// Whether to restart pods of control planes.
    pub enable_shoot_control_plane_restarter: Option<bool>,
    /// Whether to restart some addons.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enable_shoot_core_addon_restarter: Option<bool>,
}

/// Shoots whose lifetime is over.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ShootQuotaConfiguration {
    /// How many are processed at once.
    pub concurrent_syncs: Option<i64>,
    /// How often to check.
    pub sync_period: Option<GoDuration>,
}

/// Hibernation schedules of shoots.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ShootHibernationConfiguration {
    /// How many are processed at once.
    pub concurrent_syncs: Option<i64>,
    /// How late a missed hibernation or wake-up still happens.
    pub trigger_deadline_duration: Option<GoDuration>,
}

/// Shoots that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ShootRetryConfiguration {
    /// How many are processed at once.
    pub concurrent_syncs: Option<i64>,
    /// How long to wait before the retry.
    pub retry_period: Option<GoDuration>,
    /// Maximum extra time before the retry.
    pub retry_jitter_period: Option<GoDuration>,
}

/// ManagedSeedSets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ManagedSeedSetConfiguration {
    /// How many are processed at once.
    pub concurrent_syncs: Option<i64>,
    /// How often a failed shoot is retried.
    pub max_shoot_retries: Option<i64>,
    /// How often to check.
    pub sync_period: Option<GoDuration>,
}
