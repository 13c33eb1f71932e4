//! Objects of gardener-apiserver in the runtime cluster, beside its Deployment.

use api::resources::HA_TYPE;
use serde_json::{Value, json};

use super::{NAME, PORT, SERVICE_PORT, labels};
use crate::components::networks::AllowedPods;
use crate::components::objects::{
    annotate, at_least, entries, metadata, pod_disruption_budget, service, vertical_pod_autoscaler, with,
};
use crate::components::topology;
use crate::components::values::GardenValues;

/// The most replicas that its Hvpa asks for.
const MAX_REPLICAS: u32 = 4;

/// The objects: an Hvpa where the feature gate is on, else a VerticalPodAutoscaler.
pub(super) fn objects(values: &GardenValues<'_>, deployment: Value) -> Vec<Value> {
    let autoscaler = if values.has_hvpa() {
        hvpa()
    } else {
        vertical_pod_autoscaler("gardener-apiserver-vpa", NAME, &labels(), &at_least("256Mi"))
    };
    vec![pod_disruption_budget(NAME, &labels()), runtime_service(values), autoscaler, deployment]
}

/// The port of the Service, which has no name.
pub(super) fn service_port() -> Value {
    json!({"protocol": "TCP", "port": SERVICE_PORT, "targetPort": PORT})
}

fn runtime_service(values: &GardenValues<'_>) -> Value {
    let mut service = service(NAME, &labels(), &[service_port()]);
    annotate(&mut service, AllowedPods::WebhookTargets.annotation(&[PORT]));
    topology::set_routing(&mut service, values);
    service
}

fn hvpa() -> Value {
    let metadata =
        metadata("gardener-apiserver-hvpa", &with(labels(), [(HA_TYPE.to_owned(), "server".to_owned())]));
    json!({
        "apiVersion": "autoscaling.k8s.io/v1alpha1",
        "kind": "Hvpa",
        "metadata": metadata,
        "spec": {
            "replicas": 1,
            "hpa": horizontal(),
            "vpa": vertical(),
            // Without a weight of the vertical part, the horizontal one acts alone.
            "weightBasedScalingIntervals": [{"startReplicaCount": 1, "lastReplicaCount": MAX_REPLICAS - 1}],
            "targetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": NAME},
        },
    })
}

fn horizontal() -> Value {
    let labels = entries([("role", "gardener-apiserver-hpa")]);
    let metric =
        |name: &str| json!({"type": "Resource", "resource": {"name": name, "targetAverageUtilization": 80}});
    json!({
        "selector": {"matchLabels": labels},
        "deploy": true,
        "scaleUp": {"updatePolicy": {"updateMode": "Auto"}},
        "scaleDown": {"updatePolicy": {"updateMode": "Auto"}},
        "template": {
            "metadata": {"labels": labels},
            "spec": {
                "minReplicas": 1,
                "maxReplicas": MAX_REPLICAS,
                "metrics": [metric("cpu"), metric("memory")],
            },
        },
    })
}

fn vertical() -> Value {
    let labels = entries([("role", "gardener-apiserver-vpa")]);
    let change = |cpu: &str, memory: &str, percentage: u32| {
        let of = |value: &str| json!({"value": value, "percentage": percentage});
        json!({"cpu": of(cpu), "memory": of(memory)})
    };
    let scaling = |duration: &str, min_change: Value| {
        json!({
            "updatePolicy": {"updateMode": "Auto"},
            "stabilizationDuration": duration,
            "minChange": min_change,
        })
    };
    let policy = json!({
        "containerName": NAME,
        "minAllowed": {"memory": "400M"},
        "maxAllowed": {"cpu": "4", "memory": "25G"},
    });
    json!({
        "selector": {"matchLabels": labels},
        "deploy": true,
        "scaleUp": scaling("3m", change("300m", "200M", 80)),
        "scaleDown": scaling("15m", change("600m", "600M", 80)),
        "limitsRequestsGapScaleParams": change("1", "1G", 70),
        "template": {
            "metadata": {"labels": labels},
            "spec": {"resourcePolicy": {"containerPolicies": [policy]}},
        },
    })
}
