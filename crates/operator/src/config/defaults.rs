//! Fills in what a configuration file leaves out.

use controller::config::defaults::{set_log, set_number};
use formats::duration::GoDuration;

use super::{
    BackupCompactionController, ClientConnection, EtcdConfig, GardenController, OperatorConfiguration,
    Workers,
};

const WEBHOOKS_PORT: i64 = 2750;
const PROBES_PORT: i64 = 2751;
const METRICS_PORT: i64 = 2752;
const LEASE: &str = "gardener-operator-leader-election";

/// Fills in defaults; a zero and an empty text of common sections count as missing. OPR-CFG-001 to -006.
pub fn set(config: &mut OperatorConfiguration) {
    set_log(&mut config.log_level, &mut config.log_format);
    set_connection(&mut config.runtime_client_connection);
    set_connection(&mut config.virtual_client_connection);
    config.leader_election.set_defaults("garden", LEASE);
    set_number(&mut config.server.webhooks.port, WEBHOOKS_PORT);
    config.server.health_probes.get_or_insert_default().set_port(PROBES_PORT);
    config.server.metrics.get_or_insert_default().set_port(METRICS_PORT);
    set_garden(&mut config.controllers.garden);
    let care = &mut config.controllers.garden_care;
    care.sync_period.get_or_insert(GoDuration::from_seconds(60));
}

/// 100 requests per second, in bursts of 130.
fn set_connection(connection: &mut ClientConnection) {
    if connection.qps == 0.0 {
        connection.qps = 100.0;
    }
    set_number(&mut connection.burst, 130);
}

fn set_garden(garden: &mut GardenController) {
    garden.concurrent_syncs.get_or_insert(1);
    garden.sync_period.get_or_insert(GoDuration::from_seconds(3600));
    // A section that is there gets no defaults.
    garden.etcd_config.get_or_insert_with(|| EtcdConfig {
        etcd_controller: Some(Workers { workers: Some(50) }),
        custodian_controller: Some(Workers { workers: Some(10) }),
        backup_compaction_controller: Some(BackupCompactionController {
            workers: Some(3),
            enable_backup_compaction: Some(false),
            events_threshold: Some(1_000_000),
            active_deadline_duration: None,
            metrics_scrape_wait_duration: Some(GoDuration::from_seconds(60)),
        }),
        ..EtcdConfig::default()
    });
}
