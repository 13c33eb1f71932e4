//! The configuration of the mesh, which istiod reads.

use formats::yaml;
use serde_json::{Value, json};

use super::istiod::labels;
use super::{ISTIO_SYSTEM, ISTIOD_ADDRESS, placed};
use crate::components::error::RenderError;

/// The ConfigMap with it.
pub(super) const CONFIG_MAP: &str = "istio";
/// The domain that identities of workloads are in.
pub(super) const TRUST_DOMAIN: &str = "cluster.local";

/// The ConfigMap. Services are known in their own namespaces alone (`-`) unless they say otherwise. Its text is not the original's
/// letter by letter, but says the same.
pub(super) fn config_map() -> Result<Value, RenderError> {
    let text = |value: &Value| yaml::to_string(value).map_err(RenderError::yaml(CONFIG_MAP));
    Ok(json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": placed(CONFIG_MAP, ISTIO_SYSTEM, &labels()),
        "data": { "mesh": text(&mesh())?, "meshNetworks": text(&json!({ "networks": {} }))? },
    }))
}

fn mesh() -> Value {
    json!({
        "connectTimeout": "10s",
        "enableTracing": false,
        "accessLogFile": "",
        "accessLogFormat": "",
        "accessLogEncoding": "TEXT",
        "enableEnvoyAccessLogService": false,
        "protocolDetectionTimeout": "100ms",
        "ingressService": "istio-ingressgateway",
        "ingressControllerMode": "OFF",
        "ingressClass": "istio",
        "trustDomain": TRUST_DOMAIN,
        "enableAutoMtls": true,
        "outboundTrafficPolicy": { "mode": "REGISTRY_ONLY" },
        "localityLbSetting": { "enabled": true },
        "certificates": [],
        "defaultServiceExportTo": ["-"],
        "defaultVirtualServiceExportTo": ["-"],
        "defaultDestinationRuleExportTo": ["-"],
        "defaultConfig": {
            "configPath": "/etc/istio/proxy",
            "serviceCluster": "istio-proxy",
            "drainDuration": "45s",
            "parentShutdownDuration": "1m0s",
            "proxyAdminPort": 15000,
            "concurrency": 2,
            "controlPlaneAuthPolicy": "NONE",
            "discoveryAddress": ISTIOD_ADDRESS,
        },
        "rootNamespace": ISTIO_SYSTEM,
        "enablePrometheusMerge": true,
    })
}
