//! The Deployment of kube-controller-manager.

use api::gardener::{ROLE, ROLE_CONTROL_PLANE};
use api::networking::TO_DNS;
use api::resources::{HA_TYPE, HA_TYPE_CONTROLLER};
use serde_json::{Value, json};

use super::command::{MOUNTS, command};
use super::{CLIENT, NAME, PORT, SERVER_CERTIFICATE, labels};
use crate::components::access::mount_kubeconfig;
use crate::components::error::RenderError;
use crate::components::generated::CA;
use crate::components::kube_apiserver::SERVICE_ACCOUNT_KEY;
use crate::components::networks::{allowed, to_virtual_api_server};
use crate::components::objects::{entries, metadata, secret_volume, with};
use crate::components::values::GardenValues;

/// Label of Pods that restart in the maintenance window of a Shoot.
const MAINTENANCE_RESTART: &str = "maintenance.gardener.cloud/restart";
const PRIORITY_CLASS: &str = "gardener-garden-system-300";
/// The authority of clients.
const CA_CLIENT: &str = "ca-client";

/// It has no annotations that name its Secrets: the secrets manager alone protects them. OPC-106.
pub(super) fn deployment(values: &GardenValues<'_>) -> Result<Value, RenderError> {
    let with_role = with(labels(), entries([(ROLE, ROLE_CONTROL_PLANE)]));
    let peers = allowed([TO_DNS.to_owned(), to_virtual_api_server()]);
    let pod_labels = with(with(with_role.clone(), peers), entries([(MAINTENANCE_RESTART, "true")]));
    let secrets = values.secrets;
    let names = [
        secrets.name(CA)?,
        secrets.all(CA_CLIENT)?.current.name.as_str(),
        secrets.all(SERVICE_ACCOUNT_KEY)?.current.name.as_str(),
        secrets.name(SERVER_CERTIFICATE)?,
    ];
    let volumes: Vec<Value> =
        MOUNTS.iter().zip(names).map(|((volume, _), secret)| secret_volume(volume, secret)).collect();
    let mut deployment = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(NAME, &with(with_role, entries([(HA_TYPE, HA_TYPE_CONTROLLER)]))),
        "spec": {
            "replicas": 1,
            "revisionHistoryLimit": 1,
            "selector": { "matchLabels": labels() },
            "template": {
                "metadata": { "labels": pod_labels },
                "spec": {
                    "automountServiceAccountToken": false,
                    "priorityClassName": PRIORITY_CLASS,
                    "containers": [container(values)?],
                    "volumes": volumes,
                },
            },
        },
    });
    mount_kubeconfig(&mut deployment, secrets, CLIENT)?;
    Ok(deployment)
}

fn container(values: &GardenValues<'_>) -> Result<Value, RenderError> {
    let existing = values.observed.existing.requests("Deployment", NAME, CLIENT);
    let kept = existing.filter(|_| values.has_hvpa()).cloned();
    let requests = kept.unwrap_or_else(|| json!({ "cpu": "100m", "memory": "128Mi" }));
    let mounts: Vec<Value> =
        MOUNTS.iter().map(|(volume, path)| json!({ "name": volume, "mountPath": path })).collect();
    Ok(json!({
        "name": CLIENT,
        "image": values.target_image("kube-controller-manager")?,
        "imagePullPolicy": "IfNotPresent",
        "command": command(values)?,
        "livenessProbe": {
            "httpGet": { "path": "/healthz", "port": PORT, "scheme": "HTTPS" },
            "initialDelaySeconds": 15,
            "periodSeconds": 10,
            "timeoutSeconds": 15,
            "failureThreshold": 2,
            "successThreshold": 1,
        },
        "ports": [{ "name": "metrics", "containerPort": PORT, "protocol": "TCP" }],
        "resources": { "requests": requests },
        "volumeMounts": mounts,
    }))
}
