//! The Deployment of Plutono.

use api::networking::TO_DNS;
use serde_json::{Value, json};

use super::configuration::DASHBOARDS_PATH;
use super::{NAME, PORT, labels, monitoring_labels};
use crate::components::networks::{allowed, to_service};
use crate::components::objects::{config_map_volume, metadata, with};
use crate::components::{references, vali};

/// Everybody who can open it may look at everything, and nobody can log in.
const SETTINGS: [(&str, &str); 8] = [
    ("PL_AUTH_ANONYMOUS_ENABLED", "true"),
    ("PL_USERS_VIEWERS_CAN_EDIT", "true"),
    ("PL_DATE_FORMATS_DEFAULT_TIMEZONE", "UTC"),
    ("PL_AUTH_BASIC_ENABLED", "false"),
    ("PL_AUTH_DISABLE_LOGIN_FORM", "true"),
    ("PL_AUTH_DISABLE_SIGNOUT_MENU", "true"),
    ("PL_ALERTING_ENABLED", "false"),
    ("PL_SNAPSHOTS_EXTERNAL_ENABLED", "false"),
];
/// The volumes with ConfigMaps.
const SOURCES: &str = "plutono-datasources";
const PROVIDERS: &str = "plutono-dashboard-providers";
const GARDEN: &str = "plutono-dashboards-garden";
const GLOBAL: &str = "plutono-dashboards-global";
/// The volume that it writes to.
const STORAGE: &str = "plutono-storage";

/// The Deployment with these ConfigMaps: of what dashboards ask, where they are, those of the garden and the global ones.
pub(super) fn deployment(image: &str, [sources, providers, garden, global]: [&str; 4]) -> Value {
    let volumes = [
        config_map_volume(SOURCES, sources),
        config_map_volume(PROVIDERS, providers),
        json!({ "name": STORAGE, "emptyDir": { "sizeLimit": "100Mi" } }),
        config_map_volume(GARDEN, garden),
        config_map_volume(GLOBAL, global),
    ];
    let to = [
        TO_DNS.to_owned(),
        to_service(vali::SERVICE, vali::PORT),
        to_service("garden-prometheus", 9090),
        to_service("garden-avail-prom", 9091),
    ];
    let mut deployment = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(NAME, &monitoring_labels()),
        "spec": {
            "replicas": 1,
            "revisionHistoryLimit": 2,
            "selector": { "matchLabels": labels() },
            "template": {
                "metadata": { "labels": with(labels(), allowed(to)) },
                "spec": {
                    "automountServiceAccountToken": false,
                    "priorityClassName": "gardener-garden-system-100",
                    "containers": [container(image)],
                    "volumes": volumes,
                },
            },
        },
    });
    references::annotate(&mut deployment);
    deployment
}

fn container(image: &str) -> Value {
    let mounts = [
        (SOURCES, "/etc/plutono/provisioning/datasources".to_owned()),
        (PROVIDERS, "/etc/plutono/provisioning/dashboards".to_owned()),
        (STORAGE, "/var/lib/plutono".to_owned()),
        (GARDEN, format!("{DASHBOARDS_PATH}/garden")),
        (GLOBAL, format!("{DASHBOARDS_PATH}/global")),
    ];
    let mounts = mounts.map(|(name, path)| json!({ "name": name, "mountPath": path }));
    let settings = SETTINGS.map(|(name, value)| json!({ "name": name, "value": value }));
    json!({
        "name": NAME,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "env": settings,
        "volumeMounts": mounts,
        "ports": [{ "name": "web", "containerPort": PORT }],
        "resources": { "requests": { "cpu": "10m", "memory": "32Mi" }, "limits": { "memory": "400Mi" } },
    })
}
