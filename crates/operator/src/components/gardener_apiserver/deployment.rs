//! The Deployment of gardener-apiserver.

use api::networking::{TO_DNS, TO_PRIVATE_NETWORKS, TO_PUBLIC_NETWORKS};
use api::resources::HA_TYPE;
use serde_json::{Value, json};

use super::{NAME, PORT, labels};
use crate::components::access::{self, KUBECONFIG};
use crate::components::api_server::PodParts;
use crate::components::error::RenderError;
use crate::components::networks::{
    ETCD_CLIENT_PORT, MAIN_ETCD, TO_WEBHOOK_TARGETS, allowed, to_service, to_virtual_api_server,
};
use crate::components::objects::{metadata, with};
use crate::components::references;
use crate::components::values::GardenValues;

/// ConfigMaps and Secrets that it mounts, beside those of the secrets manager.
pub(super) struct Files {
    pub(super) encryption: Value,
    pub(super) admission_config: Value,
    pub(super) admission_kubeconfigs: Value,
    pub(super) audit_policy: Value,
    pub(super) audit_webhook: Option<Value>,
}

/// The Deployment, which leaves the number of replicas to the resource-manager's webhook. OPC-013, OPC-018, OPC-115.
pub(super) fn deployment(
    values: &GardenValues<'_>,
    log_level: &str,
    parts: PodParts,
) -> Result<Value, RenderError> {
    let to = [
        TO_DNS.to_owned(),
        TO_PUBLIC_NETWORKS.to_owned(),
        TO_PRIVATE_NETWORKS.to_owned(),
        TO_WEBHOOK_TARGETS.to_owned(),
        to_service(MAIN_ETCD, ETCD_CLIENT_PORT),
        to_virtual_api_server(),
    ];
    let mut deployment = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(NAME, &with(labels(), [(HA_TYPE.to_owned(), "server".to_owned())])),
        "spec": {
            "minReadySeconds": 30,
            "revisionHistoryLimit": 2,
            "selector": {"matchLabels": labels()},
            "strategy": {
                "type": "RollingUpdate",
                "rollingUpdate": {"maxSurge": "100%", "maxUnavailable": 0},
            },
            "template": {
                "metadata": {"labels": with(labels(), allowed(to))},
                "spec": {
                    "automountServiceAccountToken": false,
                    "priorityClassName": "gardener-garden-system-500",
                    "containers": [container(values, log_level)?],
                },
            },
        },
    });
    parts.add_to(&mut deployment);
    access::mount_kubeconfig(&mut deployment, values.secrets, NAME)?;
    references::annotate(&mut deployment);
    Ok(deployment)
}

fn container(values: &GardenValues<'_>, log_level: &str) -> Result<Value, RenderError> {
    let identity = &values.garden.spec.virtual_cluster.gardener.cluster_identity;
    Ok(json!({
        "name": NAME,
        "image": values.gardener_image(NAME)?,
        "imagePullPolicy": "IfNotPresent",
        "args": [
            "--authorization-always-allow-paths=/healthz",
            format!("--cluster-identity={identity}"),
            format!("--authentication-kubeconfig={KUBECONFIG}"),
            format!("--authorization-kubeconfig={KUBECONFIG}"),
            format!("--kubeconfig={KUBECONFIG}"),
            format!("--log-level={log_level}"),
            "--log-format=json",
            format!("--secure-port={PORT}"),
        ],
        "ports": [{"name": "https", "containerPort": PORT, "protocol": "TCP"}],
        "resources": {"requests": {"cpu": "600m", "memory": "512Mi"}},
        "livenessProbe": probe("/livez"),
        "readinessProbe": probe("/readyz"),
    }))
}

fn probe(path: &str) -> Value {
    json!({
        "httpGet": {"path": path, "port": PORT, "scheme": "HTTPS"},
        "successThreshold": 1,
        "failureThreshold": 3,
        "initialDelaySeconds": 15,
        "periodSeconds": 10,
        "timeoutSeconds": 15,
    })
}
