//! Settings of a gardenlet's controllers.

use api::garden::Duration;
use api::gardenlet::controllers::{
    BackupEntryController, Controllers, NetworkPolicyController, ShootCareController, ShootController,
};
use formats::duration::GoDuration;
use webhook::field::{Error, Path};

use super::field_errors::{FieldErrors, supported};
use super::{bounds, label_selector};

const PURPOSES: [&str; 5] = ["development", "evaluation", "infrastructure", "production", "testing"];

/// The errors of the controllers, in the original's order; it does not look at all of them: GDN-GLT-001 to -006.
pub(super) fn validate(controllers: &Controllers, at: &Path) -> FieldErrors {
    let mut errors = FieldErrors::new();
    if let Some(controller) = &controllers.backup_entry {
        errors.extend(backup_entry(controller, &at.child("backupEntry")));
    }
    if let Some(controller) = &controllers.bastion {
        errors.extend(workers(controller.concurrent_syncs, &at.child("bastion")));
    }
    if let Some(controller) = &controllers.shoot {
        errors.extend(shoot(controller, &at.child("shoot")));
    }
    if let Some(controller) = &controllers.shoot_care {
        errors.extend(shoot_care(controller, &at.child("shootCare")));
    }
    if let Some(controller) = &controllers.managed_seed {
        let at = at.child("managedSeed");
        errors.extend(workers(controller.concurrent_syncs, &at));
        errors.extend(negative(&at.child("syncPeriod"), controller.sync_period.as_ref()));
        errors.extend(negative(&at.child("waitSyncPeriod"), controller.wait_sync_period.as_ref()));
        errors.extend(negative(&at.child("syncJitterPeriod"), controller.sync_jitter_period.as_ref()));
    }
    if let Some(controller) = &controllers.network_policy {
        errors.extend(network_policy(controller, &at.child("networkPolicy")));
    }
    errors
}

/// GDN-GLT-001.
fn backup_entry(controller: &BackupEntryController, at: &Path) -> FieldErrors {
    let at = at.child("deletionGracePeriodShootPurposes");
    let purposes = &controller.deletion_grace_period_shoot_purposes;
    let hours = controller.deletion_grace_period_hours.unwrap_or_default();
    let mut errors = FieldErrors::new();
    if !purposes.is_empty() && hours <= 0 {
        let why = "must specify grace period hours > 0 when specifying purposes";
        errors.push(Error::forbidden(&at, why));
    }
    let each = purposes.iter().enumerate();
    errors.extend(each.filter_map(|(index, purpose)| supported(&at.index(index), purpose, &PURPOSES)));
    errors
}

/// GDN-GLT-003. The original has this spelling of `progressReportPeriod`.
fn shoot(controller: &ShootController, at: &Path) -> FieldErrors {
    let mut errors: FieldErrors = workers(controller.concurrent_syncs, at).into_iter().collect();
    errors.extend(negative(&at.child("progressReporterPeriod"), controller.progress_report_period.as_ref()));
    errors.extend(negative(&at.child("retryDuration"), controller.retry_duration.as_ref()));
    errors.extend(negative(&at.child("syncPeriod"), controller.sync_period.as_ref()));
    if let Some(seconds) = controller.dns_entry_ttl_seconds.filter(|seconds| !(30..=600).contains(seconds)) {
        errors.push(Error::invalid(&at.child("dnsEntryTTLSeconds"), seconds, "must be within [30,600]"));
    }
    errors
}

/// GDN-GLT-004, GDN-GLT-005. The original crashes when a threshold is missing; here it is required.
fn shoot_care(controller: &ShootCareController, at: &Path) -> FieldErrors {
    let mut errors: FieldErrors = workers(controller.concurrent_syncs, at).into_iter().collect();
    errors.extend(negative(&at.child("syncPeriod"), controller.sync_period.as_ref()));
    if let Some(checks) = &controller.stale_extension_health_checks {
        let at = at.child("staleExtensionHealthChecks").child("threshold");
        match &checks.threshold {
            None => errors.push(Error::required(&at, "must provide a threshold")),
            threshold => errors.extend(negative(&at, threshold.as_ref())),
        }
    }
    let progressing = controller.managed_resource_progressing_threshold.as_ref();
    errors.extend(negative(&at.child("managedResourceProgressingThreshold"), progressing));
    for (index, threshold) in controller.condition_thresholds.iter().enumerate() {
        let at = at.child("conditionThresholds").index(index).child("duration");
        errors.extend(negative(&at, threshold.duration.as_ref()));
    }
    errors
}

/// GDN-GLT-006.
fn network_policy(controller: &NetworkPolicyController, at: &Path) -> FieldErrors {
    let mut errors: FieldErrors = workers(controller.concurrent_syncs, at).into_iter().collect();
    for (index, selector) in controller.additional_namespace_selectors.iter().enumerate() {
        let at = at.child("additionalNamespaceSelectors").index(index);
        errors.extend(label_selector::validate_values(selector, &at));
    }
    errors
}

/// GDN-GLT-002.
fn workers(number: Option<i64>, at: &Path) -> Option<Error> {
    bounds::non_negative(&at.child("concurrentSyncs"), number)
}

/// A duration that must not be negative, where its nanoseconds are shown.
fn negative(at: &Path, duration: Option<&Duration>) -> Option<Error> {
    bounds::non_negative(at, bounds::duration(duration).map(GoDuration::nanos))
}
