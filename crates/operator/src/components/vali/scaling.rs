//! The Hvpa that changes the requests of Vali. Without it, they stay as they are.

use serde_json::{Value, json};

use super::stateful_set::{CURATOR, LARGE_DIRECTORIES};
use super::{NAME, labels};
use crate::components::objects::metadata;
use crate::components::values::GardenValues;

const HVPA: (&str, &str) = ("autoscaling.k8s.io/v1alpha1", "Hvpa");

/// Requests are lowered in the Garden's maintenance window alone, as that restarts it.
pub(super) fn hvpa(values: &GardenValues<'_>) -> Value {
    let window = &values.garden.spec.virtual_cluster.maintenance.time_window;
    json!({
        "apiVersion": HVPA.0,
        "kind": HVPA.1,
        "metadata": metadata(NAME, &labels()),
        "spec": {
            "replicas": 1,
            "maintenanceTimeWindow": { "begin": window.begin, "end": window.end },
            "targetRef": { "apiVersion": "apps/v1", "kind": "StatefulSet", "name": NAME },
            "hpa": horizontal(),
            "vpa": vertical(),
            "weightBasedScalingIntervals": [
                { "vpaWeight": 100, "startReplicaCount": 1, "lastReplicaCount": 1 },
            ],
        },
    })
}

/// No HorizontalPodAutoscaler is deployed, but a description of one is needed.
fn horizontal() -> Value {
    let role = json!({ "role": "vali-hpa" });
    let metric = |name: &str| json!({ "type": "Resource", "resource": { "name": name, "targetAverageUtilization": 80 } });
    let metrics = [metric("cpu"), metric("memory")];
    json!({
        "selector": { "matchLabels": role },
        "template": {
            "metadata": { "labels": role },
            "spec": { "minReplicas": 1, "maxReplicas": 1, "metrics": metrics },
        },
    })
}

fn vertical() -> Value {
    let role = json!({ "role": "valivpa" });
    let change = |value: &str, percentage: u32| json!({ "value": value, "percentage": percentage });
    let scale = |mode: &str, after: &str, cpu: &str, memory: &str| {
        json!({
            "updatePolicy": { "updateMode": mode },
            "stabilizationDuration": after,
            "minChange": { "cpu": change(cpu, 80), "memory": change(memory, 80) },
        })
    };
    let off = |container: &str| json!({ "containerName": container, "mode": "Off", "controlledValues": "RequestsOnly" });
    let of_vali = json!({
        "containerName": NAME,
        "minAllowed": { "memory": "300M" },
        "maxAllowed": { "cpu": "800m", "memory": "3Gi" },
        "controlledValues": "RequestsOnly",
    });
    json!({
        "selector": { "matchLabels": role },
        "deploy": true,
        "scaleUp": scale("Auto", "5m", "100m", "300M"),
        "scaleDown": scale("MaintenanceWindow", "168h", "200m", "500M"),
        "limitsRequestsGapScaleParams": { "cpu": change("300m", 40), "memory": change("1G", 40) },
        "template": {
            "metadata": { "labels": role },
            "spec": { "resourcePolicy": { "containerPolicies": [of_vali, off(CURATOR), off(LARGE_DIRECTORIES)] } },
        },
    })
}
