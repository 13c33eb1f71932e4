//! kube-state-metrics: metrics about objects of the runtime cluster.

use std::collections::BTreeMap;

use api::networking::{TO_DNS, TO_RUNTIME_API_SERVER};
use api::resources::DELETE_ON_INVALID_UPDATE;
use serde_json::{Value, json};

use super::error::RenderError;
use super::managed::ManagedObjects;
use super::networks::{AllowedPods, allowed};
use super::objects::{
    annotate, entries, http_probe, metadata, service, service_account, service_port, vertical_pod_autoscaler,
    with,
};
use super::rbac::{READ, cluster_role, cluster_role_binding, rule, runtime_account};
use super::rendering::Rendering;
use super::values::GardenValues;

/// Name of its Deployment and of the ManagedResource.
pub const NAME: &str = "kube-state-metrics";

const ROLE: &str = "gardener.cloud:monitoring:kube-state-metrics-seed";
const PORT: u16 = 8080;
/// Resources that metrics are about. OPC-132.
const RESOURCES: &str = "deployments,pods,statefulsets,nodes,verticalpodautoscalers,horizontalpodautoscalers,\
                         persistentvolumeclaims,replicasets,namespaces";

/// Its objects. OPC-132.
///
/// # Errors
/// If there is no image.
pub fn render(values: &GardenValues<'_>) -> Result<Rendering, RenderError> {
    let labels = labels();
    let mut its_service = service(NAME, &labels, &[service_port("metrics", 80, PORT)]);
    annotate(&mut its_service, AllowedPods::SeedScrapeTargets.annotation(&[PORT]));
    let mut binding = cluster_role_binding(ROLE, &labels, ROLE, &[runtime_account(NAME)]);
    annotate(&mut binding, (DELETE_ON_INVALID_UPDATE.to_owned(), "true".to_owned()));
    let policy = json!({
        "containerName": "*",
        "controlledValues": "RequestsOnly",
        "minAllowed": {"memory": "32Mi"},
    });
    let objects = vec![
        service_account(NAME, &labels),
        cluster_role(ROLE, &labels, &rules()),
        binding,
        its_service,
        vertical_pod_autoscaler("kube-state-metrics-vpa", NAME, &BTreeMap::new(), &policy),
        deployment(values)?,
    ];
    Ok(Rendering { managed: vec![ManagedObjects::in_runtime(NAME, objects)], ..Rendering::default() })
}

fn labels() -> BTreeMap<String, String> {
    entries([("component", NAME), ("type", "seed")])
}

fn rules() -> Vec<Value> {
    let (see, workloads) = (["list", "watch"], ["daemonsets", "deployments", "replicasets", "statefulsets"]);
    let core = [
        "nodes",
        "pods",
        "services",
        "resourcequotas",
        "replicationcontrollers",
        "limitranges",
        "persistentvolumeclaims",
        "namespaces",
    ];
    vec![
        rule(&[""], &core, &see),
        rule(&["apps", "extensions"], &workloads, &see),
        rule(&["batch"], &["cronjobs", "jobs"], &see),
        rule(&["autoscaling.k8s.io"], &["verticalpodautoscalers"], READ),
        rule(&["autoscaling"], &["horizontalpodautoscalers"], &see),
    ]
}

fn deployment(values: &GardenValues<'_>) -> Result<Value, RenderError> {
    let all_labels = with(labels(), [("role".to_owned(), "monitoring".to_owned())]);
    Ok(json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(NAME, &all_labels),
        "spec": {
            "replicas": 1,
            "revisionHistoryLimit": 2,
            "selector": {"matchLabels": labels()},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}},
            "template": {
                "metadata": {"labels": with(all_labels.clone(), allowed([TO_DNS, TO_RUNTIME_API_SERVER]))},
                "spec": {
                    "serviceAccountName": NAME,
                    "priorityClassName": "gardener-garden-system-100",
                    "containers": [container(&values.runtime_image(NAME)?)],
                },
            },
        },
    }))
}

fn container(image: &str) -> Value {
    let mut readiness = http_probe("/healthz", PORT, 5, 5);
    for (field, value) in [("periodSeconds", 30), ("successThreshold", 1), ("failureThreshold", 3)] {
        readiness[field] = value.into();
    }
    json!({
        "name": NAME,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "args": [
            format!("--port={PORT}"),
            "--telemetry-port=8081",
            format!("--resources={RESOURCES}"),
            "--metric-labels-allowlist=nodes=[*]",
            "--metric-annotations-allowlist=namespaces=[shoot.gardener.cloud/uid]",
        ],
        "ports": [{"name": "metrics", "containerPort": PORT, "protocol": "TCP"}],
        "livenessProbe": http_probe("/healthz", PORT, 5, 5),
        "readinessProbe": readiness,
        "resources": {"requests": {"cpu": "10m", "memory": "32Mi"}},
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::components::fixture::{Fixture, assert_objects, managed};

    fn labelled(name: &str) -> Value {
        json!({
            "name": name, "namespace": "garden",
            "labels": {"component": "kube-state-metrics", "type": "seed"},
        })
    }

    fn pod() -> Value {
        let probe = json!({
            "httpGet": {"path": "/healthz", "port": 8080, "scheme": "HTTP"}, "initialDelaySeconds": 5,
            "timeoutSeconds": 5,
        });
        let mut readiness = probe.clone();
        readiness["periodSeconds"] = 30.into();
        readiness["successThreshold"] = 1.into();
        readiness["failureThreshold"] = 3.into();
        json!({
            "serviceAccountName": "kube-state-metrics", "priorityClassName": "gardener-garden-system-100",
            "containers": [{
                "name": "kube-state-metrics", "imagePullPolicy": "IfNotPresent",
                "image": "registry.k8s.io/kube-state-metrics/kube-state-metrics:v2.8.2",
                "args": [
                    "--port=8080", "--telemetry-port=8081",
                    "--resources=deployments,pods,statefulsets,nodes,verticalpodautoscalers,horizontalpodautoscalers,persistentvolumeclaims,replicasets,namespaces",
                    "--metric-labels-allowlist=nodes=[*]",
                    "--metric-annotations-allowlist=namespaces=[shoot.gardener.cloud/uid]",
                ],
                "ports": [{"name": "metrics", "containerPort": 8080, "protocol": "TCP"}],
                "livenessProbe": probe, "readinessProbe": readiness,
                "resources": {"requests": {"cpu": "10m", "memory": "32Mi"}},
            }],
        })
    }

    fn deployment() -> Value {
        let mut metadata = labelled("kube-state-metrics");
        metadata["labels"]["role"] = "monitoring".into();
        let mut labels = metadata["labels"].clone();
        labels["networking.gardener.cloud/to-dns"] = "allowed".into();
        labels["networking.gardener.cloud/to-runtime-apiserver"] = "allowed".into();
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata,
            "spec": {
                "replicas": 1, "revisionHistoryLimit": 2,
                "selector": {"matchLabels": {"component": "kube-state-metrics", "type": "seed"}},
                "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}},
                "template": {"metadata": {"labels": labels}, "spec": pod()},
            },
        })
    }

    fn roles() -> [Value; 2] {
        let name = "gardener.cloud:monitoring:kube-state-metrics-seed";
        let mut metadata = labelled(name);
        metadata.as_object_mut().unwrap().remove("namespace");
        let mut annotated = metadata.clone();
        annotated["annotations"] = json!({"resources.gardener.cloud/delete-on-invalid-update": "true"});
        let see = ["list", "watch"];
        [
            json!({
                "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": metadata,
                "rules": [
                    {"apiGroups": [""], "verbs": see, "resources": [
                        "nodes", "pods", "services", "resourcequotas", "replicationcontrollers", "limitranges",
                        "persistentvolumeclaims", "namespaces",
                    ]},
                    {
                        "apiGroups": ["apps", "extensions"], "verbs": see,
                        "resources": ["daemonsets", "deployments", "replicasets", "statefulsets"],
                    },
                    {"apiGroups": ["batch"], "verbs": see, "resources": ["cronjobs", "jobs"]},
                    {
                        "apiGroups": ["autoscaling.k8s.io"], "verbs": ["get", "list", "watch"],
                        "resources": ["verticalpodautoscalers"],
                    },
                    {"apiGroups": ["autoscaling"], "verbs": see, "resources": ["horizontalpodautoscalers"]},
                ],
            }),
            json!({
                "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": annotated,
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
                "subjects": [{"kind": "ServiceAccount", "name": "kube-state-metrics", "namespace": "garden"}],
            }),
        ]
    }

    fn others() -> Vec<Value> {
        let mut service = labelled("kube-state-metrics");
        service["annotations"] = json!({
            "networking.resources.gardener.cloud/from-all-seed-scrape-targets-allowed-ports":
                r#"[{"protocol":"TCP","port":8080}]"#,
        });
        vec![
            json!({
                "apiVersion": "v1", "kind": "ServiceAccount", "metadata": labelled("kube-state-metrics"),
                "automountServiceAccountToken": false,
            }),
            json!({
                "apiVersion": "v1", "kind": "Service", "metadata": service,
                "spec": {
                    "type": "ClusterIP", "selector": {"component": "kube-state-metrics", "type": "seed"},
                    "ports": [{"name": "metrics", "protocol": "TCP", "port": 80, "targetPort": 8080}],
                },
            }),
            json!({
                "apiVersion": "autoscaling.k8s.io/v1", "kind": "VerticalPodAutoscaler",
                "metadata": {"name": "kube-state-metrics-vpa", "namespace": "garden"},
                "spec": {
                    "targetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "kube-state-metrics"},
                    "updatePolicy": {"updateMode": "Auto"},
                    "resourcePolicy": {"containerPolicies": [{
                        "containerName": "*", "controlledValues": "RequestsOnly",
                        "minAllowed": {"memory": "32Mi"},
                    }]},
                },
            }),
        ]
    }

    /// No field of a Garden changes it.
    #[rstest]
    #[case::minimal(Fixture::default())]
    #[case::hvpa(Fixture::default().with_hvpa())]
    #[case::other_runtime_version(Fixture::default().on_runtime("1.24.0"))]
    fn the_objects(#[case] fixture: Fixture) {
        let rendering = render(&fixture.values()).unwrap();
        let want = [others(), roles().into(), vec![deployment()]].concat();
        assert_objects("kube-state-metrics", &managed(&rendering, "kube-state-metrics").objects, &want, &[]);
        assert!(rendering.steps.is_empty());
    }
}
