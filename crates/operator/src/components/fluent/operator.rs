//! fluent-operator: it runs fluent-bit, and writes its configuration from custom resources.

use std::collections::BTreeMap;

use api::gardener::ROLE;
use api::networking::{TO_DNS, TO_RUNTIME_API_SERVER};
use api::resources::{HA_TYPE, HA_TYPE_CONTROLLER};
use serde_json::{Value, json};

use crate::components::NAMESPACE;
use crate::components::error::RenderError;
use crate::components::managed::ManagedObjects;
use crate::components::networks::allowed;
use crate::components::objects::{at_least, entries, metadata, vertical_pod_autoscaler, with};
use crate::components::rbac::{READ, cluster_role, cluster_role_binding, role_binding, role_in, rule};
use crate::components::references;
use crate::components::rendering::Rendering;
use crate::components::values::GardenValues;

/// Name of its Deployment and of the ManagedResource.
pub const NAME: &str = "fluent-operator";

const ROLE_NAME: &str = "gardener.cloud:logging:fluent-operator";
const WRITE: &[&str] = &["create", "delete", "get", "list", "patch", "update", "watch"];
/// Kinds that fluent-bit is configured from.
const CONFIGURATION: [&str; 11] = [
    "fluentbits",
    "clusterfluentbitconfigs",
    "clusterfilters",
    "clusterinputs",
    "clusteroutputs",
    "clusterparsers",
    "collectors",
    "fluentbitconfigs",
    "filters",
    "outputs",
    "parsers",
];

/// Its objects, which no field of a Garden changes.
///
/// # Errors
/// If there is no image.
pub fn render(values: &GardenValues<'_>) -> Result<Rendering, RenderError> {
    let (labels, none) = (labels(), BTreeMap::new());
    let subjects = [json!({ "kind": "ServiceAccount", "name": NAME, "namespace": NAMESPACE })];
    let account = json!({
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": metadata(NAME, &labels),
        "automountServiceAccountToken": false,
    });
    let objects = vec![
        account,
        cluster_role(ROLE_NAME, &labels, &cluster_rules()),
        cluster_role_binding(NAME, &labels, ROLE_NAME, &subjects),
        role_in(NAMESPACE, ROLE_NAME, &none, &rules()),
        role_binding(ROLE_NAME, NAMESPACE, &none, ROLE_NAME, &subjects),
        deployment(&values.image(NAME)?),
        vertical_pod_autoscaler(NAME, NAME, &none, &at_least("128Mi")),
    ];
    Ok(Rendering { managed: vec![ManagedObjects::in_runtime(NAME, objects)], ..Rendering::default() })
}

fn labels() -> BTreeMap<String, String> {
    entries([("app", NAME), ("role", "logging"), (ROLE, "logging")])
}

/// It reads all it works with in all namespaces.
fn cluster_rules() -> Vec<Value> {
    vec![
        rule(&["fluentbit.fluent.io"], &CONFIGURATION, WRITE),
        rule(&[""], &["secrets", "configmaps", "serviceaccounts", "services"], READ),
        rule(&["apps"], &["daemonsets", "statefulsets"], READ),
        rule(
            &["rbac.authorization.k8s.io"],
            &["clusterrolebindings", "clusterroles"],
            &["get", "list", "watch", "create"],
        ),
        rule(&[""], &["pods"], &["get"]),
        rule(&["extensions.gardener.cloud"], &["clusters"], READ),
    ]
}

/// It writes in its namespace.
fn rules() -> Vec<Value> {
    let core = ["secrets", "configmaps", "serviceaccounts", "services", "namespaces"];
    vec![
        rule(&["coordination.k8s.io"], &["leases"], &["create", "get", "watch", "update"]),
        rule(&[""], &["events"], &["create", "get", "list", "watch", "patch"]),
        rule(&["apps"], &["daemonsets", "statefulsets"], &["create", "delete", "patch", "update"]),
        rule(&[""], &core, WRITE),
    ]
}

fn deployment(image: &str) -> Value {
    let availability = entries([(HA_TYPE, HA_TYPE_CONTROLLER)]);
    let mut deployment = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(NAME, &with(labels(), availability)),
        "spec": {
            "replicas": 1,
            "revisionHistoryLimit": 2,
            "selector": { "matchLabels": labels() },
            "template": {
                "metadata": { "labels": with(labels(), allowed([TO_DNS, TO_RUNTIME_API_SERVER])) },
                "spec": {
                    "serviceAccountName": NAME,
                    "priorityClassName": "gardener-garden-system-100",
                    "containers": [container(image)],
                    "volumes": [{ "name": "env", "emptyDir": {} }],
                },
            },
        },
    });
    references::annotate(&mut deployment);
    deployment
}

/// It manages fluent-bit alone, not fluentd.
fn container(image: &str) -> Value {
    let namespace = json!({ "fieldRef": { "apiVersion": "v1", "fieldPath": "metadata.namespace" } });
    json!({
        "name": NAME,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "args": ["--leader-elect=true", "--disable-component-controllers=fluentd"],
        "env": [{ "name": "NAMESPACE", "valueFrom": namespace }],
        "resources": { "requests": { "cpu": "20m", "memory": "50Mi" } },
        "volumeMounts": [{ "name": "env", "mountPath": "/fluent-operator" }],
    })
}
