//! What changes the requests of kube-controller-manager: a VerticalPodAutoscaler, or an Hvpa.

use std::collections::BTreeMap;

use api::resources::{HA_TYPE, HA_TYPE_CONTROLLER};
use serde_json::{Value, json};

use super::{CLIENT, NAME, labels};
use crate::components::lifecycle::RemovalStep;
use crate::components::objects::{entries, metadata, vertical_pod_autoscaler, with};
use crate::components::rendering::{DirectStep, ObjectName};
use crate::components::values::GardenValues;

const VPA: (&str, &str) = ("autoscaling.k8s.io/v1", "VerticalPodAutoscaler");
const VPA_NAME: &str = "virtual-garden-kube-controller-manager-vpa";
const HVPA: (&str, &str) = ("autoscaling.k8s.io/v1alpha1", "Hvpa");

/// What is written, and what the other way of scaling leaves to delete.
pub(super) fn steps(values: &GardenValues<'_>) -> [DirectStep; 2] {
    let delete =
        |(version, kind): (&str, &str), name| DirectStep::Delete(ObjectName::in_garden(version, kind, name));
    if values.has_hvpa() {
        [delete(VPA, VPA_NAME), DirectStep::Patch(hvpa())]
    } else {
        let vpa = vertical_pod_autoscaler(VPA_NAME, NAME, &BTreeMap::new(), &policy());
        [delete(HVPA, NAME), DirectStep::Patch(vpa)]
    }
}

/// All that it may have.
pub(super) fn removal() -> [RemovalStep; 2] {
    [(VPA, VPA_NAME), (HVPA, NAME)].map(|((version, kind), name)| RemovalStep::object(version, kind, name))
}

fn policy() -> Value {
    json!({
        "containerName": CLIENT,
        "minAllowed": { "memory": "100Mi" },
        "maxAllowed": { "cpu": "4", "memory": "10G" },
        "controlledValues": "RequestsOnly",
    })
}

fn hvpa() -> Value {
    let vpa = entries([("role", "kube-controller-manager-vpa")]);
    let scale = json!({ "updatePolicy": { "updateMode": "Auto" } });
    json!({
        "apiVersion": HVPA.0,
        "kind": HVPA.1,
        "metadata": metadata(NAME, &with(labels(), entries([(HA_TYPE, HA_TYPE_CONTROLLER)]))),
        "spec": {
            "replicas": 1,
            "targetRef": { "apiVersion": "apps/v1", "kind": "Deployment", "name": NAME },
            // No HorizontalPodAutoscaler is deployed, but a description of one is needed.
            "hpa": {
                "selector": { "matchLabels": labels() },
                "template": {
                    "metadata": { "labels": labels() },
                    "spec": { "minReplicas": 1, "maxReplicas": 1 },
                },
            },
            "vpa": {
                "selector": { "matchLabels": vpa },
                "deploy": true,
                "scaleUp": scale,
                "scaleDown": scale,
                "template": {
                    "metadata": { "labels": vpa },
                    "spec": { "resourcePolicy": { "containerPolicies": [policy()] } },
                },
            },
            "weightBasedScalingIntervals": [
                { "vpaWeight": 100, "startReplicaCount": 1, "lastReplicaCount": 1 },
            ],
        },
    })
}
