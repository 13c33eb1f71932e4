//! Durations and quantities of a Garden, which the original's decoder refuses if they are malformed.

use api::garden::{Duration, Quantity};
use api::operator::Garden;
use formats::duration::GoDuration;

/// Whether all durations and quantities are well-formed. OPR-ANS-003.
///
/// # Errors
/// Go's message about the first that is not.
pub(super) fn check(garden: &Garden) -> Result<(), String> {
    let mut durations = durations(garden).into_iter().flatten();
    durations.try_for_each(|text| GoDuration::parse(&text.0).map(drop).map_err(|error| error.to_string()))?;
    quantities(garden).into_iter().try_for_each(|text| {
        formats::quantity::Quantity::parse(&text.0).map(drop).map_err(|error| error.to_string())
    })
}

fn durations(garden: &Garden) -> Vec<Option<&Duration>> {
    let kubernetes = &garden.spec.virtual_cluster.kubernetes;
    let mut durations = Vec::new();
    if let Some(server) = &kubernetes.kube_api_server {
        let tokens = server.service_account_config.as_ref();
        let webhook = server.authentication.as_ref().and_then(|of| of.webhook.as_ref());
        durations.extend([
            server.event_ttl.as_ref(),
            tokens.and_then(|tokens| tokens.max_token_expiration.as_ref()),
            webhook.and_then(|webhook| webhook.cache_ttl.as_ref()),
        ]);
    }
    if let Some(manager) = &kubernetes.kube_controller_manager {
        durations.extend([
            manager.pod_eviction_timeout.as_ref(),
            manager.node_monitor_grace_period.as_ref(),
            manager.certificate_signing_duration.as_ref(),
        ]);
        if let Some(scaling) = &manager.horizontal_pod_autoscaler {
            durations.extend([
                scaling.cpu_initialization_period.as_ref(),
                scaling.downscale_stabilization.as_ref(),
                scaling.initial_readiness_delay.as_ref(),
                scaling.sync_period.as_ref(),
            ]);
        }
    }
    durations
}

fn quantities(garden: &Garden) -> Vec<&Quantity> {
    let cluster = &garden.spec.virtual_cluster;
    let etcd = cluster.etcd.as_ref();
    let main = etcd.and_then(|etcd| etcd.main.as_ref()?.storage.as_ref());
    let events = etcd.and_then(|etcd| etcd.events.as_ref()?.storage.as_ref());
    let storages = [main, events].into_iter().flatten();
    let capacities = storages.filter_map(|storage| storage.capacity.as_ref());
    let admission = cluster.gardener.admission_controller.as_ref();
    let limited = admission.and_then(|admission| admission.resource_admission_configuration.as_ref());
    let limits = limited.map(|limited| limited.limits.as_slice()).unwrap_or_default();
    // A size that is absent is zero.
    let sizes = limits.iter().map(|limit| &limit.size).filter(|size| !size.0.is_empty());
    capacities.chain(sizes).collect()
}
