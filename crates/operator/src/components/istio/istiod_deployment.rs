//! The Deployment of istiod.

use std::collections::BTreeMap;

use api::networking::{TO_DNS, TO_RUNTIME_API_SERVER};
use serde_json::{Value, json};

use super::istiod::{METRICS_PORT, NAME, WEBHOOK_PORT, labels};
use super::{
    ISTIO_SYSTEM, ISTIOD_ADDRESS, ISTIOD_PORT, PRIORITY, USER, apart, field_variable, mesh, placed,
    restricted, token_volume, variable,
};
use crate::components::networks::allowed;
use crate::components::objects::{config_map_volume, with};

/// The name of its container.
pub(super) const CONTAINER: &str = "discovery";
/// Where it says whether it is ready.
const READINESS_PORT: u16 = 8080;

/// The Deployment with the checksum of the mesh's configuration.
pub(super) fn deployment(image: &str, checksum: &str) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": placed(NAME, ISTIO_SYSTEM, &labels()),
        "spec": {
            "replicas": 2,
            "revisionHistoryLimit": 1,
            "strategy": { "rollingUpdate": { "maxSurge": "100%", "maxUnavailable": "25%" } },
            "selector": { "matchLabels": labels() },
            "template": {
                "metadata": { "labels": pod_labels(), "annotations": pod_annotations(checksum) },
                "spec": {
                    "serviceAccountName": NAME,
                    "securityContext": { "fsGroup": USER },
                    "containers": [container(image)],
                    "volumes": volumes(),
                    "priorityClassName": PRIORITY,
                    "affinity": apart(&labels()),
                },
            },
        },
    })
}

fn pod_labels() -> BTreeMap<String, String> {
    with(labels(), allowed([TO_DNS, TO_RUNTIME_API_SERVER]))
}

fn pod_annotations(checksum: &str) -> Value {
    json!({ "sidecar.istio.io/inject": "false", "checksum/istio-config": checksum })
}

fn container(image: &str) -> Value {
    let ports = [ISTIOD_PORT, WEBHOOK_PORT, READINESS_PORT]
        .map(|port| json!({ "containerPort": port, "protocol": "TCP" }));
    json!({
        "name": CONTAINER,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "args": [
            CONTAINER,
            format!("--monitoringAddr=:{METRICS_PORT}"),
            "--grpcAddr=",
            format!("--httpsAddr=:{WEBHOOK_PORT}"),
            "--log_output_level=all:warn,ads:error",
            "--domain",
            mesh::TRUST_DOMAIN,
            "--keepaliveMaxServerConnectionAge",
            "30m",
        ],
        "ports": ports,
        "readinessProbe": {
            "httpGet": { "path": "/ready", "port": READINESS_PORT },
            "initialDelaySeconds": 1,
            "periodSeconds": 3,
            "timeoutSeconds": 5,
        },
        "env": environment(),
        "resources": { "requests": { "cpu": "250m", "memory": "256Mi" } },
        "securityContext": restricted(),
        "volumeMounts": mounts(),
    })
}

/// Which version of Istio's features it has; nothing is injected into Pods.
fn environment() -> Vec<Value> {
    vec![
        variable("JWT_POLICY", "third-party-jwt"),
        variable("PILOT_CERT_PROVIDER", NAME),
        field_variable("POD_NAME", "metadata.name"),
        field_variable("POD_NAMESPACE", "metadata.namespace"),
        field_variable("SERVICE_ACCOUNT", "spec.serviceAccountName"),
        variable("PILOT_TRACE_SAMPLING", "0.1"),
        variable("PILOT_ENABLE_PROTOCOL_SNIFFING_FOR_OUTBOUND", "false"),
        variable("PILOT_ENABLE_PROTOCOL_SNIFFING_FOR_INBOUND", "false"),
        variable("INJECTION_WEBHOOK_CONFIG_NAME", "istio-sidecar-injector"),
        variable("ISTIOD_ADDR", ISTIOD_ADDRESS),
        variable("VALIDATION_WEBHOOK_CONFIG_NAME", NAME),
        variable("PILOT_EXTERNAL_GALLEY", "false"),
        variable("CLUSTER_ID", "Kubernetes"),
        variable("EXTERNAL_ISTIOD", "false"),
        variable("PILOT_ENDPOINT_TELEMETRY_LABEL", "true"),
    ]
}

fn mounts() -> Value {
    json!([
        { "name": "config-volume", "mountPath": "/etc/istio/config" },
        { "name": "istio-token", "mountPath": "/var/run/secrets/tokens", "readOnly": true },
        { "name": "local-certs", "mountPath": "/var/run/secrets/istio-dns" },
        { "name": "cacerts", "mountPath": "/etc/cacerts", "readOnly": true },
        { "name": "istio-kubeconfig", "mountPath": "/var/run/secrets/remote", "readOnly": true },
        { "name": "istio-csr-dns-cert", "mountPath": "/var/run/secrets/istiod/tls", "readOnly": true },
        { "name": "istio-csr-ca-configmap", "mountPath": "/var/run/secrets/istiod/ca", "readOnly": true },
    ])
}

/// Secrets that need not exist are for authorities of the user.
fn volumes() -> Vec<Value> {
    let optional = |name: &str, secret: &str| json!({ "name": name, "secret": { "secretName": secret, "optional": true } });
    vec![
        json!({ "name": "local-certs", "emptyDir": { "medium": "Memory" } }),
        token_volume(),
        optional("cacerts", "cacerts"),
        optional("istio-kubeconfig", "istio-kubeconfig"),
        config_map_volume("config-volume", mesh::CONFIG_MAP),
        optional("istio-csr-dns-cert", "istiod-tls"),
        json!({
            "name": "istio-csr-ca-configmap",
            "configMap": { "name": "istio-ca-root-cert", "defaultMode": 420, "optional": true },
        }),
    ]
}
