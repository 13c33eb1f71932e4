//! The StatefulSet: Vali, and the curator that keeps its volume from getting full.

use serde_json::{Value, json};

use super::configuration::{CURATOR_KEY, DATA_PATH, SCRIPT_KEY, VALI_KEY};
use super::{NAME, PORT, labels};
use crate::components::error::RenderError;
use crate::components::objects::metadata;
use crate::components::references;
use crate::components::values::GardenValues;

/// The container that keeps the volume from getting full.
pub(super) const CURATOR: &str = "curator";
/// The container that prepares the file system of the volume.
pub(super) const LARGE_DIRECTORIES: &str = "init-large-dir";

/// The volume with the configuration.
const CONFIG: &str = "config";
const CONFIG_PATH: &str = "/etc/vali";
/// Access to the files in it: 0520 in octal digits.
const CONFIG_MODE: u32 = 336;
const CURATOR_PORT: u16 = 2718;
/// The user and the group that files on the volume belong to.
const USER: u32 = 10001;

/// The StatefulSet with the configuration in this ConfigMap. OPC-013, OPC-052.
pub(super) fn stateful_set(values: &GardenValues<'_>, config_map: &str) -> Result<Value, RenderError> {
    let claim = json!({
        "metadata": { "name": NAME },
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": { "requests": { "storage": "30Gi" } },
        },
    });
    let mut stateful_set = json!({
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": metadata(NAME, &labels()),
        "spec": {
            "replicas": 1,
            "selector": { "matchLabels": labels() },
            "template": { "metadata": { "labels": labels() }, "spec": pod(values, config_map)? },
            "volumeClaimTemplates": [claim],
        },
    });
    references::annotate(&mut stateful_set);
    Ok(stateful_set)
}

fn pod(values: &GardenValues<'_>, config_map: &str) -> Result<Value, RenderError> {
    let config = json!({
        "name": CONFIG,
        "configMap": { "name": config_map, "defaultMode": CONFIG_MODE },
    });
    Ok(json!({
        "automountServiceAccountToken": false,
        "securityContext": { "fsGroup": USER, "fsGroupChangePolicy": "OnRootMismatch" },
        "priorityClassName": "gardener-garden-system-100",
        "initContainers": [
            large_directories(&values.image("tune2fs")?),
            former_directory(&values.image("alpine")?),
        ],
        "containers": [vali(&values.image(NAME)?), curator(&values.image("vali-curator")?)],
        "volumes": [config],
    }))
}

/// A failure is no reason not to start: small volumes do without.
fn large_directories(image: &str) -> Value {
    let path = format!("/{SCRIPT_KEY}");
    json!({
        "name": LARGE_DIRECTORIES,
        "image": image,
        "command": ["bash", "-c", format!("{path} || true")],
        "securityContext": { "privileged": true, "runAsUser": 0, "runAsNonRoot": false, "runAsGroup": 0 },
        "volumeMounts": [
            { "name": NAME, "mountPath": DATA_PATH },
            { "name": CONFIG, "mountPath": path, "subPath": SCRIPT_KEY },
        ],
    })
}

/// Vali was called Loki once, and so was its directory.
fn former_directory(image: &str) -> Value {
    let script = format!("if [ -d {DATA_PATH}/loki ]; then mv {DATA_PATH}/loki {DATA_PATH}/vali; fi");
    json!({
        "name": "rename-loki-to-vali",
        "image": image,
        "command": ["sh", "-c", script],
        "volumeMounts": [{ "name": NAME, "mountPath": DATA_PATH }],
    })
}

fn vali(image: &str) -> Value {
    let ready = json!({ "path": "/ready", "port": "metrics" });
    json!({
        "name": NAME,
        "image": image,
        "args": [format!("-config.file={CONFIG_PATH}/{VALI_KEY}")],
        "volumeMounts": mounts(VALI_KEY),
        "ports": [{ "name": "metrics", "containerPort": PORT, "protocol": "TCP" }],
        "livenessProbe": { "httpGet": ready, "initialDelaySeconds": 120, "failureThreshold": 5 },
        "readinessProbe": { "httpGet": ready, "failureThreshold": 7 },
        "resources": { "requests": { "cpu": "200m", "memory": "300Mi" }, "limits": { "memory": "3Gi" } },
        "securityContext": restricted(),
    })
}

fn curator(image: &str) -> Value {
    json!({
        "name": CURATOR,
        "image": image,
        "args": [format!("-config={CONFIG_PATH}/{CURATOR_KEY}")],
        "ports": [{ "name": "curatormetrics", "containerPort": CURATOR_PORT, "protocol": "TCP" }],
        "volumeMounts": mounts(CURATOR_KEY),
        "resources": { "requests": { "cpu": "10m", "memory": "12Mi" }, "limits": { "memory": "700Mi" } },
        "securityContext": restricted(),
    })
}

/// The file of this key, and the volume.
fn mounts(key: &str) -> Value {
    json!([
        { "name": CONFIG, "mountPath": format!("{CONFIG_PATH}/{key}"), "subPath": key },
        { "name": NAME, "mountPath": DATA_PATH },
    ])
}

fn restricted() -> Value {
    json!({ "runAsUser": USER, "runAsGroup": USER, "runAsNonRoot": true, "readOnlyRootFilesystem": true })
}
