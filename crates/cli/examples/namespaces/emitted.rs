//! The objects that Gardener emits into the namespaces of Shoots.

use std::collections::BTreeMap;

use serde_json::Value;

/// The fixtures of a Shoot with workers.
pub(crate) const OBJECTS: [&str; 9] = [
    "control-plane-namespace",
    "kube-apiserver",
    "kube-apiserver-service",
    "kube-controller-manager",
    "kube-scheduler",
    "etcd-main",
    "etcd-events",
    "osc-reconcile",
    "osc-provision",
];
/// The fixtures of a Shoot without workers.
const WORKERLESS: [&str; 6] = [
    "control-plane-namespace",
    "kube-apiserver",
    "kube-apiserver-service",
    "kube-controller-manager-workerless",
    "etcd-main",
    "etcd-events",
];

/// Copies an object to another namespace.
pub(crate) fn in_namespace(object: &Value, namespace: &str) -> serde_json::Result<Value> {
    serde_json::from_str(&object.to_string().replace("shoot--dev--app", namespace))
}

/// The objects of every control plane that the variations of the fixtures make, with the names of their rows: `1.27,one VPN,audit
/// log`.
pub(crate) fn control_planes(fixtures: &BTreeMap<String, Value>) -> Vec<(String, Vec<&Value>)> {
    let labels = |name: &'static str| fixtures.keys().filter_map(move |varied| label(varied, name));
    let versions = labels("kube-apiserver").filter(|label| label.contains(',')).map(str::to_owned);
    // The variations of nodes and of etcd are independent of each other.
    let nodes =
        || labels("osc-reconcile").chain(labels("osc-reconcile-docker")).filter(|label| label.contains(','));
    let backups = labels("etcd-main").filter(|label| label.contains("backup"));
    let chosen = backups.flat_map(|backup| nodes().map(move |nodes| format!("{nodes},{backup}")));
    let objects = |combination: String| {
        let names = if combination.contains("no workers") { &WORKERLESS[..] } else { &OBJECTS[..] };
        let objects = names.iter().map(|name| variant(fixtures, name, &combination)).collect();
        (combination, objects)
    };
    versions.chain(chosen).map(objects).collect()
}

/// The variant of a fixture for a combination of rows. Its label may name only some of them: `etcd-main@one VPN`.
fn variant<'f>(fixtures: &'f BTreeMap<String, Value>, name: &str, combination: &str) -> &'f Value {
    let rows: Vec<&str> = combination.split(',').collect();
    let name =
        if name == "osc-reconcile" && rows.contains(&"docker") { "osc-reconcile-docker" } else { name };
    let is_of = |label: &str| label.split(',').all(|row| rows.contains(&row));
    let found = fixtures.iter().find(|(varied, _)| label(varied, name).is_some_and(is_of));
    found.map_or(&fixtures[name], |(_, object)| object)
}

/// The rows in the name of a variant.
fn label<'f>(varied: &'f str, name: &str) -> Option<&'f str> {
    varied.strip_prefix(name)?.strip_prefix('@')
}
