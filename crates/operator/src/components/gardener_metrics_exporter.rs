//! gardener-metrics-exporter: metrics about Gardener's objects in the virtual cluster.

use std::collections::BTreeMap;

use api::networking::TO_DNS;
use serde_json::{Value, json};

use super::access::{self, KUBECONFIG};
use super::error::RenderError;
use super::managed::ManagedObjects;
use super::networks::{allowed, to_virtual_api_server};
use super::objects::{entries, metadata, service, with};
use super::rbac::{READ, account, cluster_role, cluster_role_binding, rule};
use super::references;
use super::rendering::Rendering;
use super::values::GardenValues;

/// Name of its Deployment and its Service.
pub const NAME: &str = "gardener-metrics-exporter";
/// The ManagedResource of the runtime cluster.
pub const MANAGED_RUNTIME: &str = "gardener-metrics-exporter-runtime";
/// The ManagedResource of the virtual cluster.
pub const MANAGED_VIRTUAL: &str = "gardener-metrics-exporter-virtual";

const ROLE: &str = "gardener.cloud:metrics-exporter";
const PORT: u16 = 2718;

/// Its objects. OPC-133.
///
/// # Errors
/// If the image or a Secret is missing.
pub fn render(values: &GardenValues<'_>) -> Result<Rendering, RenderError> {
    let labels = labels();
    let port = json!({"protocol": "TCP", "port": PORT, "targetPort": PORT});
    let mut its_service = service(NAME, &labels, &[port]);
    its_service["spec"]["sessionAffinity"] = "None".into();
    let rules = [
        rule(&["core.gardener.cloud"], &["secretbindings", "seeds", "shoots", "projects"], READ),
        rule(&["seedmanagement.gardener.cloud"], &["managedseeds"], READ),
    ];
    let in_virtual = vec![
        cluster_role(ROLE, &labels, &rules),
        cluster_role_binding(ROLE, &labels, ROLE, &[account(NAME)]),
    ];
    Ok(Rendering {
        steps: vec![access::secret(NAME)],
        managed: vec![
            ManagedObjects::in_runtime(MANAGED_RUNTIME, vec![deployment(values)?, its_service]),
            ManagedObjects::in_virtual(MANAGED_VIRTUAL, in_virtual),
        ],
        awaited_service: None,
    })
}

fn labels() -> BTreeMap<String, String> {
    entries([("app", "gardener"), ("role", "metrics-exporter")])
}

/// OPC-013, OPC-018.
fn deployment(values: &GardenValues<'_>) -> Result<Value, RenderError> {
    let to = [TO_DNS.to_owned(), to_virtual_api_server()];
    let mut deployment = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(NAME, &labels()),
        "spec": {
            "replicas": 1,
            "revisionHistoryLimit": 2,
            "selector": {"matchLabels": labels()},
            "template": {
                "metadata": {"labels": with(labels(), allowed(to))},
                "spec": {
                    "priorityClassName": "gardener-garden-system-100",
                    "automountServiceAccountToken": false,
                    "containers": [container(&values.image(NAME)?)],
                },
            },
        },
    });
    access::mount_kubeconfig(&mut deployment, values.secrets, NAME)?;
    references::annotate(&mut deployment);
    Ok(deployment)
}

fn container(image: &str) -> Value {
    let probe =
        |path: &str| json!({"httpGet": {"path": path, "port": PORT, "scheme": "HTTP"}, "periodSeconds": 5});
    json!({
        "name": NAME,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": [
            "/gardener-metrics-exporter",
            format!("--kubeconfig={KUBECONFIG}"),
            "--bind-address=0.0.0.0",
            format!("--port={PORT}"),
        ],
        "securityContext": {"readOnlyRootFilesystem": true},
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}},
        "ports": [{"name": "port", "containerPort": PORT, "protocol": "TCP"}],
        "livenessProbe": probe("/"),
        "readinessProbe": probe("/metrics"),
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::components::fixture::{Fixture, assert_objects, managed, referenced};

    fn labelled(name: &str) -> Value {
        json!({"name": name, "labels": {"app": "gardener", "role": "metrics-exporter"}})
    }

    fn pod() -> Value {
        let source = |name: &str, key: &str| json!({"secret": {"name": name, "optional": false, "items": [{"key": key, "path": key}]}});
        let path = "/var/run/secrets/gardener.cloud/shoot/generic-kubeconfig";
        json!({
            "priorityClassName": "gardener-garden-system-100", "automountServiceAccountToken": false,
            "containers": [{
                "name": "gardener-metrics-exporter", "imagePullPolicy": "IfNotPresent",
                "image": "eu.gcr.io/gardener-project/gardener/metrics-exporter:0.27.0",
                "command": [
                    "/gardener-metrics-exporter", format!("--kubeconfig={path}/kubeconfig"),
                    "--bind-address=0.0.0.0", "--port=2718",
                ],
                "securityContext": {"readOnlyRootFilesystem": true},
                "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}},
                "ports": [{"name": "port", "containerPort": 2718, "protocol": "TCP"}],
                "livenessProbe": {
                    "httpGet": {"path": "/", "port": 2718, "scheme": "HTTP"}, "periodSeconds": 5,
                },
                "readinessProbe": {
                    "httpGet": {"path": "/metrics", "port": 2718, "scheme": "HTTP"}, "periodSeconds": 5,
                },
                "volumeMounts": [{"name": "kubeconfig", "mountPath": path, "readOnly": true}],
            }],
            "volumes": [{"name": "kubeconfig", "projected": {"defaultMode": 420, "sources": [
                source("generic-token-kubeconfig-current", "kubeconfig"),
                source("shoot-access-gardener-metrics-exporter", "token"),
            ]}}],
        })
    }

    fn in_garden() -> Value {
        let mut metadata = labelled("gardener-metrics-exporter");
        metadata["namespace"] = "garden".into();
        metadata
    }

    fn runtime() -> [Value; 2] {
        let labels = json!({"app": "gardener", "role": "metrics-exporter"});
        let mut metadata = in_garden();
        let secrets = ["generic-token-kubeconfig-current", "shoot-access-gardener-metrics-exporter"];
        let annotations = referenced(&[], &secrets);
        metadata["annotations"] = annotations.clone();
        let mut pod_labels = labels.clone();
        pod_labels["networking.gardener.cloud/to-dns"] = "allowed".into();
        let api_server = "networking.resources.gardener.cloud/to-virtual-garden-kube-apiserver-tcp-443";
        pod_labels[api_server] = "allowed".into();
        [
            json!({
                "apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata,
                "spec": {
                    "replicas": 1, "revisionHistoryLimit": 2, "selector": {"matchLabels": labels},
                    "template": {"metadata": {"labels": pod_labels, "annotations": annotations}, "spec": pod()},
                },
            }),
            json!({
                "apiVersion": "v1", "kind": "Service", "metadata": in_garden(),
                "spec": {
                    "type": "ClusterIP", "sessionAffinity": "None", "selector": labels,
                    "ports": [{"protocol": "TCP", "port": 2718, "targetPort": 2718}],
                },
            }),
        ]
    }

    fn in_virtual() -> [Value; 2] {
        let name = "gardener.cloud:metrics-exporter";
        let read = ["get", "list", "watch"];
        [
            json!({
                "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": labelled(name),
                "rules": [
                    {
                        "apiGroups": ["core.gardener.cloud"], "verbs": read,
                        "resources": ["secretbindings", "seeds", "shoots", "projects"],
                    },
                    {
                        "apiGroups": ["seedmanagement.gardener.cloud"], "verbs": read,
                        "resources": ["managedseeds"],
                    },
                ],
            }),
            json!({
                "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
                "metadata": labelled(name),
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
                "subjects": [{
                    "kind": "ServiceAccount", "name": "gardener-metrics-exporter", "namespace": "kube-system",
                }],
            }),
        ]
    }

    /// No field of a Garden changes it.
    #[rstest]
    #[case::minimal(Fixture::default())]
    #[case::hvpa(Fixture::default().with_hvpa())]
    fn the_objects(#[case] fixture: Fixture) {
        let rendering = render(&fixture.values()).unwrap();
        assert_objects("runtime", &managed(&rendering, MANAGED_RUNTIME).objects, &runtime(), &[]);
        assert_objects("virtual", &managed(&rendering, MANAGED_VIRTUAL).objects, &in_virtual(), &[]);
        assert_eq!(rendering.steps, [access::secret("gardener-metrics-exporter")]);
    }
}
