//! The Deployment of a resource-manager.

use api::networking::{TO_DNS, TO_RUNTIME_API_SERVER};
use api::resources::PROJECTED_TOKEN_SKIP;
use serde_json::{Value, json};

use super::configuration::{CERTIFICATES, KEY};
use super::{HEALTH_PORT, METRICS_PORT, ResourceManagerProgram};
use crate::components::access::push;
use crate::components::error::RenderError;
use crate::components::networks::allowed;
use crate::components::objects::{config_map_volume, entries, metadata, with};
use crate::components::rendering::name_of;
use crate::components::values::GardenValues;

/// How often both run. OPC-025, OPC-111.
const REPLICAS: u32 = 2;
/// Name of the container and of the image.
const PROGRAM: &str = "gardener-resource-manager";
const CONFIGURATION: &str = "/etc/gardener-resource-manager-config";
const SERVICE_ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
/// The mode of files: 0644.
const MODE: u32 = 420;
/// How long the token for the runtime cluster is valid, in seconds.
const TOKEN_SECONDS: u32 = 12 * 3600;

impl ResourceManagerProgram {
    /// The Deployment, whose Pods may connect to the runtime cluster; annotations about references are missing yet.
    ///
    /// # Errors
    /// If the server certificate was not generated, or there is no image.
    pub fn deployment(&self, values: &GardenValues<'_>, config_map: &Value) -> Result<Value, RenderError> {
        let peers = allowed([TO_DNS, TO_RUNTIME_API_SERVER]);
        let pod_labels = with(with(self.pod_labels(), peers), entries([(PROJECTED_TOKEN_SKIP, "true")]));
        let [availability, how] = self.availability;
        let mut deployment = json!({
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": metadata(self.name, &with(self.labels(), entries([(availability, how)]))),
            "spec": {
                "replicas": REPLICAS,
                "revisionHistoryLimit": 2,
                "selector": { "matchLabels": self.app() },
                "template": {
                    "metadata": { "labels": pod_labels },
                    "spec": {
                        "priorityClassName": self.priority,
                        "securityContext": { "seccompProfile": { "type": "RuntimeDefault" } },
                        "serviceAccountName": self.name,
                        "containers": [container(values)?],
                    },
                },
            },
        });
        let certificate = values.secrets.name(self.certificate)?;
        add_volume(&mut deployment, token_volume(), SERVICE_ACCOUNT);
        add_volume(&mut deployment, secret_volume("tls", certificate), CERTIFICATES);
        add_volume(&mut deployment, config_map_volume("config", name_of(config_map)), CONFIGURATION);
        Ok(deployment)
    }
}

/// Adds a volume to the Pods, and mounts it in the container.
pub fn add_volume(deployment: &mut Value, volume: Value, path: &str) {
    let pod = &mut deployment["spec"]["template"]["spec"];
    let mount = json!({ "name": volume["name"], "mountPath": path, "readOnly": true });
    push(&mut pod["containers"][0], "volumeMounts", mount);
    push(pod, "volumes", volume);
}

/// A volume with a Secret, whose files have the mode 0644.
#[must_use]
pub fn secret_volume(name: &str, secret: &str) -> Value {
    json!({ "name": name, "secret": { "secretName": secret, "defaultMode": MODE } })
}

fn container(values: &GardenValues<'_>) -> Result<Value, RenderError> {
    let port = |name: &str, port: u16| json!({ "name": name, "containerPort": port, "protocol": "TCP" });
    let get = |path: &str| json!({ "path": path, "port": HEALTH_PORT, "scheme": "HTTP" });
    Ok(json!({
        "name": PROGRAM,
        "image": values.gardener_image(PROGRAM)?,
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
