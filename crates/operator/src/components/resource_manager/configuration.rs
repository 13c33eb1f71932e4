//! The configuration of the resource-manager of the runtime cluster.

use api::gardener::{
    EXPOSURE_CLASS_HANDLER, ROLE, ROLE_EXTENSION, ROLE_ISTIO_INGRESS, ROLE_ISTIO_SYSTEM, ROLE_SHOOT,
};
use api::kubernetes::METADATA_NAME;
use api::resources::SEED_CLASS;
use serde_json::{Value, json};

use super::PROGRAM;
use crate::components::NAMESPACE;
use crate::components::error::RenderError;
use crate::components::resource_manager_program::configuration::{ConfigurationParts, connection, switched};
use crate::components::values::GardenValues;

/// The ConfigMap. OPC-026 to -029.
pub(super) fn config_map(values: &GardenValues<'_>) -> Result<Value, RenderError> {
    let parts = ConfigurationParts {
        source: connection("", &[]),
        target: None,
        controllers: controllers(values),
        webhooks: webhooks(values),
    };
    PROGRAM.config_map(values, parts)
}

fn controllers(values: &GardenValues<'_>) -> Value {
    let ingress_controller = json!({ "app": "nginx-ingress", "component": "controller" });
    json!({
        "resourceClass": SEED_CLASS,
        "garbageCollector": { "enabled": true, "syncPeriod": "12h0m0s" },
        "health": { "syncPeriod": "1m0s" },
        "kubeletCSRApprover": { "enabled": false, "machineNamespace": "" },
        "managedResource": { "concurrentSyncs": 20, "syncPeriod": "1h0m0s" },
        "networkPolicy": {
            "enabled": true,
            "concurrentSyncs": 20,
            "namespaceSelectors": namespaces(values),
            "ingressControllerSelector": {
                "namespace": NAMESPACE,
                "podSelector": { "matchLabels": ingress_controller },
            },
        },
        "node": switched(false),
        "secret": {},
        "tokenInvalidator": { "enabled": true, "concurrentSyncs": 5 },
        "tokenRequestor": switched(false),
    })
}

/// Namespaces that get NetworkPolicies: the configured ones come last. OPC-026.
fn namespaces(values: &GardenValues<'_>) -> Vec<Value> {
    let roles = [ROLE_SHOOT, ROLE_EXTENSION, ROLE_ISTIO_SYSTEM, ROLE_ISTIO_INGRESS];
    let with_role = roles.map(|role| json!({ "matchLabels": { ROLE: role } }));
    let others = [
        json!({ "matchExpressions": [{ "key": EXPOSURE_CLASS_HANDLER, "operator": "Exists" }] }),
        json!({ "matchLabels": { METADATA_NAME: NAMESPACE } }),
    ];
    let configured = values.config.controllers.network_policy.additional_namespace_selectors.iter();
    with_role.into_iter().chain(others).chain(configured.map(|selector| json!(selector))).collect()
}

/// OPC-027, OPC-028, OPC-029.
fn webhooks(values: &GardenValues<'_>) -> Value {
    let mut availability = switched(true);
    if let Some(toleration) = &values.config.node_toleration {
        let seconds = [
            ("defaultNotReadyTolerationSeconds", toleration.default_not_ready_toleration_seconds),
            ("defaultUnreachableTolerationSeconds", toleration.default_unreachable_toleration_seconds),
        ];
        for (field, seconds) in seconds {
            if let Some(seconds) = seconds {
                availability[field] = seconds.into();
            }
        }
    }
    json!({
        "crdDeletionProtection": switched(true),
        "endpointSliceHints": switched(values.has_topology_aware_routing()),
        "extensionValidation": switched(true),
        "highAvailabilityConfig": availability,
        "kubernetesServiceHost": { "enabled": false, "host": "" },
        "podSchedulerName": switched(false),
        "podTopologySpreadConstraints": switched(true),
        "projectedTokenMount": switched(true),
        "seccompProfile": switched(values.has_default_seccomp_profile()),
        "systemComponentsConfig": switched(false),
        "tokenInvalidator": switched(true),
    })
}
