//! The Deployment of the resource-manager of the virtual cluster.

use api::networking::{TO_DNS, TO_RUNTIME_API_SERVER};
use api::resources::{HA_TYPE, PROJECTED_TOKEN_SKIP};
use serde_json::{Value, json};

use super::configuration::{CERTIFICATES, KEY};
use super::{CLIENT, HEALTH_PORT, METRICS_PORT, NAME, SERVER_CERTIFICATE, app, labels};
use crate::components::access::{mount_kubeconfig, push};
use crate::components::error::RenderError;
use crate::components::generated::CA;
use crate::components::networks::{allowed, to_virtual_api_server};
use crate::components::objects::{config_map_volume, entries, metadata, with};
use crate::components::references;
use crate::components::rendering::name_of;
use crate::components::values::GardenValues;

const REPLICAS: u32 = 2;
const PRIORITY_CLASS: &str = "gardener-garden-system-400";
const CONFIGURATION: &str = "/etc/gardener-resource-manager-config";
const ROOT_CA: &str = "/etc/gardener-resource-manager-root-ca";
const SERVICE_ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
/// Where a kubeconfig is, from whichever Secret.
const KUBECONFIG: &str = "/var/run/secrets/gardener.cloud/shoot/generic-kubeconfig";
/// The mode of files: 0644.
const MODE: u32 = 420;
/// How long the token for the runtime cluster is valid, in seconds.
const TOKEN_SECONDS: u32 = 12 * 3600;

/// With the kubeconfig of the Secret `bootstrap`, or else with its token. OPC-018, OPC-110, OPC-111.
pub(super) fn deployment(
    values: &GardenValues<'_>,
    config_map: &Value,
    bootstrap: Option<&str>,
) -> Result<Value, RenderError> {
    let peers = allowed([TO_DNS.to_owned(), TO_RUNTIME_API_SERVER.to_owned(), to_virtual_api_server()]);
    let pod_labels = with(with(labels(), peers), entries([(PROJECTED_TOKEN_SKIP, "true")]));
    let mut deployment = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(NAME, &with(labels(), entries([(HA_TYPE, "server")]))),
        "spec": {
            "replicas": REPLICAS,
            "revisionHistoryLimit": 2,
            "selector": { "matchLabels": app() },
            "template": {
                "metadata": { "labels": pod_labels },
                "spec": {
                    "priorityClassName": PRIORITY_CLASS,
                    "securityContext": { "seccompProfile": { "type": "RuntimeDefault" } },
                    "serviceAccountName": NAME,
                    "containers": [container(values)?],
                },
            },
        },
    });
    let server = values.secrets.name(SERVER_CERTIFICATE)?;
    add_volume(&mut deployment, token_volume(), SERVICE_ACCOUNT);
    add_volume(&mut deployment, secret_volume("tls", server), CERTIFICATES);
    add_volume(&mut deployment, config_map_volume("config", name_of(config_map)), CONFIGURATION);
    add_volume(&mut deployment, secret_volume("root-ca", values.secrets.name(CA)?), ROOT_CA);
    match bootstrap {
        Some(secret) => {
            add_volume(&mut deployment, secret_volume("kubeconfig-bootstrap", secret), KUBECONFIG);
        }
        None => mount_kubeconfig(&mut deployment, values.secrets, CLIENT)?,
    }
    references::annotate(&mut deployment);
    Ok(deployment)
}

fn container(values: &GardenValues<'_>) -> Result<Value, RenderError> {
    let port = |name: &str, port: u16| json!({ "name": name, "containerPort": port, "protocol": "TCP" });
    let get = |path: &str| json!({ "path": path, "port": HEALTH_PORT, "scheme": "HTTP" });
    Ok(json!({
        "name": CLIENT,
        "image": values.gardener_image("gardener-resource-manager")?,
        "imagePullPolicy": "IfNotPresent",
        "args": [format!("--config={CONFIGURATION}/{KEY}")],
        "ports": [port("metrics", METRICS_PORT), port("health", HEALTH_PORT)],
        "resources": { "requests": { "cpu": "23m", "memory": "47Mi" } },
        "livenessProbe": {
            "httpGet": get("/healthz"),
            "initialDelaySeconds": 30,
            "failureThreshold": 5,
            "periodSeconds": 10,
            "successThreshold": 1,
            "timeoutSeconds": 5,
        },
        "readinessProbe": { "httpGet": get("/readyz"), "initialDelaySeconds": 10 },
    }))
}

/// Adds a volume to the Pods, and mounts it in the container.
fn add_volume(deployment: &mut Value, volume: Value, path: &str) {
    let pod = &mut deployment["spec"]["template"]["spec"];
    let mount = json!({ "name": volume["name"], "mountPath": path, "readOnly": true });
    push(&mut pod["containers"][0], "volumeMounts", mount);
    push(pod, "volumes", volume);
}

fn secret_volume(name: &str, secret: &str) -> Value {
    json!({ "name": name, "secret": { "secretName": secret, "defaultMode": MODE } })
}

/// The token for the runtime cluster, which kubelet renews, and what belongs to it.
fn token_volume() -> Value {
    let authority = json!({ "name": "kube-root-ca.crt", "items": [{ "key": "ca.crt", "path": "ca.crt" }] });
    let namespace = json!({
        "path": "namespace",
        "fieldRef": { "apiVersion": "v1", "fieldPath": "metadata.namespace" },
    });
    json!({
        "name": "kube-api-access-gardener",
        "projected": {
            "defaultMode": MODE,
            "sources": [
                { "serviceAccountToken": { "expirationSeconds": TOKEN_SECONDS, "path": "token" } },
                { "configMap": authority },
                { "downwardAPI": { "items": [namespace] } },
            ],
        },
    })
}
