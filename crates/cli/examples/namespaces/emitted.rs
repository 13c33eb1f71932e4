//! What Gardener emits into the namespaces of shoots.

use std::collections::BTreeMap;

use serde_json::Value;

/// The fixtures of the objects of a shoot with workers.
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
/// The same of a shoot without workers.
const WORKERLESS: [&str; 6] = [
    "control-plane-namespace",
    "kube-apiserver",
    "kube-apiserver-service",
    "kube-controller-manager-workerless",
    "etcd-main",
    "etcd-events",
];

/// An object in another namespace.
pub(crate) fn moved(object: &Value, namespace: &str) -> serde_json::Result<Value> {
    serde_json::from_str(&object.to_string().replace("shoot--dev--app", namespace))
}

/// The objects of every control plane that the variations of the fixtures make, by the names of their rows: `1.27,one VPN,audit log`.
pub(crate) fn varied(fixtures: &BTreeMap<String, Value>) -> Vec<(String, Vec<&Value>)> {
    let labels = |name: &'static str| fixtures.keys().filter_map(move |varied| label(varied, name));
    let versions = labels("kube-apiserver").filter(|label| label.contains(',')).map(str::to_owned);
    // What shoots and seeds may choose is said of nodes and of etcd apart.
    let nodes =
        || labels("osc-reconcile").chain(labels("osc-reconcile-docker")).filter(|label| label.contains(','));
    let backups = labels("etcd-main").filter(|label| label.contains("backup"));
    let chosen = backups.flat_map(|backup| nodes().map(move |nodes| format!("{nodes},{backup}")));
    let objects = |combination: String| {
        let names = if combination.contains("no workers") { &WORKERLESS[..] } else { &OBJECTS[..] };
        let objects = names.iter().map(|name| varying(fixtures, name, &combination)).collect();
        (combination, objects)
    };
    versions.chain(chosen).map(objects).collect()
}

/// A fixture as it is in a combination of rows: `etcd-main@one VPN`, where it depends on some of them alone.
fn varying<'f>(fixtures: &'f BTreeMap<String, Value>, name: &str, combination: &str) -> &'f Value {
    let rows: Vec<&str> = combination.split(',').collect();
    let name =
        if name == "osc-reconcile" && rows.contains(&"docker") { "osc-reconcile-docker" } else { name };
    let is_of = |label: &str| label.split(',').all(|row| rows.contains(&row));
    let found = fixtures.iter().find(|(varied, _)| label(varied, name).is_some_and(is_of));
    found.map_or(&fixtures[name], |(_, object)| object)
}

/// The rows that a fixture of this name is made of.
fn label<'f>(varied: &'f str, name: &str) -> Option<&'f str> {
    varied.strip_prefix(name)?.strip_prefix('@')
}
