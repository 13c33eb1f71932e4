//! The configuration of the resource-manager of the virtual cluster.

use api::gardener::SYSTEM_COMPONENTS;
use serde_json::{Value, json};

use super::PROGRAM;
use crate::components::NAMESPACE;
use crate::components::access::{ACCOUNT_NAMESPACE, KUBECONFIG};
use crate::components::error::RenderError;
use crate::components::resource_manager_program::configuration::{ConfigurationParts, connection, switched};
use crate::components::values::GardenValues;

/// The ConfigMap. OPC-109, OPC-112.
pub(super) fn config_map(values: &GardenValues<'_>) -> Result<Value, RenderError> {
    let parts = ConfigurationParts {
        source: connection("", &[NAMESPACE]),
        target: Some(connection(KUBECONFIG, &[NAMESPACE, ACCOUNT_NAMESPACE])),
        controllers: controllers(),
        webhooks: webhooks(),
    };
    PROGRAM.config_map(values, parts)
}

/// Without a class, it is responsible for ManagedResources that have none.
fn controllers() -> Value {
    json!({
        "garbageCollector": { "enabled": true, "syncPeriod": "12h0m0s" },
        "health": { "concurrentSyncs": 10, "syncPeriod": "1m0s" },
        "kubeletCSRApprover": { "enabled": false, "concurrentSyncs": 5, "machineNamespace": NAMESPACE },
        "managedResource": { "concurrentSyncs": 20, "syncPeriod": "1m0s", "alwaysUpdate": true },
        "networkPolicy": switched(false),
        "node": switched(false),
        "secret": {},
        "tokenInvalidator": { "enabled": true, "concurrentSyncs": 5 },
        "tokenRequestor": { "enabled": true, "concurrentSyncs": 5 },
    })
}

fn webhooks() -> Value {
    let off = switched(false);
    let nodes = json!({ SYSTEM_COMPONENTS: "true" });
    json!({
        "crdDeletionProtection": off,
        "endpointSliceHints": off,
        "extensionValidation": off,
        "highAvailabilityConfig": off,
        "kubernetesServiceHost": { "enabled": false, "host": "" },
        "podSchedulerName": off,
        "podTopologySpreadConstraints": off,
        "projectedTokenMount": off,
        "seccompProfile": off,
        "systemComponentsConfig": { "enabled": false, "nodeSelector": nodes, "podNodeSelector": nodes },
        "tokenInvalidator": switched(true),
    })
}
