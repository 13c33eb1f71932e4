//! Default values; a zero counts as missing.

use api::kubernetes::DEFAULT_SCHEDULER;
use api::resources::{DEFAULT_CLASS, MANAGED_BY_GARDENER};
use controller::config::defaults::{set_log, set_number};
use formats::duration::GoDuration;

use super::{
    ClientConnection, ControllersConfiguration, ResourceManagerConfiguration, Servers, WebhooksConfiguration,
};

const MINUTE: GoDuration = GoDuration::from_seconds(60);
const HOUR: GoDuration = GoDuration::from_seconds(3600);
const DAY: GoDuration = GoDuration::from_seconds(24 * 3600);
/// Lifetime of a projected token: 12 hours.
const EXPIRATION_SECONDS: i64 = 12 * 3600;

/// Fills in every default. GRM-CFG-003, GRM-CFG-035.
pub fn set(config: &mut ResourceManagerConfiguration) {
    set_log(&mut config.log_level, &mut config.log_format);
    set_connection(&mut config.source_client_connection);
    if let Some(target) = &mut config.target_client_connection {
        set_connection(target);
    }
    // GRM-CFG-020, GRM-CFG-022: the namespace is that of the configuration.
    config.leader_election.set_defaults("", "gardener-resource-manager");
    set_servers(&mut config.server);
    set_controllers(&mut config.controllers);
    set_webhooks(&mut config.webhooks);
}

/// GRM-CFG-010, GRM-CFG-011, GRM-CFG-013, GRM-CFG-014, GRM-CFG-016.
fn set_connection(connection: &mut ClientConnection) {
    if connection.qps == 0.0 {
        connection.qps = 100.0;
    }
    set_number(&mut connection.burst, 130);
    connection.cache_resync_period.get_or_insert(DAY);
}

/// GRM-CFG-030 to -032.
fn set_servers(servers: &mut Servers) {
    set_number(&mut servers.webhooks.port, 9449);
    servers.health_probes.get_or_insert_default().set_port(8081);
    servers.metrics.get_or_insert_default().set_port(8080);
}

/// GRM-CFG-040, GRM-CFG-042, GRM-CFG-043, GRM-CFG-045, GRM-CFG-049.
fn set_controllers(controllers: &mut ControllersConfiguration) {
    controllers.cluster_id.get_or_insert_default();
    controllers.resource_class.get_or_insert_with(|| DEFAULT_CLASS.to_owned());
    if controllers.garbage_collector.enabled {
        controllers.garbage_collector.sync_period.get_or_insert(HOUR);
    }
    controllers.health.concurrent_syncs.get_or_insert(5);
    controllers.health.sync_period.get_or_insert(MINUTE);
    let managed_resource = &mut controllers.managed_resource;
    managed_resource.concurrent_syncs.get_or_insert(5);
    managed_resource.sync_period.get_or_insert(MINUTE);
    managed_resource.always_update.get_or_insert(false);
    managed_resource.managed_by_label_value.get_or_insert_with(|| MANAGED_BY_GARDENER.to_owned());
    controllers.secret.concurrent_syncs.get_or_insert(5);
    if controllers.node.enabled {
        controllers.node.backoff.get_or_insert(GoDuration::from_seconds(10));
    }
    set_concurrency(controllers);
}

/// GRM-CFG-044, GRM-CFG-047, GRM-CFG-048, GRM-CFG-050, GRM-CFG-062.
fn set_concurrency(controllers: &mut ControllersConfiguration) {
    for (enabled, concurrent_syncs, number) in [
        (controllers.kubelet_csr_approver.enabled, &mut controllers.kubelet_csr_approver.concurrent_syncs, 1),
        (controllers.network_policy.enabled, &mut controllers.network_policy.concurrent_syncs, 5),
        (controllers.node.enabled, &mut controllers.node.concurrent_syncs, 5),
        (controllers.token_invalidator.enabled, &mut controllers.token_invalidator.concurrent_syncs, 5),
        (controllers.token_requestor.enabled, &mut controllers.token_requestor.concurrent_syncs, 5),
    ] {
        if enabled {
            concurrent_syncs.get_or_insert(number);
        }
    }
}

fn set_webhooks(webhooks: &mut WebhooksConfiguration) {
    if webhooks.pod_scheduler_name.enabled {
        webhooks.pod_scheduler_name.scheduler_name.get_or_insert_with(|| DEFAULT_SCHEDULER.to_owned());
    }
    if webhooks.projected_token_mount.enabled {
        webhooks.projected_token_mount.expiration_seconds.get_or_insert(EXPIRATION_SECONDS);
    }
}
