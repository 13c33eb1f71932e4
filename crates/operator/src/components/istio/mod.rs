//! Istio: istiod, and the gateway through which the virtual cluster is reached.
//!
//! Both ManagedResources, and the objects in them, are outside of the namespace `garden`. Data keys of their Secrets are those of all
//! ManagedResources, not the names of chart templates as in the original; annotations with checksums have another value than there.

mod envoy_filters;
mod gateway;
mod gateway_deployment;
mod istiod;
mod istiod_deployment;
mod istiod_roles;
mod mesh;
mod namespaces;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::time::Duration;

use formats::yaml;
use secrets::SecretData;
use serde_json::{Value, json};

use super::error::RenderError;
use super::kube_apiserver_service::GATEWAY_NAMESPACE;
use super::lifecycle::{Lifecycle, ManagedWait, RemovalStep};
use super::managed::ManagedObjects;
use super::objects::cluster_metadata;
use super::rendering::{DirectStep, ObjectName, Rendering, name_of};
use super::values::GardenValues;

/// The namespace of istiod, and of both ManagedResources. OPC-045.
pub const ISTIO_SYSTEM: &str = "istio-system";
/// The ManagedResource with istiod.
pub const ISTIOD_MANAGED: &str = "istio-system";
/// The ManagedResource with the gateway.
pub const GATEWAY_MANAGED: &str = "virtual-garden-istio";

/// Where proxies get their configuration.
const ISTIOD_ADDRESS: &str = "istiod.istio-system.svc:15012";
/// The port there.
const ISTIOD_PORT: u16 = 15012;
/// The user and the group of all processes.
const USER: u32 = 1337;
const PRIORITY: &str = "gardener-garden-system-critical";
const FILTER_API_VERSION: &str = "networking.istio.io/v1alpha3";
/// Filters for proxies that nobody has any more.
const FORMER_FILTERS: [&str; 4] =
    ["tcp-stats-filter-1.11", "stats-filter-1.11", "tcp-stats-filter-1.12", "stats-filter-1.12"];

/// What must be written. OPC-045 to -049.
///
/// # Errors
/// If there is no image.
pub fn render(values: &GardenValues<'_>) -> Result<Rendering, RenderError> {
    let mut steps = vec![DirectStep::Patch(namespaces::of_istiod(values.zones()))];
    steps.extend(FORMER_FILTERS.map(|name| {
        DirectStep::Delete(ObjectName {
            namespace: GATEWAY_NAMESPACE.to_owned(),
            ..ObjectName::in_garden(FILTER_API_VERSION, "EnvoyFilter", name)
        })
    }));
    steps.push(DirectStep::Patch(namespaces::of_gateway(values.zones())));
    let istiod = istiod::objects(&values.image("istio-istiod")?)?;
    let managed = vec![
        ManagedObjects::in_runtime(ISTIOD_MANAGED, istiod).in_namespace(ISTIO_SYSTEM),
        ManagedObjects::in_runtime(GATEWAY_MANAGED, gateway::objects(values)?).in_namespace(ISTIO_SYSTEM),
    ];
    Ok(Rendering { steps, managed, ..Rendering::default() })
}

/// How it is awaited and taken down: nobody waits until the namespaces are gone. OPC-045.
#[must_use]
pub fn lifecycle() -> Lifecycle {
    let names = [GATEWAY_MANAGED, ISTIOD_MANAGED];
    let wait = ManagedWait::of(&names, Duration::from_mins(2)).in_namespace(ISTIO_SYSTEM);
    let managed = names
        .map(|name| RemovalStep::ManagedIn { namespace: ISTIO_SYSTEM.to_owned(), name: name.to_owned() });
    let namespaces = [ISTIO_SYSTEM, GATEWAY_NAMESPACE].map(|name| {
        let of_cluster = ObjectName::in_garden("v1", "Namespace", name);
        RemovalStep::Object(ObjectName { namespace: String::new(), ..of_cluster })
    });
    Lifecycle {
        deployed: vec![wait.clone()],
        removal: managed.into_iter().chain(namespaces).collect(),
        removed: vec![wait],
        ..Lifecycle::default()
    }
}

/// Metadata of an object in a namespace.
fn placed(name: &str, namespace: &str, labels: &BTreeMap<String, String>) -> Value {
    let mut metadata = cluster_metadata(name, labels);
    metadata["namespace"] = namespace.into();
    metadata
}

/// A variable of a container's environment.
fn variable(name: &str, value: &str) -> Value {
    json!({ "name": name, "value": value })
}

/// A variable with a field of the Pod.
fn field_variable(name: &str, field: &str) -> Value {
    json!({ "name": name, "valueFrom": { "fieldRef": { "apiVersion": "v1", "fieldPath": field } } })
}

/// The token with which a process authenticates with istiod.
fn token_volume() -> Value {
    let token = json!({ "path": "istio-token", "audience": "istio-ca", "expirationSeconds": 43200 });
    json!({ "name": "istio-token", "projected": { "sources": [{ "serviceAccountToken": token }] } })
}

/// The permissions that no container has more than.
fn restricted() -> Value {
    json!({
        "allowPrivilegeEscalation": false,
        "readOnlyRootFilesystem": true,
        "runAsUser": USER,
        "runAsGroup": USER,
        "runAsNonRoot": true,
        "capabilities": { "drop": ["ALL"] },
    })
}

/// Pods with these labels are on different nodes, if possible.
fn apart(labels: &BTreeMap<String, String>) -> Value {
    let expressions: Vec<Value> = labels
        .iter()
        .map(|(key, value)| json!({ "key": key, "operator": "In", "values": [value] }))
        .collect();
    let term = json!({
        "labelSelector": { "matchExpressions": expressions },
        "topologyKey": api::kubernetes::TOPOLOGY_HOSTNAME,
    });
    let preference = json!({ "weight": 100, "podAffinityTerm": term });
    json!({ "podAntiAffinity": { "preferredDuringSchedulingIgnoredDuringExecution": [preference] } })
}

/// A PodDisruptionBudget: one Pod with these labels stays.
fn budget(name: &str, namespace: &str, labels: &BTreeMap<String, String>) -> Value {
    json!({
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": placed(name, namespace, labels),
        "spec": { "minAvailable": 1, "selector": { "matchLabels": labels } },
    })
}

/// A ServiceAccount whose token no Pod gets by itself.
fn account(name: &str, namespace: &str, labels: &BTreeMap<String, String>) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": placed(name, namespace, labels),
        "automountServiceAccountToken": false,
    })
}

/// The checksum of a ConfigMap: Pods with it in an annotation are replaced when the ConfigMap changes.
fn checksum(config_map: &Value) -> Result<String, RenderError> {
    let text = yaml::to_string(config_map).map_err(RenderError::yaml(name_of(config_map)))?;
    Ok(SecretData::from([("config", text)]).checksum())
}
