//! Default values; a zero counts as missing.

use controller::config::defaults::{set_log, set_number, set_text};

use super::{BackupBucketSchedulerConfiguration, SchedulerConfiguration, SchedulerControllerConfiguration};
use crate::decision::Strategy;

/// Name of the Lease, in the namespace `garden`.
const LEASE: &str = "gardener-scheduler-leader-election";
const HEALTH_PROBES_PORT: i64 = 10251;
const METRICS_PORT: i64 = 19251;
/// How many Shoots are processed at once.
const SHOOTS: i64 = 5;
/// How many BackupBuckets would be, where the configuration has no section about them.
const BACKUP_BUCKETS: i64 = 2;

/// Fills in every default. SCH-CFG-001 to -005.
pub fn set(config: &mut SchedulerConfiguration) {
    set_log(&mut config.log_level, &mut config.log_format);
    config.client_connection.set_defaults();
    config.leader_election.set_defaults("garden", LEASE);
    config.server.set_defaults(HEALTH_PROBES_PORT, METRICS_PORT);
    set_schedulers(&mut config.schedulers);
}

fn set_schedulers(schedulers: &mut SchedulerControllerConfiguration) {
    // A zero in a section that is there stays zero.
    schedulers
        .backup_bucket
        .get_or_insert(BackupBucketSchedulerConfiguration { concurrent_syncs: BACKUP_BUCKETS });
    let shoot = schedulers.shoot.get_or_insert_default();
    set_number(&mut shoot.concurrent_syncs, SHOOTS);
    set_text(&mut shoot.candidate_determination_strategy, Strategy::SameRegion.as_str());
}
