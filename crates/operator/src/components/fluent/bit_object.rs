//! The FluentBit, from which fluent-operator makes a DaemonSet and a Service.

use std::collections::BTreeMap;

use api::gardener::ROLE;
use api::networking::{TO_DNS, TO_RUNTIME_API_SERVER};
use serde_json::{Value, json};

use super::API_VERSION;
use super::bit::NAME;
use crate::components::networks::{allowed, to_service};
use crate::components::objects::{entries, metadata, with};
use crate::components::rbac::{READ, rule};
use crate::components::vali;

/// The name of the configuration.
pub(super) const CONFIG: &str = "fluent-bit-config";
/// Its name ends with a checksum of its labels and annotations, which never change. OPC-050.
const OBJECT_NAME: &str = "fluent-bit-8259c";
/// Where fluent-bit serves its own metrics.
const METRICS_PORT: u16 = 2020;
/// Where the plugin for Vali does.
const PLUGIN_METRICS_PORT: u16 = 2021;
/// The annotation of its Service, whose ports are written in another order of fields than elsewhere.
const FROM_SCRAPERS: (&str, &str) = (
    "networking.resources.gardener.cloud/from-all-seed-scrape-targets-allowed-ports",
    r#"[{"port":2020,"protocol":"TCP"},{"port":2021,"protocol":"TCP"}]"#,
);

/// The FluentBit with the image of fluent-bit, and of the plugin for Vali.
pub(super) fn fluent_bit(image: &str, plugin_image: &str) -> Value {
    let tolerations = ["master", "control-plane"].map(toleration);
    let clusters = rule(&["extensions.gardener.cloud"], &["clusters"], READ);
    json!({
        "apiVersion": API_VERSION,
        "kind": "FluentBit",
        "metadata": metadata(OBJECT_NAME, &labels()),
        "spec": {
            "fluentBitConfigName": CONFIG,
            "image": image,
            "command": command(),
            "priorityClassName": "gardener-garden-system-100",
            "ports": [{ "name": "metrics-plugin", "containerPort": PLUGIN_METRICS_PORT, "protocol": "TCP" }],
            "resources": { "requests": { "cpu": "150m", "memory": "200Mi" }, "limits": { "memory": "650Mi" } },
            "readinessProbe": {
                "httpGet": { "path": "/api/v1/metrics/prometheus", "port": METRICS_PORT },
                "periodSeconds": 10,
            },
            "livenessProbe": {
                "httpGet": { "path": "/healthz", "port": PLUGIN_METRICS_PORT },
                "periodSeconds": 300,
                "initialDelaySeconds": 90,
            },
            "tolerations": tolerations,
            "volumes": volumes(),
            "volumesMounts": mounts(),
            "initContainers": [plugin_installer(plugin_image)],
            "rbacRules": [clusters],
            "service": { "name": NAME, "labels": labels(), "annotations": entries([FROM_SCRAPERS]) },
        },
    })
}

/// Also those of its Pods, which connect to Vali of the garden and of all Shoots.
fn labels() -> BTreeMap<String, String> {
    let to = [
        TO_DNS.to_owned(),
        TO_RUNTIME_API_SERVER.to_owned(),
        to_service(vali::SERVICE, vali::PORT),
        to_service("all-shoots-logging", vali::PORT),
    ];
    with(entries([("app", NAME), ("role", "logging"), (ROLE, "logging")]), allowed(to))
}

fn command() -> [&'static str; 5] {
    [
        "/fluent-bit/bin/fluent-bit-watcher",
        "-e",
        "/fluent-bit/plugins/out_vali.so",
        "-c",
        "/fluent-bit/config/fluent-bit.conf",
    ]
}

fn toleration(role: &str) -> Value {
    json!({ "key": format!("node-role.kubernetes.io/{role}"), "effect": "NoSchedule" })
}

fn volumes() -> Value {
    json!([
        { "name": "runlogjournal", "hostPath": { "path": "/run/log/journal" } },
        { "name": "varfluent", "hostPath": { "path": "/var/fluentbit" } },
        { "name": "plugins", "emptyDir": {} },
    ])
}

fn mounts() -> Value {
    json!([
        { "name": "runlogjournal", "mountPath": "/run/log/journal" },
        { "name": "varfluent", "mountPath": "/var/fluentbit" },
        { "name": "plugins", "mountPath": "/fluent-bit/plugins" },
    ])
}

fn plugin_installer(image: &str) -> Value {
    json!({
        "name": "install-plugin",
        "image": image,
        "command": ["cp", "/source/plugins/.", "/plugins"],
        "volumeMounts": [{ "name": "plugins", "mountPath": "/plugins" }],
    })
}
