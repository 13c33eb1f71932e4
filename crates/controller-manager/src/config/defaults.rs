//! Default values; a zero counts as missing.

use controller::config::defaults::set_log;
use formats::duration::GoDuration;

use super::{ControllerManagerConfiguration, ControllersConfiguration};

/// Name of the Lease, in the namespace `garden`.
const LEASE: &str = "gardener-controller-manager-leader-election";
const HEALTH_PROBES_PORT: i64 = 2718;
const METRICS_PORT: i64 = 2719;
/// How many objects are processed at once.
const CONCURRENT_SYNCS: i64 = 5;

const fn seconds(seconds: i64) -> GoDuration {
    GoDuration::from_seconds(seconds)
}

const fn minutes(minutes: i64) -> GoDuration {
    seconds(minutes * 60)
}

const fn hours(hours: i64) -> GoDuration {
    minutes(hours * 60)
}

/// Fills in every default. GCM-CFG-001 to -005.
pub fn set(config: &mut ControllerManagerConfiguration) {
    set_log(&mut config.log_level, &mut config.log_format);
    config.garden_client_connection.set_defaults();
    config.leader_election.set_defaults("garden", LEASE);
    config.server.set_defaults(HEALTH_PROBES_PORT, METRICS_PORT);
    set_concurrency(&mut config.controllers);
    set_projects(&mut config.controllers);
    set_seeds(&mut config.controllers);
    set_shoots(&mut config.controllers);
}

fn set_concurrency(controllers: &mut ControllersConfiguration) {
    let event = controllers.event.as_mut().map(|event| &mut event.concurrent_syncs);
    let sections = [
        &mut controllers.bastion.concurrent_syncs,
        &mut controllers.certificate_signing_request.concurrent_syncs,
        &mut controllers.cloud_profile.concurrent_syncs,
        &mut controllers.controller_deployment.concurrent_syncs,
        &mut controllers.controller_registration.concurrent_syncs,
        &mut controllers.exposure_class.concurrent_syncs,
        &mut controllers.project.concurrent_syncs,
        &mut controllers.quota.concurrent_syncs,
        &mut controllers.secret_binding.concurrent_syncs,
        &mut controllers.seed.concurrent_syncs,
        &mut controllers.seed_extensions_check.concurrent_syncs,
        &mut controllers.seed_backup_buckets_check.concurrent_syncs,
        &mut controllers.shoot_maintenance.concurrent_syncs,
        &mut controllers.shoot_quota.concurrent_syncs,
        &mut controllers.shoot_hibernation.concurrent_syncs,
        &mut controllers.shoot_reference.concurrent_syncs,
        &mut controllers.shoot_retry.concurrent_syncs,
        &mut controllers.shoot_conditions.concurrent_syncs,
        &mut controllers.shoot_status_label.concurrent_syncs,
        &mut controllers.managed_seed_set.concurrent_syncs,
    ];
    for section in sections.into_iter().chain(event) {
        section.get_or_insert(CONCURRENT_SYNCS);
    }
}

fn set_projects(controllers: &mut ControllersConfiguration) {
    let project = &mut controllers.project;
    project.minimum_lifetime_days.get_or_insert(30);
    project.stale_grace_period_days.get_or_insert(14);
    project.stale_expiration_time_days.get_or_insert(90);
    project.stale_sync_period.get_or_insert(hours(12));
    for quota in &mut project.quotas {
        quota.project_selector.get_or_insert_default();
    }
    if let Some(event) = &mut controllers.event {
        event.ttl_non_shoot_events.get_or_insert(hours(1));
    }
    controllers.bastion.max_lifetime.get_or_insert(hours(24));
}

fn set_seeds(controllers: &mut ControllersConfiguration) {
    let seed = &mut controllers.seed;
    seed.sync_period.get_or_insert(seconds(10));
    let monitored = *seed.monitor_period.get_or_insert(seconds(40));
    let five_times = GoDuration::from_nanos(monitored.nanos().saturating_mul(5));
    seed.shoot_monitor_period.get_or_insert(five_times);
    for check in [&mut controllers.seed_extensions_check, &mut controllers.seed_backup_buckets_check] {
        check.sync_period.get_or_insert(seconds(30));
    }
    let set = &mut controllers.managed_seed_set;
    set.max_shoot_retries.get_or_insert(3);
    // The original keeps an explicit 0 and then never processes anything. GCM-CFG-010.
    if set.sync_period.is_none_or(|period| period.nanos() == 0) {
        set.sync_period = Some(minutes(30));
    }
}

fn set_shoots(controllers: &mut ControllersConfiguration) {
    controllers.shoot_maintenance.enable_shoot_control_plane_restarter.get_or_insert(true);
    controllers.shoot_quota.sync_period.get_or_insert(hours(1));
    controllers.shoot_hibernation.trigger_deadline_duration.get_or_insert(hours(2));
    controllers.shoot_retry.retry_period.get_or_insert(minutes(10));
    controllers.shoot_retry.retry_jitter_period.get_or_insert(minutes(5));
}
