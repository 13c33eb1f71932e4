//! The Hvpa that changes the requests of an Etcd's containers.

use serde_json::{Value, json};

use super::object::{labels, replicas, stateful_set};
use super::{EtcdRole, HVPA};
use crate::components::objects::metadata;
use crate::components::values::GardenValues;

/// Requests of main are never lowered, as that restarts it; those of events only in the maintenance window. OPC-067.
pub(super) fn hvpa(values: &GardenValues<'_>, role: EtcdRole) -> Value {
    let (min_memory, scale_down) = match role {
        EtcdRole::Main => ("700M", "Off"),
        EtcdRole::Events => ("200M", "MaintenanceWindow"),
    };
    let window = &values.garden.spec.virtual_cluster.maintenance.time_window;
    let replicas = replicas(values);
    json!({
        "apiVersion": HVPA.0,
        "kind": HVPA.1,
        "metadata": metadata(role.etcd_name(), &labels(role)),
        "spec": {
            "replicas": 1,
            "maintenanceTimeWindow": { "begin": window.begin, "end": window.end },
            "targetRef": {
                "apiVersion": "apps/v1",
                "kind": "StatefulSet",
                "name": stateful_set(values, role),
            },
            "hpa": horizontal(role, replicas),
            "vpa": vertical(role, min_memory, scale_down),
            "weightBasedScalingIntervals": [
                { "vpaWeight": 100, "startReplicaCount": replicas, "lastReplicaCount": replicas },
            ],
        },
    })
}

/// No HorizontalPodAutoscaler is deployed, but a description of one is needed.
fn horizontal(role: EtcdRole, replicas: u32) -> Value {
    let labels = json!({ "role": format!("etcd-hpa-{}", role.label()) });
    let metric = |name: &str| json!({ "type": "Resource", "resource": { "name": name, "targetAverageUtilization": 80 } });
    let metrics = [metric("cpu"), metric("memory")];
    json!({
        "selector": { "matchLabels": labels },
        "template": {
            "metadata": { "labels": labels },
            "spec": { "minReplicas": replicas, "maxReplicas": replicas, "metrics": metrics },
        },
    })
}

fn vertical(role: EtcdRole, min_memory: &str, scale_down: &str) -> Value {
    let labels = json!({ "role": format!("etcd-vpa-{}", role.label()) });
    let change = |value: &str, percentage: u32| json!({ "value": value, "percentage": percentage });
    let scale = |mode: &str, after: &str| {
        json!({
            "updatePolicy": { "updateMode": mode },
            "stabilizationDuration": after,
            "minChange": { "cpu": change("1", 80), "memory": change("2G", 80) },
        })
    };
    let policies = json!([
        {
            "containerName": "etcd",
            "minAllowed": { "memory": min_memory },
            "maxAllowed": { "cpu": "4", "memory": "30G" },
            "controlledValues": "RequestsOnly",
        },
        { "containerName": "backup-restore", "mode": "Off", "controlledValues": "RequestsOnly" },
    ]);
    json!({
        "selector": { "matchLabels": labels },
        "deploy": true,
        "scaleUp": scale("Auto", "5m"),
        "scaleDown": scale(scale_down, "15m"),
        "limitsRequestsGapScaleParams": { "cpu": change("2", 40), "memory": change("5G", 40) },
        "template": {
            "metadata": { "labels": labels },
            "spec": { "resourcePolicy": { "containerPolicies": policies } },
        },
    })
}
