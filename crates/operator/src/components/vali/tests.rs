//! Vali of several Gardens, object by object.

use formats::yaml;
use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use crate::components::fixture::{Fixture, assert_objects, managed, referenced};
use crate::components::rendering::ObjectName;

fn everything() -> Fixture {
    Fixture::with(&json!({"spec": {
        "runtimeCluster": {
            "provider": {"zones": ["a", "b"]},
            "settings": {"verticalPodAutoscaler": {"enabled": true}, "topologyAwareRouting": {"enabled": true}},
        },
        "virtualCluster": {"controlPlane": {"highAvailability": {}}, "kubernetes": {"version": "1.28.3"}},
    }}))
    .with_seed_authorizer()
}

fn labels() -> Value {
    json!({"gardener.cloud/role": "logging", "role": "logging", "app": "vali"})
}

fn metadata(name: &str) -> Value {
    json!({"name": name, "namespace": "garden", "labels": labels()})
}

fn config_map(objects: &[Value]) -> &Value {
    objects.iter().find(|object| object["kind"] == "ConfigMap").unwrap()
}

/// With the ConfigMap as it is.
fn expected(config_map: &Value) -> Vec<Value> {
    let mut service = metadata("logging");
    service["annotations"] = json!({
        "networking.resources.gardener.cloud/from-all-seed-scrape-targets-allowed-ports":
            r#"[{"protocol":"TCP","port":3100}]"#,
    });
    vec![
        config_map.clone(),
        json!({
            "apiVersion": "v1", "kind": "Service", "metadata": service,
            "spec": {
                "type": "ClusterIP", "selector": labels(),
                "ports": [{"name": "metrics", "protocol": "TCP", "port": 3100, "targetPort": 3100}],
            },
        }),
        stateful_set(name_of(config_map)),
    ]
}

fn stateful_set(config: &str) -> Value {
    let annotations = referenced(&[config], &[]);
    let mut metadata = metadata("vali");
    metadata["annotations"] = annotations.clone();
    json!({
        "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": metadata,
        "spec": {
            "replicas": 1, "selector": {"matchLabels": labels()},
            "template": {
                "metadata": {"labels": labels(), "annotations": annotations},
                "spec": {
                    "automountServiceAccountToken": false, "priorityClassName": "gardener-garden-system-100",
                    "securityContext": {"fsGroup": 10001, "fsGroupChangePolicy": "OnRootMismatch"},
                    "initContainers": init_containers(), "containers": [container(), curator_container()],
                    "volumes": [{"name": "config", "configMap": {"name": config, "defaultMode": 336}}],
                },
            },
            "volumeClaimTemplates": [{
                "metadata": {"name": "vali"},
                "spec": {
                    "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "30Gi"}},
                },
            }],
        },
    })
}

fn init_containers() -> Value {
    json!([
        {
            "name": "init-large-dir", "image": "eu.gcr.io/gardener-project/gardener/tune2fs:v0.55.4",
            "command": ["bash", "-c", "/vali-init.sh || true"],
            "securityContext": {"privileged": true, "runAsUser": 0, "runAsNonRoot": false, "runAsGroup": 0},
            "volumeMounts": [
                {"name": "vali", "mountPath": "/data"},
                {"name": "config", "mountPath": "/vali-init.sh", "subPath": "vali-init.sh"},
            ],
        },
        {
            "name": "rename-loki-to-vali", "image": "eu.gcr.io/gardener-project/3rd/alpine:3.15.8",
            "command": ["sh", "-c", "if [ -d /data/loki ]; then mv /data/loki /data/vali; fi"],
            "volumeMounts": [{"name": "vali", "mountPath": "/data"}],
        },
    ])
}

fn container() -> Value {
    json!({
        "name": "vali", "image": "ghcr.io/credativ/vali:v2.2.8", "args": ["-config.file=/etc/vali/vali.yaml"],
        "volumeMounts": [
            {"name": "config", "mountPath": "/etc/vali/vali.yaml", "subPath": "vali.yaml"},
            {"name": "vali", "mountPath": "/data"},
        ],
        "ports": [{"name": "metrics", "containerPort": 3100, "protocol": "TCP"}],
        "livenessProbe": {
            "httpGet": {"path": "/ready", "port": "metrics"}, "initialDelaySeconds": 120, "failureThreshold": 5,
        },
        "readinessProbe": {"httpGet": {"path": "/ready", "port": "metrics"}, "failureThreshold": 7},
        "resources": {"requests": {"cpu": "200m", "memory": "300Mi"}, "limits": {"memory": "3Gi"}},
        "securityContext": {
            "runAsUser": 10001, "runAsGroup": 10001, "runAsNonRoot": true, "readOnlyRootFilesystem": true,
        },
    })
}

fn curator_container() -> Value {
    json!({
        "name": "curator", "image": "eu.gcr.io/gardener-project/gardener/vali-curator:v0.55.4",
        "args": ["-config=/etc/vali/curator.yaml"],
        "ports": [{"name": "curatormetrics", "containerPort": 2718, "protocol": "TCP"}],
        "volumeMounts": [
            {"name": "config", "mountPath": "/etc/vali/curator.yaml", "subPath": "curator.yaml"},
            {"name": "vali", "mountPath": "/data"},
        ],
        "resources": {"requests": {"cpu": "10m", "memory": "12Mi"}, "limits": {"memory": "700Mi"}},
        "securityContext": {
            "runAsUser": 10001, "runAsGroup": 10001, "runAsNonRoot": true, "readOnlyRootFilesystem": true,
        },
    })
}

fn hvpa() -> Value {
    let (horizontal, vertical) = (json!({"role": "vali-hpa"}), json!({"role": "valivpa"}));
    let metric =
        |name: &str| json!({"type": "Resource", "resource": {"name": name, "targetAverageUtilization": 80}});
    let off = |name: &str| json!({"containerName": name, "mode": "Off", "controlledValues": "RequestsOnly"});
    json!({
        "apiVersion": "autoscaling.k8s.io/v1alpha1", "kind": "Hvpa", "metadata": metadata("vali"),
        "spec": {
            "replicas": 1, "maintenanceTimeWindow": {"begin": "220000+0100", "end": "230000+0100"},
            "targetRef": {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "vali"},
            "hpa": {
                "selector": {"matchLabels": horizontal},
                "template": {
                    "metadata": {"labels": horizontal},
                    "spec": {"minReplicas": 1, "maxReplicas": 1, "metrics": [metric("cpu"), metric("memory")]},
                },
            },
            "vpa": {
                "selector": {"matchLabels": vertical}, "deploy": true, "scaleUp": scale_up(), "scaleDown": scale_down(),
                "limitsRequestsGapScaleParams": {
                    "cpu": {"value": "300m", "percentage": 40}, "memory": {"value": "1G", "percentage": 40},
                },
                "template": {
                    "metadata": {"labels": vertical},
                    "spec": {"resourcePolicy": {"containerPolicies": [
                        {
                            "containerName": "vali", "minAllowed": {"memory": "300M"},
                            "maxAllowed": {"cpu": "800m", "memory": "3Gi"}, "controlledValues": "RequestsOnly",
                        },
                        off("curator"),
                        off("init-large-dir"),
                    ]}},
                },
            },
            "weightBasedScalingIntervals": [{"vpaWeight": 100, "startReplicaCount": 1, "lastReplicaCount": 1}],
        },
    })
}

fn scale_up() -> Value {
    json!({
        "updatePolicy": {"updateMode": "Auto"}, "stabilizationDuration": "5m",
        "minChange": {"cpu": {"value": "100m", "percentage": 80}, "memory": {"value": "300M", "percentage": 80}},
    })
}

fn scale_down() -> Value {
    json!({
        "updatePolicy": {"updateMode": "MaintenanceWindow"}, "stabilizationDuration": "168h",
        "minChange": {"cpu": {"value": "200m", "percentage": 80}, "memory": {"value": "500M", "percentage": 80}},
    })
}

/// Only the feature gate changes objects.
#[rstest]
#[case::minimal(Fixture::default(), None)]
#[case::everything(everything(), None)]
#[case::runtime_1_24(Fixture::default().on_runtime("1.24.0"), None)]
#[case::runtime_1_28(Fixture::default().on_runtime("1.28.15"), None)]
#[case::hvpa(Fixture::default().with_hvpa(), Some(hvpa()))]
#[case::everything_with_hvpa(everything().with_hvpa(), Some(hvpa()))]
fn the_objects(#[case] fixture: Fixture, #[case] added: Option<Value>) {
    let rendering = render(&fixture.values()).unwrap();
    let objects = &managed(&rendering, "vali").objects;
    let config_map = config_map(objects);
    let (prefix, checksum) = name_of(config_map).rsplit_once('-').unwrap();
    assert_eq!((prefix, checksum.len()), ("vali-config", 8));
    let mut want = expected(config_map);
    want.extend(added);
    assert_objects("vali", objects, &want, &[]);
}

/// OPC-053.
#[test]
fn what_is_for_shoots_goes() {
    let secret = |name: &str| DirectStep::Delete(ObjectName::in_garden("v1", "Secret", name));
    let want = [
        DirectStep::DeleteManaged("vali-target".to_owned()),
        secret("shoot-access-valitail"),
        secret("shoot-access-kube-rbac-proxy"),
    ];
    assert_eq!(render(&Fixture::default().values()).unwrap().steps, want);
}

#[test]
fn the_configuration() {
    let rendering = render(&Fixture::default().values()).unwrap();
    let config_map = config_map(&managed(&rendering, "vali").objects);
    let file = |key: &str| yaml::from_str::<Value>(config_map["data"][key].as_str().unwrap()).unwrap();
    let free = json!({
        "MinFreePercentages": 10, "TargetFreePercentages": 15, "PageSizeForDeletionPercentages": 1,
    });
    let curator = json!({
        "LogLevel": "info", "DiskPath": "/data/vali/chunks", "TriggerInterval": "1h", "InodeConfig": free,
        "StorageConfig": free,
    });
    assert_eq!(file("curator.yaml"), curator);
    assert_eq!(file("vali.yaml"), vali_file());
    let script = config_map["data"]["vali-init.sh"].as_str().unwrap();
    assert!(script.starts_with("#!/bin/bash\n") && script.contains("tune2fs -O large_dir"), "{script}");
    assert_eq!(config_map["data"].as_object().unwrap().len(), 3);
}

fn vali_file() -> Value {
    json!({
        "auth_enabled": false,
        "ingester": {
            "chunk_target_size": 1_536_000, "chunk_idle_period": "3m", "chunk_block_size": 262_144,
            "chunk_retain_period": "3m", "max_transfer_retries": 3,
            "lifecycler": {
                "ring": {"kvstore": {"store": "inmemory"}, "replication_factor": 1}, "final_sleep": "0s",
                "min_ready_duration": "1s",
            },
        },
        "limits_config": {
            "enforce_metric_name": false, "reject_old_samples": true, "reject_old_samples_max_age": "168h",
        },
        "schema_config": {"configs": [{
            "from": "2018-04-15", "store": "boltdb", "object_store": "filesystem", "schema": "v11",
            "index": {"prefix": "index_", "period": "24h"},
        }]},
        "server": {"http_listen_port": 3100},
        "storage_config": {
            "boltdb": {"directory": "/data/vali/index"}, "filesystem": {"directory": "/data/vali/chunks"},
        },
        "chunk_store_config": {"max_look_back_period": "360h"},
        "table_manager": {"retention_deletes_enabled": true, "retention_period": "360h"},
    })
}
