//! Default values; a zero counts as missing.

use formats::duration::GoDuration;

use super::{
    BackupBucketSchedulerConfiguration, ClientConnection, LeaderElection, SchedulerConfiguration,
    SchedulerControllerConfiguration, Server, Servers,
};
use crate::decision::Strategy;

/// How many Shoots are processed at once.
const SHOOTS: i64 = 5;
/// How many BackupBuckets would be, where the configuration has no section about them.
const BACKUP_BUCKETS: i64 = 2;

/// Fills in every default. SCH-CFG-001 to -005.
pub fn set(config: &mut SchedulerConfiguration) {
    default(&mut config.log_level, "info");
    default(&mut config.log_format, "json");
    set_connection(&mut config.client_connection);
    set_leader_election(&mut config.leader_election);
    set_servers(&mut config.server);
    set_schedulers(&mut config.schedulers);
}

fn set_connection(connection: &mut ClientConnection) {
    if connection.qps == 0.0 {
        connection.qps = 50.0;
    }
    if connection.burst == 0 {
        connection.burst = 100;
    }
}

fn set_leader_election(election: &mut LeaderElection) {
    election.leader_elect.get_or_insert(true);
    for (field, length) in [
        (&mut election.lease_duration, 15),
        (&mut election.renew_deadline, 10),
        (&mut election.retry_period, 2),
    ] {
        if field.nanos() == 0 {
            *field = GoDuration::from_seconds(length);
        }
    }
    default(&mut election.resource_lock, "leases");
    default(&mut election.resource_namespace, "garden");
    default(&mut election.resource_name, "gardener-scheduler-leader-election");
}

fn set_servers(servers: &mut Servers) {
    for (server, port) in [(&mut servers.health_probes, 10251), (&mut servers.metrics, 19251)] {
        let server = server.get_or_insert_with(Server::default);
        if server.port == 0 {
            server.port = port;
        }
    }
}

fn set_schedulers(schedulers: &mut SchedulerControllerConfiguration) {
    // A zero in a section that is there stays zero.
    schedulers
        .backup_bucket
        .get_or_insert(BackupBucketSchedulerConfiguration { concurrent_syncs: BACKUP_BUCKETS });
    let shoot = schedulers.shoot.get_or_insert_default();
    if shoot.concurrent_syncs == 0 {
        shoot.concurrent_syncs = SHOOTS;
    }
    default(&mut shoot.candidate_determination_strategy, Strategy::SameRegion.as_str());
}

fn default(field: &mut String, text: &str) {
    if field.is_empty() {
        text.clone_into(field);
    }
}
