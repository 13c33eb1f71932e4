//! What scales kube-apiserver: a HorizontalPodAutoscaler beside recommendations, or an Hvpa.

use api::resources::HA_TYPE;
use serde_json::{Value, json};

use super::{CONTAINER, NAME};
use crate::components::NAMESPACE;
use crate::components::lifecycle::RemovalStep;
use crate::components::objects::{entries, metadata};
use crate::components::rendering::{DirectStep, ObjectName};
use crate::components::values::GardenValues;

const MAX_REPLICAS: u32 = 6;
/// Utilization of CPU and memory to aim at, in percent.
const UTILIZATION: u32 = 80;
const VPA_NAME: &str = "virtual-garden-kube-apiserver-vpa";
const HVPA: (&str, &str) = ("autoscaling.k8s.io/v1alpha1", "Hvpa");
const HPA: (&str, &str) = ("autoscaling/v2", "HorizontalPodAutoscaler");
const VPA: (&str, &str) = ("autoscaling.k8s.io/v1", "VerticalPodAutoscaler");

/// How many replicas there are at least. OPC-072, OPC-073.
pub(super) fn min_replicas(values: &GardenValues<'_>) -> u32 {
    if values.is_highly_available() { 3 } else { 2 }
}

/// What is written, and what the other way of scaling leaves to delete. OPC-073, OPC-074.
pub(super) fn steps(values: &GardenValues<'_>) -> [DirectStep; 3] {
    let delete =
        |(version, kind): (&str, &str), name| DirectStep::Delete(ObjectName::in_garden(version, kind, name));
    if values.has_hvpa() {
        [delete(HPA, NAME), delete(VPA, VPA_NAME), DirectStep::Patch(both(min_replicas(values)))]
    } else {
        [
            DirectStep::Patch(horizontal(min_replicas(values))),
            DirectStep::Patch(recommendations()),
            delete(HVPA, NAME),
        ]
    }
}

/// All that it may have.
pub(super) fn removal() -> [RemovalStep; 3] {
    [(HPA, NAME), (VPA, VPA_NAME), (HVPA, NAME)]
        .map(|((version, kind), name)| RemovalStep::object(version, kind, name))
}

fn target() -> Value {
    json!({ "apiVersion": "apps/v1", "kind": "Deployment", "name": NAME })
}

fn horizontal(min_replicas: u32) -> Value {
    let metric = |name: &str| {
        let target = json!({ "type": "Utilization", "averageUtilization": UTILIZATION });
        json!({ "type": "Resource", "resource": { "name": name, "target": target } })
    };
    json!({
        "apiVersion": HPA.0,
        "kind": HPA.1,
        "metadata": { "name": NAME, "namespace": NAMESPACE },
        "spec": {
            "minReplicas": min_replicas,
            "maxReplicas": MAX_REPLICAS,
            "scaleTargetRef": target(),
            "metrics": [metric("cpu"), metric("memory")],
        },
    })
}

/// Its recommendations are only to be read.
fn recommendations() -> Value {
    json!({
        "apiVersion": VPA.0,
        "kind": VPA.1,
        "metadata": { "name": VPA_NAME, "namespace": NAMESPACE },
        "spec": {
            "targetRef": target(),
            "updatePolicy": { "updateMode": "Off" },
            "resourcePolicy": {
                "containerPolicies": [{ "containerName": "*", "controlledValues": "RequestsOnly" }],
            },
        },
    })
}

fn both(min_replicas: u32) -> Value {
    json!({
        "apiVersion": HVPA.0,
        "kind": HVPA.1,
        "metadata": metadata(NAME, &entries([(HA_TYPE, "server")])),
        "spec": {
            "replicas": 1,
            "targetRef": target(),
            "hpa": scaled_horizontally(min_replicas),
            "vpa": scaled_vertically(),
            // The weight of the second interval, which scales horizontally, is 0 and thus absent.
            "weightBasedScalingIntervals": [
                { "vpaWeight": 100, "startReplicaCount": MAX_REPLICAS, "lastReplicaCount": MAX_REPLICAS },
                { "startReplicaCount": min_replicas, "lastReplicaCount": MAX_REPLICAS - 1 },
            ],
        },
    })
}

fn scaled_horizontally(min_replicas: u32) -> Value {
    let labels = json!({ "role": "apiserver-hpa" });
    let metric = |name: &str| json!({ "type": "Resource", "resource": { "name": name, "targetAverageUtilization": UTILIZATION } });
    let spec = json!({
        "minReplicas": min_replicas,
        "maxReplicas": MAX_REPLICAS,
        "metrics": [metric("cpu"), metric("memory")],
    });
    json!({
        "selector": { "matchLabels": labels },
        "deploy": true,
        "scaleUp": { "updatePolicy": { "updateMode": "Auto" } },
        "scaleDown": { "updatePolicy": { "updateMode": "Auto" } },
        "template": { "metadata": { "labels": labels }, "spec": spec },
    })
}

fn scaled_vertically() -> Value {
    let labels = json!({ "role": "apiserver-vpa" });
    let change = |value: &str, percentage: u32| json!({ "value": value, "percentage": percentage });
    let scale = |after: &str| {
        json!({
            "updatePolicy": { "updateMode": "Auto" },
            "stabilizationDuration": after,
            "minChange": { "cpu": change("300m", 80), "memory": change("200M", 80) },
        })
    };
    let policy = json!({
        "containerName": CONTAINER,
        "minAllowed": { "memory": "400M" },
        "maxAllowed": { "cpu": "8", "memory": "25G" },
        "controlledValues": "RequestsOnly",
    });
    json!({
        "selector": { "matchLabels": labels },
        "deploy": true,
        "scaleUp": scale("3m"),
        "scaleDown": scale("15m"),
        "limitsRequestsGapScaleParams": { "cpu": change("1", 70), "memory": change("1G", 70) },
        "template": {
            "metadata": { "labels": labels },
            "spec": { "resourcePolicy": { "containerPolicies": [policy] } },
        },
    })
}
