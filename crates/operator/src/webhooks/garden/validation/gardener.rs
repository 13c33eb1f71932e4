//! Gardener's control plane in a Garden.

use api::operator::gardener::{GardenerApiServerConfig, GardenerConfig, GardenerControllerManagerConfig};
use schema::admission_plugins;
use webhook::field::{Error, Path};

use super::{FieldErrors, api_server, feature_gates, resource_sizes, selector};

/// Admission plugins of Kubernetes that gardener-apiserver asks before and after its own.
const FIRST: [&str; 1] = ["NamespaceLifecycle"];
const LAST: [&str; 4] =
    ["MutatingAdmissionWebhook", "ValidatingAdmissionPolicy", "ValidatingAdmissionWebhook", "ResourceQuota"];

/// Errors of the components, in the original's order.
pub(super) fn errors(gardener: &GardenerConfig, at: &Path) -> FieldErrors {
    let mut errors = Vec::new();
    if let Some(server) = &gardener.api_server {
        errors.extend(api_server(server, &at.child("gardenerAPIServer")));
    }
    let admission = gardener.admission_controller.as_ref();
    if let Some(sizes) = admission.and_then(|admission| admission.resource_admission_configuration.as_ref()) {
        let at = at.child("gardenerAdmissionController").child("resourceAdmissionConfiguration");
        errors.extend(resource_sizes::errors(sizes, &at));
    }
    if let Some(manager) = &gardener.controller_manager {
        errors.extend(controller_manager(manager, &at.child("gardenerControllerManager")));
    }
    if let Some(scheduler) = &gardener.scheduler {
        let at = at.child("gardenerScheduler").child("featureGates");
        errors.extend(feature_gates::gardener(&scheduler.feature_gates, &at));
    }
    errors
}

/// OPR-GRD-002, OPR-GRD-003, OPR-GRD-007, OPR-GRD-008.
fn api_server(server: &GardenerApiServerConfig, at: &Path) -> FieldErrors {
    let mut errors = feature_gates::gardener(&server.feature_gates, &at.child("featureGates"));
    let known = [&FIRST[..], &admission_plugins::NAMES[..], &LAST[..]].concat();
    for (index, plugin) in server.admission_plugins.iter().enumerate() {
        let name = at.child("admissionPlugins").index(index).child("name");
        if plugin.name.is_empty() {
            errors.push(Error::required(&name, "must provide a name"));
            // The original looks no further.
            return errors;
        }
        if !known.contains(&plugin.name.as_str()) {
            errors.push(Error::not_supported(&name, &plugin.name, &known));
        }
    }
    api_server::audit(server.audit_config.as_ref(), &at.child("auditConfig"), &mut errors);
    api_server::watch_caches(server.watch_cache_sizes.as_ref(), &at.child("watchCacheSizes"), &mut errors);
    api_server::logging(server.logging.as_ref(), &at.child("logging"), &mut errors);
    api_server::requests(server.requests.as_ref(), &at.child("requests"), &mut errors);
    errors
}

fn controller_manager(manager: &GardenerControllerManagerConfig, at: &Path) -> FieldErrors {
    let mut errors = feature_gates::gardener(&manager.feature_gates, &at.child("featureGates"));
    let quotas = at.child("defaultProjectQuotas");
    for (index, quota) in manager.default_project_quotas.iter().enumerate() {
        let at = quotas.index(index).child("projectSelector");
        let selector = quota.project_selector.as_ref();
        errors.extend(selector.map(|of| selector::errors(of, &at)).unwrap_or_default());
    }
    errors
}
