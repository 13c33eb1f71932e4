//! nginx-ingress: what serves Ingresses of the runtime cluster, and answers where there is none.

mod configuration;
mod controller;
mod permissions;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::error::RenderError;
use super::managed::ManagedObjects;
use super::networks::from_world;
use super::objects::{
    annotate, at_least, cluster_metadata, entries, http_probe, metadata, service_account, service_port,
    vertical_pod_autoscaler, with,
};
use super::rendering::{Rendering, name_of};
use super::values::GardenValues;

/// Name of the ManagedResource, of the ServiceAccount, and value of the label `app` of all.
pub const NAME: &str = "nginx-ingress";

/// Name of what serves Ingresses.
const CONTROLLER: &str = "nginx-ingress-controller";
/// Name of what answers where there is no Ingress.
const BACKEND: &str = "nginx-ingress-k8s-backend";
/// The class of Ingresses that it serves.
const CLASS: &str = "nginx-ingress-gardener";
/// The name of its controller.
const CLASS_CONTROLLER: &str = "k8s.io/nginx-ingress-gardener";
const PRIORITY_CLASS: &str = "gardener-garden-system-300";
const HTTP_PORT: u16 = 80;
const HTTPS_PORT: u16 = 443;
const BACKEND_PORT: u16 = 8080;

/// Its objects. OPC-034, OPC-035, OPC-036.
///
/// # Errors
/// If its configuration in the Garden is no object, or there is no image.
pub fn render(values: &GardenValues<'_>) -> Result<Rendering, RenderError> {
    let config_map = configuration::config_map(values)?;
    let image = values.runtime_image(CONTROLLER)?;
    let mut objects = Vec::from(permissions::objects());
    objects.extend([
        service_account(NAME, &app()),
        load_balancer(values),
        controller::deployment(&image, name_of(&config_map)),
        config_map,
        disruption_budget(),
        vertical_pod_autoscaler(CONTROLLER, CONTROLLER, &BTreeMap::new(), &at_least("100Mi")),
        backend_service(),
        backend_deployment(&values.runtime_image("ingress-default-backend")?),
        ingress_class(),
    ]);
    Ok(Rendering { managed: vec![ManagedObjects::in_runtime(NAME, objects)], ..Rendering::default() })
}

fn app() -> BTreeMap<String, String> {
    entries([("app", NAME)])
}

/// Labels of the objects of what serves Ingresses; the resource-manager knows them, too.
fn controller_labels() -> BTreeMap<String, String> {
    with(app(), entries([("component", "controller")]))
}

fn backend_labels() -> BTreeMap<String, String> {
    with(app(), entries([("component", BACKEND)]))
}

/// Labels by which Deployments select Pods.
fn selected(labels: BTreeMap<String, String>) -> BTreeMap<String, String> {
    with(labels, entries([("release", "addons")]))
}

/// OPC-035.
fn load_balancer(values: &GardenValues<'_>) -> Value {
    let mut service = json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(CONTROLLER, &controller_labels()),
        "spec": {
            "type": "LoadBalancer",
            "selector": controller_labels(),
            "ports": [
                service_port("http", HTTP_PORT, HTTP_PORT),
                service_port("https", HTTPS_PORT, HTTPS_PORT),
            ],
        },
    });
    let own = from_world(&[HTTP_PORT, HTTPS_PORT]);
    for annotation in values.load_balancer_annotations().into_iter().chain([own]) {
        annotate(&mut service, annotation);
    }
    service
}

/// One Pod must be available.
fn disruption_budget() -> Value {
    json!({
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": metadata(CONTROLLER, &controller_labels()),
        "spec": {"minAvailable": 1, "selector": {"matchLabels": controller_labels()}},
    })
}

/// OPC-036.
fn ingress_class() -> Value {
    json!({
        "apiVersion": "networking.k8s.io/v1",
        "kind": "IngressClass",
        "metadata": cluster_metadata(CLASS, &controller_labels()),
        "spec": {"controller": CLASS_CONTROLLER},
    })
}

fn backend_service() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(BACKEND, &backend_labels()),
        "spec": {
            "type": "ClusterIP",
            "selector": backend_labels(),
            "ports": [{"port": HTTP_PORT, "targetPort": BACKEND_PORT}],
        },
    })
}

fn backend_deployment(image: &str) -> Value {
    let container = json!({
        "name": BACKEND,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "livenessProbe": http_probe("/healthy", BACKEND_PORT, 30, 5),
        "ports": [{"containerPort": BACKEND_PORT, "protocol": "TCP"}],
        "resources": {
            "requests": {"cpu": "20m", "memory": "20Mi"},
            "limits": {"memory": "100Mi"},
        },
    });
    let labels = selected(backend_labels());
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(BACKEND, &backend_labels()),
        "spec": {
            "replicas": 1,
            "revisionHistoryLimit": 2,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "priorityClassName": PRIORITY_CLASS,
                    "securityContext": {"runAsUser": 65534, "fsGroup": 65534},
                    "containers": [container],
                    "terminationGracePeriodSeconds": 60,
                },
            },
        },
    })
}
