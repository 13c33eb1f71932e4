//! Settings of a gardenlet's controllers.

use crate::garden::Duration;
use crate::garden::reference::LabelSelector;

object! {
    /// Settings of controllers.
    Controllers {
        /// Of BackupBuckets.
        backup_bucket: Option<Workers>,
        /// Of BackupEntries.
        backup_entry: Option<BackupEntryController>,
        /// Of Bastions.
        bastion: Option<Workers>,
        /// Of ControllerInstallations.
        controller_installation: Option<Workers>,
        /// Of the health of ControllerInstallations.
        controller_installation_care: Option<PeriodicController>,
        /// Of which ControllerInstallations are required.
        controller_installation_required: Option<Workers>,
        /// Of the Seed.
        seed: Option<SeedController>,
        /// Of the Seed's health.
        seed_care: Option<SeedCareController>,
        /// Of Shoots.
        shoot: Option<ShootController>,
        /// Of Shoots' health.
        shoot_care: Option<ShootCareController>,
        /// Of Shoots' states.
        shoot_state: Option<PeriodicController>,
        /// Of network policies.
        network_policy: Option<NetworkPolicyController>,
        /// Of ManagedSeeds.
        managed_seed: Option<ManagedSeedController>,
        /// Of tokens.
        token_requestor: Option<Workers>,
    }

    /// How many objects are worked on at once.
    Workers {
        /// The number.
        concurrent_syncs: Option<i64>,
    }

    /// A controller that reconciles its objects periodically.
    PeriodicController {
        /// How many objects are worked on at once.
        concurrent_syncs: Option<i64>,
        /// How often.
        sync_period: Option<Duration>,
    }

    /// Settings of the controller of BackupEntries.
    BackupEntryController {
        /// How many objects are worked on at once.
        concurrent_syncs: Option<i64>,
        /// How long backups of deleted Shoots are kept.
        deletion_grace_period_hours: Option<i64>,
        /// Purposes of these Shoots; empty for all.
        deletion_grace_period_shoot_purposes: Vec<String>,
    }

    /// Settings of the controller of the Seed.
    SeedController {
        /// How often.
        sync_period: Option<Duration>,
        /// How often the lease is renewed.
        lease_resync_seconds: Option<i32>,
        /// How many renewals may be missing.
        lease_resync_miss_threshold: Option<i32>,
    }

    /// Settings of the controller of the Seed's health.
    SeedCareController {
        /// How often.
        sync_period: Option<Duration>,
        /// How long conditions may progress.
        condition_thresholds: Vec<ConditionThreshold>,
    }

    /// Settings of the controller of Shoots.
    ShootController {
        /// How many objects are worked on at once.
        concurrent_syncs: Option<i64>,
        /// How often progress is reported.
        progress_report_period: Option<Duration>,
        /// Whether Shoots are reconciled in their maintenance alone.
        reconcile_in_maintenance_only: Option<bool>,
        /// Whether Shoots have periods of their own.
        respect_sync_period_overwrite: Option<bool>,
        /// How long a failing operation is tried.
        retry_duration: Option<Duration>,
        /// How often.
        sync_period: Option<Duration>,
        /// How long entries of DNS are cached.
        #[serde(rename = "dnsEntryTTLSeconds")]
        dns_entry_ttl_seconds: Option<i64>,
    }

    /// Settings of the controller of Shoots' health.
    ShootCareController {
        /// How many objects are worked on at once.
        concurrent_syncs: Option<i64>,
        /// How often.
        sync_period: Option<Duration>,
        /// When reports of extensions are too old.
        stale_extension_health_checks: Option<StaleExtensionHealthChecks>,
        /// How long a ManagedResource may progress.
        managed_resource_progressing_threshold: Option<Duration>,
        /// How long conditions may progress.
        condition_thresholds: Vec<ConditionThreshold>,
        /// Whether webhooks that hinder Gardener are changed.
        webhook_remediator_enabled: Option<bool>,
    }

    /// When reports of extensions are too old.
    StaleExtensionHealthChecks {
        /// Whether they can be.
        enabled: Option<bool>,
        /// The greatest age.
        threshold: Option<Duration>,
    }

    /// How long a condition may progress.
    ConditionThreshold {
        /// Type of the condition.
        #[serde(rename = "type")]
        type_: Option<String>,
        /// How long.
        duration: Option<Duration>,
    }

    /// Settings of the controller of network policies.
    NetworkPolicyController {
        /// How many objects are worked on at once.
        concurrent_syncs: Option<i64>,
        /// Further namespaces.
        additional_namespace_selectors: Vec<LabelSelector>,
    }

    /// Settings of the controller of ManagedSeeds.
    ManagedSeedController {
        /// How many objects are worked on at once.
        concurrent_syncs: Option<i64>,
        /// How often.
        sync_period: Option<Duration>,
        /// How often it reconciles a Shoot that is not ready.
        wait_sync_period: Option<Duration>,
        /// The greatest random delay.
        sync_jitter_period: Option<Duration>,
        /// Whether updates are delayed.
        jitter_updates: Option<bool>,
    }
}
