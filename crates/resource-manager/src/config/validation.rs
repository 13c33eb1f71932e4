//! Validates a configuration, with the original's error texts.

use controller::config::checks;
use formats::duration::GoDuration;
use formats::name;
use webhook::field::{Error, Path, Shown};

use super::{
    ClientConnection, ControllersConfiguration, LeaderElection, ManagedResourceConfig,
    ResourceManagerConfiguration, Server, Servers, WebhooksConfiguration,
};
use crate::toleration::Toleration;

const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/// All errors of a configuration whose defaults are filled in. GRM-CFG-036, GRM-CFG-063.
#[must_use]
pub fn validate(config: &ResourceManagerConfiguration) -> Vec<Error> {
    let mut errors = Vec::new();
    connection(&config.source_client_connection, &Path::new("sourceClientConnection"), &mut errors);
    if let Some(target) = &config.target_client_connection {
        connection(target, &Path::new("targetClientConnection"), &mut errors);
    }
    servers(&config.server, &Path::new("server"), &mut errors);
    leader_election(&config.leader_election, &Path::new("leaderElection"), &mut errors);
    checks::log(&config.log_level, &config.log_format, &mut errors);
    controllers(&config.controllers, &Path::new("controllers"), &mut errors);
    webhooks(&config.webhooks, &Path::new("webhooks"), &mut errors);
    if config.controllers.token_invalidator.enabled != config.webhooks.token_invalidator.enabled {
        errors.push(Error::forbidden(
            &Path::new("controllers").child("tokenInvalidator"),
            "controller and webhook for TokenInvalidator must either be both disabled or enabled",
        ));
    }
    errors
}

/// GRM-CFG-012, GRM-CFG-015.
fn connection(connection: &ClientConnection, at: &Path, errors: &mut Vec<Error>) {
    let shortest = GoDuration::from_seconds(10);
    if let Some(period) = connection.cache_resync_period.filter(|period| *period < shortest) {
        let field = at.child("cacheResyncPeriod");
        errors.push(Error::invalid(&field, Shown::verbatim(period), "must be at least 10s"));
    }
    if connection.burst < 0 {
        errors.push(Error::invalid(&at.child("burst"), connection.burst, "must be non-negative"));
    }
}

/// GRM-CFG-033.
fn servers(servers: &Servers, at: &Path, errors: &mut Vec<Error>) {
    let mut server = |server: Option<&Server>, field: &str, missing: &str| match server {
        None => errors.push(Error::required(&at.child(field), missing)),
        Some(server) => checks::not_negative(server.port, &at.child(field).child("port"), errors),
    };
    server(servers.health_probes.as_ref(), "healthProbes", "must provide health probes server configuration");
    server(servers.metrics.as_ref(), "metrics", "must provide metrics server configuration");
}

/// GRM-CFG-021, GRM-CFG-023.
fn leader_election(election: &LeaderElection, at: &Path, errors: &mut Vec<Error>) {
    if election.leader_elect != Some(true) {
        return;
    }
    for (field, duration) in [
        ("leaseDuration", election.lease_duration),
        ("renewDeadline", election.renew_deadline),
        ("retryPeriod", election.retry_period),
    ] {
        if duration.nanos() <= 0 {
            let shown = Shown::verbatim(duration);
            errors.push(Error::invalid(&at.child(field), shown, "must be greater than zero"));
        }
    }
    if election.lease_duration < election.renew_deadline {
        errors.push(Error::invalid(
            &at.child("leaseDuration"),
            Shown::verbatim(election.renew_deadline),
            "LeaseDuration must be greater than RenewDeadline",
        ));
    }
    for (field, value) in [
        ("resourceLock", &election.resource_lock),
        ("resourceNamespace", &election.resource_namespace),
        ("resourceName", &election.resource_name),
    ] {
        if value.is_empty() {
            errors.push(Error::invalid(&at.child(field), "", &format!("{field} is required")));
        }
    }
}

/// GRM-CFG-041.
fn controllers(controllers: &ControllersConfiguration, at: &Path, errors: &mut Vec<Error>) {
    if controllers.cluster_id.is_none() {
        errors.push(Error::required(&at.child("clusterID"), "cluster id must be non-nil"));
    }
    let class = controllers.resource_class.as_deref().unwrap_or_default();
    required(class, &at.child("resourceClass"), "must provide a resource class", errors);
    let approver = &controllers.kubelet_csr_approver;
    if approver.enabled {
        concurrent_syncs(approver.concurrent_syncs, &at.child("kubeletCSRApprover"), errors);
    }
    if controllers.garbage_collector.enabled {
        sync_period(controllers.garbage_collector.sync_period, &at.child("garbageCollector"), errors);
    }
    concurrent_syncs(controllers.health.concurrent_syncs, &at.child("health"), errors);
    sync_period(controllers.health.sync_period, &at.child("health"), errors);
    managed_resource(&controllers.managed_resource, &at.child("managedResources"), errors);
    concurrent_syncs(controllers.secret.concurrent_syncs, &at.child("secret"), errors);
    if controllers.token_requestor.enabled {
        concurrent_syncs(controllers.token_requestor.concurrent_syncs, &at.child("tokenRequestor"), errors);
    }
}

/// GRM-CFG-046.
fn managed_resource(config: &ManagedResourceConfig, at: &Path, errors: &mut Vec<Error>) {
    concurrent_syncs(config.concurrent_syncs, at, errors);
    sync_period(config.sync_period, at, errors);
    let value = config.managed_by_label_value.as_deref().unwrap_or_default();
    required(value, &at.child("managedByLabelValue"), "must specify value of managed-by label", errors);
}

/// GRM-CFG-072.
fn webhooks(webhooks: &WebhooksConfiguration, at: &Path, errors: &mut Vec<Error>) {
    let scheduler = &webhooks.pod_scheduler_name;
    if scheduler.enabled {
        let name = scheduler.scheduler_name.as_deref().unwrap_or_default();
        let field = at.child("podSchedulerName").child("schedulerName");
        required(name, &field, "must specify schedulerName when webhook is enabled", errors);
    }
    let token = &webhooks.projected_token_mount;
    let seconds = token.expiration_seconds.unwrap_or_default();
    if token.enabled && seconds < 600 {
        let field = at.child("projectedTokenMount").child("expirationSeconds");
        errors.push(Error::invalid(&field, seconds, "must be at least 600"));
    }
    let high_availability = &webhooks.high_availability_config;
    for (field, seconds) in [
        ("defaultNotReadyTolerationSeconds", high_availability.default_not_ready_toleration_seconds),
        ("defaultUnreachableTolerationSeconds", high_availability.default_unreachable_toleration_seconds),
    ] {
        let field = at.child("highAvailabilityConfig").child(field);
        checks::not_negative(seconds.unwrap_or_default(), &field, errors);
    }
    let tolerations = at.child("systemComponentsConfig").child("podTolerations");
    for (index, toleration) in webhooks.system_components_config.pod_tolerations.iter().enumerate() {
        validate_toleration(toleration, &tolerations.index(index), errors);
    }
}

/// Validates a toleration as Kubernetes does. GRM-CFG-075.
fn validate_toleration(toleration: &Toleration, at: &Path, errors: &mut Vec<Error>) {
    let Toleration { key, operator, value, effect, toleration_seconds } = toleration;
    if key.is_empty() {
        if operator != "Exists" {
            let detail =
                "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
            errors.push(Error::invalid(&at.child("operator"), operator, detail));
        }
    } else {
        for detail in name::label_key(key) {
            errors.push(Error::invalid(&at.child("key"), key, &detail));
        }
    }
    if toleration_seconds.is_some() && effect != "NoExecute" {
        let detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
        errors.push(Error::invalid(&at.child("effect"), effect, detail));
    }
    match operator.as_str() {
        "" | "Equal" => {
            let details = name::label_value(value);
            if !details.is_empty() {
                errors.push(Error::invalid(&at.child("operator"), value, &details.join(";")));
            }
        }
        "Exists" if value.is_empty() => {}
        "Exists" => errors.push(Error::invalid(
            &at.child("operator"),
            Shown::verbatim(serde_json::to_string(toleration).expect("a toleration holds only JSON")),
            "value must be empty when `operator` is 'Exists'",
        )),
        other => errors.push(Error::not_supported(&at.child("operator"), other, &["Equal", "Exists"])),
    }
    if !effect.is_empty() {
        checks::supported(effect, &EFFECTS, &at.child("effect"), errors);
    }
}

/// GRM-CFG-060.
fn concurrent_syncs(number: Option<i64>, at: &Path, errors: &mut Vec<Error>) {
    if number.unwrap_or_default() <= 0 {
        let shown = number.map_or_else(|| Shown::from("null"), Shown::from);
        errors.push(Error::invalid(&at.child("concurrentSyncs"), shown, "must be at least 1"));
    }
}

/// GRM-CFG-061.
fn sync_period(period: Option<GoDuration>, at: &Path, errors: &mut Vec<Error>) {
    if period.is_none_or(|period| period < GoDuration::from_seconds(15)) {
        let shown = period.map_or_else(|| Shown::from("null"), Shown::verbatim);
        errors.push(Error::invalid(&at.child("syncPeriod"), shown, "must be at least 15s"));
    }
}

fn required(text: &str, at: &Path, detail: &str, errors: &mut Vec<Error>) {
    if text.is_empty() {
        errors.push(Error::required(at, detail));
    }
}
