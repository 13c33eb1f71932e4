//! The configuration of the resource-manager of the virtual cluster.

use std::collections::BTreeMap;

use api::gardener::SYSTEM_COMPONENTS;
use formats::yaml;
use serde_json::{Value, json};

use super::{HEALTH_PORT, METRICS_PORT, NAME, SERVER_PORT};
use crate::components::access::{ACCOUNT_NAMESPACE, KUBECONFIG};
use crate::components::error::RenderError;
use crate::components::gardener_program::server;
use crate::components::values::GardenValues;
use crate::components::{NAMESPACE, unique};

/// The key of the file.
pub(super) const KEY: &str = "config.yaml";
/// The folder with the server certificate.
pub(super) const CERTIFICATES: &str = "/etc/gardener-resource-manager-tls";

/// The ConfigMap. OPC-109, OPC-112.
pub(super) fn config_map(values: &GardenValues<'_>) -> Result<Value, RenderError> {
    let text = yaml::to_string(&configuration(values)).map_err(RenderError::yaml(KEY))?;
    let data = BTreeMap::from([(KEY.to_owned(), text)]);
    Ok(unique::config_map(NAME, &BTreeMap::new(), &data))
}

fn configuration(values: &GardenValues<'_>) -> Value {
    json!({
        "apiVersion": "resourcemanager.config.gardener.cloud/v1alpha1",
        "kind": "ResourceManagerConfiguration",
        "sourceClientConnection": connection("", &[NAMESPACE]),
        "targetClientConnection": connection(KUBECONFIG, &[NAMESPACE, ACCOUNT_NAMESPACE]),
        "leaderElection": {
            "leaderElect": true,
            "leaseDuration": "0s",
            "renewDeadline": "0s",
            "retryPeriod": "0s",
            "resourceLock": "",
            "resourceName": NAME,
            "resourceNamespace": NAMESPACE,
        },
        "server": {
            "webhooks": { "bindAddress": "", "port": SERVER_PORT, "tls": { "serverCertDir": CERTIFICATES } },
            "healthProbes": server(HEALTH_PORT),
            "metrics": server(METRICS_PORT),
        },
        "logLevel": values.config.log_level,
        "logFormat": values.config.log_format,
        "controllers": controllers(),
        "webhooks": webhooks(),
    })
}

fn connection(kubeconfig: &str, namespaces: &[&str]) -> Value {
    json!({
        "kubeconfig": kubeconfig,
        "acceptContentTypes": "",
        "contentType": "",
        "qps": 0,
        "burst": 0,
        "namespaces": namespaces,
    })
}

/// Without a class, it is responsible for ManagedResources that have none.
fn controllers() -> Value {
    json!({
        "garbageCollector": { "enabled": true, "syncPeriod": "12h0m0s" },
        "health": { "concurrentSyncs": 10, "syncPeriod": "1m0s" },
        "kubeletCSRApprover": { "enabled": false, "concurrentSyncs": 5, "machineNamespace": NAMESPACE },
        "managedResource": { "concurrentSyncs": 20, "syncPeriod": "1m0s", "alwaysUpdate": true },
        "networkPolicy": { "enabled": false },
        "node": { "enabled": false },
        "secret": {},
        "tokenInvalidator": { "enabled": true, "concurrentSyncs": 5 },
        "tokenRequestor": { "enabled": true, "concurrentSyncs": 5 },
    })
}

fn webhooks() -> Value {
    let off = json!({ "enabled": false });
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
        "tokenInvalidator": { "enabled": true },
    })
}
