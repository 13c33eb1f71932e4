//! The Deployment of the gateway.

use std::collections::BTreeMap;

use api::networking::TO_DNS;
use serde_json::{Value, json};

use super::gateway::{BOOTSTRAP, BOOTSTRAP_KEY, NAME, PORT, labels, versioned_labels};
use super::{
    GATEWAY_NAMESPACE, ISTIOD_ADDRESS, ISTIOD_PORT, PRIORITY, USER, apart, field_variable, mesh, placed,
    restricted, token_volume, variable,
};
use crate::components::networks::{VIRTUAL_API_SERVER, allowed, to_service};
use crate::components::objects::{config_map_volume, entries, with};

/// Where the ConfigMap with what it starts with is.
const BOOTSTRAP_PATH: &str = "/etc/istio/custom-bootstrap";
/// Directories that are empty at the start, and where they are.
const EMPTY: [(&str, &str); 5] = [
    ("workload-socket", "/var/run/secrets/workload-spiffe-uds"),
    ("credential-socket", "/var/run/secrets/credential-uds"),
    ("workload-certs", "/var/run/secrets/workload-spiffe-credentials"),
    ("istio-envoy", "/etc/istio/proxy"),
    ("istio-data", "/var/lib/istio/data"),
];

/// The Deployment with so many replicas, and the checksum of what its proxy starts with.
pub(super) fn deployment(image: &str, replicas: usize, checksum: &str) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": placed(NAME, GATEWAY_NAMESPACE, &versioned_labels()),
        "spec": {
            "replicas": replicas,
            "revisionHistoryLimit": 1,
            "selector": { "matchLabels": labels() },
            "strategy": { "rollingUpdate": { "maxSurge": 1, "maxUnavailable": 0 } },
            "template": {
                "metadata": {
                    "labels": pod_labels(),
                    "annotations": {
                        "sidecar.istio.io/inject": "false",
                        "checksum/configmap-bootstrap-config-override": checksum,
                    },
                },
                "spec": pod(image),
            },
        },
    })
}

/// OPC-049.
fn pod_labels() -> BTreeMap<String, String> {
    let to = [
        TO_DNS.to_owned(),
        to_service("istio-system-istiod", ISTIOD_PORT),
        to_service(&format!("garden-{VIRTUAL_API_SERVER}"), 443),
    ];
    let canonical =
        entries([("service.istio.io/canonical-name", NAME), ("service.istio.io/canonical-revision", "1.7")]);
    with(with(labels(), allowed(to)), canonical)
}

/// It may listen on low ports without the permissions of root.
fn pod(image: &str) -> Value {
    json!({
        "serviceAccountName": NAME,
        "securityContext": {
            "sysctls": [{ "name": "net.ipv4.ip_unprivileged_port_start", "value": "0" }],
            "fsGroup": USER,
            "runAsGroup": USER,
            "runAsNonRoot": true,
            "runAsUser": USER,
        },
        "containers": [container(image)],
        "volumes": volumes(),
        "priorityClassName": PRIORITY,
        "affinity": apart(&labels()),
    })
}

fn container(image: &str) -> Value {
    let mut security = restricted();
    security["privileged"] = false.into();
    json!({
        "name": "istio-proxy",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "securityContext": security,
        "ports": [{ "containerPort": PORT, "protocol": "TCP" }],
        "args": [
            "proxy",
            "router",
            format!("--domain={GATEWAY_NAMESPACE}.svc.{}", mesh::TRUST_DOMAIN),
            "--proxyLogLevel=warning",
            "--proxyComponentLogLevel=misc:error",
            "--log_output_level=all:warn,ads:error",
            format!("--serviceCluster={NAME}"),
            "--concurrency=4",
        ],
        "readinessProbe": {
            "failureThreshold": 30,
            "httpGet": { "path": "/healthz/ready", "port": 15021, "scheme": "HTTP" },
            "initialDelaySeconds": 1,
            "periodSeconds": 2,
            "successThreshold": 1,
            "timeoutSeconds": 1,
        },
        "resources": { "requests": { "cpu": "1000m", "memory": "2Gi" }, "limits": { "memory": "8Gi" } },
        "env": environment(),
        "volumeMounts": mounts(),
    })
}

fn environment() -> Vec<Value> {
    let owner = format!("kubernetes://apis/apps/v1/namespaces/{GATEWAY_NAMESPACE}/deployments/{NAME}");
    let node = json!({ "fieldRef": { "fieldPath": "spec.nodeName" } });
    vec![
        field_variable("NODE_NAME", "spec.nodeName"),
        field_variable("POD_NAME", "metadata.name"),
        field_variable("POD_NAMESPACE", "metadata.namespace"),
        field_variable("INSTANCE_IP", "status.podIP"),
        field_variable("HOST_IP", "status.hostIP"),
        field_variable("SERVICE_ACCOUNT", "spec.serviceAccountName"),
        field_variable("ISTIO_META_POD_NAME", "metadata.name"),
        field_variable("ISTIO_META_CONFIG_NAMESPACE", "metadata.namespace"),
        variable("JWT_POLICY", "third-party-jwt"),
        variable("PILOT_CERT_PROVIDER", "istiod"),
        variable("ISTIO_META_USER_SDS", "true"),
        variable("CA_ADDR", ISTIOD_ADDRESS),
        variable("ISTIO_META_WORKLOAD_NAME", NAME),
        variable("ISTIO_META_OWNER", &owner),
        variable("ISTIO_AUTO_MTLS_ENABLED", "true"),
        variable("ISTIO_META_ROUTER_MODE", "standard"),
        variable("ISTIO_META_CLUSTER_ID", "Kubernetes"),
        json!({ "name": "ISTIO_META_NODE_NAME", "valueFrom": node }),
        variable("ISTIO_BOOTSTRAP_OVERRIDE", &format!("{BOOTSTRAP_PATH}/{BOOTSTRAP_KEY}")),
    ]
}

/// Those of EMPTY in the original's order among the others.
fn mounts() -> Vec<Value> {
    let mount = |name: &str, path: &str| json!({ "name": name, "mountPath": path });
    let read_only = |name: &str, path: &str| json!({ "name": name, "mountPath": path, "readOnly": true });
    let [socket, credentials, certificates, envoy, data] = EMPTY.map(|(name, path)| mount(name, path));
    vec![
        socket,
        credentials,
        certificates,
        envoy,
        mount("istiod-ca-cert", "/var/run/secrets/istio"),
        read_only("custom-bootstrap-volume", BOOTSTRAP_PATH),
        read_only("istio-token", "/var/run/secrets/tokens"),
        data,
        mount("podinfo", "/etc/istio/pod"),
    ]
}

fn volumes() -> Vec<Value> {
    let [socket, credentials, certificates, envoy, data] =
        EMPTY.map(|(name, _)| json!({ "name": name, "emptyDir": {} }));
    let item = |name: &str| json!({ "path": name, "fieldRef": { "fieldPath": format!("metadata.{name}") } });
    let pod = json!({ "name": "podinfo", "downwardAPI": { "items": [item("labels"), item("annotations")] } });
    vec![
        socket,
        credentials,
        certificates,
        config_map_volume("istiod-ca-cert", "istio-ca-root-cert"),
        config_map_volume("custom-bootstrap-volume", BOOTSTRAP),
        pod,
        envoy,
        data,
        token_volume(),
    ]
}
