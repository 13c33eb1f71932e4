//! The Deployment of what serves Ingresses.

use api::networking::{TO_DNS, TO_RUNTIME_API_SERVER};
use api::resources::SECCOMP_SKIP;
use serde_json::{Value, json};

use super::{
    BACKEND, BACKEND_PORT, CLASS, CLASS_CONTROLLER, CONTROLLER, HTTP_PORT, HTTPS_PORT, NAME, PRIORITY_CLASS,
    controller_labels, selected,
};
use crate::components::NAMESPACE;
use crate::components::networks::{allowed, to_service};
use crate::components::objects::{annotate, entries, http_probe, metadata, with};
use crate::components::references::annotation_key;

/// The Lease that its replicas elect a leader with.
pub(super) const LEASE: &str = "ingress-controller-seed-leader";
const HEALTH_PORT: u16 = 10254;

/// Its Pods read the ConfigMap from the API server; the annotations keep it from being collected as garbage. OPC-013.
pub(super) fn deployment(image: &str, config_map: &str) -> Value {
    let labels = selected(controller_labels());
    let peers =
        allowed([TO_DNS.to_owned(), TO_RUNTIME_API_SERVER.to_owned(), to_service(BACKEND, BACKEND_PORT)]);
    let mut template = json!({
        "metadata": {"labels": with(with(labels.clone(), peers), entries([(SECCOMP_SKIP, "true")]))},
        "spec": {
            "priorityClassName": PRIORITY_CLASS,
            "serviceAccountName": NAME,
            "terminationGracePeriodSeconds": 60,
            "containers": [container(image, config_map)],
        },
    });
    let reference = (annotation_key("configmap", config_map), config_map.to_owned());
    annotate(&mut template, reference.clone());
    let mut deployment = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(CONTROLLER, &controller_labels()),
        "spec": {
            "replicas": 2,
            "revisionHistoryLimit": 2,
            "selector": {"matchLabels": labels},
            "template": template,
        },
    });
    annotate(&mut deployment, reference);
    deployment
}

fn container(image: &str, config_map: &str) -> Value {
    let port = |name: &str, port: u16| json!({"name": name, "containerPort": port, "protocol": "TCP"});
    let variable =
        |name: &str, path: &str| json!({"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}});
    json!({
        "name": CONTROLLER,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "args": arguments(config_map),
        "securityContext": {
            "capabilities": {"drop": ["ALL"], "add": ["NET_BIND_SERVICE", "SYS_CHROOT"]},
            "runAsUser": 101,
            "allowPrivilegeEscalation": true,
            "seccompProfile": {"type": "Unconfined"},
        },
        "env": [variable("POD_NAME", "metadata.name"), variable("POD_NAMESPACE", "metadata.namespace")],
        "livenessProbe": probe(),
        "readinessProbe": probe(),
        "ports": [port("http", HTTP_PORT), port("https", HTTPS_PORT)],
        "resources": {
            "requests": {"cpu": "100m", "memory": "375Mi"},
            "limits": {"memory": "1500Mi"},
        },
    })
}

fn arguments(config_map: &str) -> [String; 11] {
    [
        "/nginx-ingress-controller".to_owned(),
        format!("--default-backend-service={NAMESPACE}/{BACKEND}"),
        "--enable-ssl-passthrough=true".to_owned(),
        format!("--publish-service={NAMESPACE}/{CONTROLLER}"),
        format!("--election-id={LEASE}"),
        "--update-status=true".to_owned(),
        "--annotations-prefix=nginx.ingress.kubernetes.io".to_owned(),
        format!("--configmap={NAMESPACE}/{config_map}"),
        format!("--ingress-class={CLASS}"),
        format!("--controller-class={CLASS_CONTROLLER}"),
        "--enable-annotation-validation=true".to_owned(),
    ]
}

fn probe() -> Value {
    let mut probe = http_probe("/healthz", HEALTH_PORT, 40, 1);
    for (field, value) in [("periodSeconds", 10), ("successThreshold", 1), ("failureThreshold", 3)] {
        probe[field] = value.into();
    }
    probe
}
