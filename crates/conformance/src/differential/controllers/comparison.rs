//! Compares the objects in the clusters of two targets.
//!
//! Ignores what the server, time or chance decides: `resourceVersion`, `generation` (except of ManagedResources, whose status
//! repeats it), times, `managedFields`, node ports, addresses of Services, memory addresses in texts. A uid is replaced by the
//! number of objects with this name so far. Conditions become a map by type, the objects of a ManagedResource a map by name.

use std::collections::{BTreeMap, BTreeSet};

use contract::expect::{self, Path, Rules, Step};
use contract::scenario::Side;
use serde_json::{Map, Value, json};

use super::super::effect::Difference;
use crate::exchange::without_addresses;
use crate::run::scenario::ObjectStates;

/// Metadata that the server sets.
const SERVER_FIELDS: [&str; 5] =
    ["resourceVersion", "creationTimestamp", "managedFields", "selfLink", "deletionGracePeriodSeconds"];
/// Times of conditions.
const TIMES: [&str; 4] = ["lastTransitionTime", "lastUpdateTime", "lastHeartbeatTime", "lastProbeTime"];
/// Fields of a Service that the server allocates.
const ALLOCATED: [&str; 3] = ["clusterIP", "clusterIPs", "healthCheckNodePort"];

/// Status field in which a ManagedResource lists its objects.
const INVENTORY: &str = "resources";

/// Removes ignored fields from an object.
pub(super) fn normalize(object: &mut Value) {
    let (is_service, is_managed) = (object["kind"] == "Service", object["kind"] == "ManagedResource");
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.retain(|name, _| {
            !SERVER_FIELDS.contains(&name.as_str()) && (is_managed || name != "generation")
        });
        if let Some(time) = metadata.get_mut("deletionTimestamp") {
            *time = json!("set");
        }
        let fields = metadata.get_mut("ownerReferences").and_then(Value::as_array_mut);
        for owner in fields.into_iter().flatten().filter_map(Value::as_object_mut) {
            owner.remove("uid");
        }
    }
    if is_service && let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) {
        for (name, value) in spec.iter_mut() {
            if ALLOCATED.contains(&name.as_str()) && !matches!(value.as_str(), Some("None" | "")) {
                *value = json!("allocated");
            }
        }
        let ports = spec.get_mut("ports").and_then(Value::as_array_mut);
        for port in ports.into_iter().flatten().filter_map(|port| port.get_mut("nodePort")) {
            *port = json!("allocated");
        }
    }
    if let Some(status) = object.get_mut("status").and_then(Value::as_object_mut) {
        conditions(status);
        if is_managed {
            inventory(status);
        }
    }
    texts(object);
}

fn conditions(status: &mut Map<String, Value>) {
    let Some(list) = status.get("conditions").and_then(Value::as_array) else { return };
    let mut by_type = Map::new();
    for condition in list {
        let mut condition = condition.clone();
        if let Some(fields) = condition.as_object_mut() {
            fields.retain(|name, _| !TIMES.contains(&name.as_str()));
        }
        by_type.insert(condition["type"].as_str().unwrap_or_default().to_owned(), condition);
    }
    status.insert("conditions".to_owned(), Value::Object(by_type));
}

/// Turns the list of a ManagedResource's objects into a map by name; an object that is listed repeatedly gets a count.
fn inventory(status: &mut Map<String, Value>) {
    let Some(list) = status.get("resources").and_then(Value::as_array) else { return };
    let mut by_name: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for entry in list {
        let text = |field: &str| entry[field].as_str().unwrap_or_default();
        let name = ["apiVersion", "kind", "namespace", "name"].map(text).join("/");
        by_name.entry(name).or_default().push(entry.clone());
    }
    let entries = by_name.into_iter().map(|(name, mut entries)| {
        let count = entries.len();
        let mut entry = entries.pop().unwrap_or_default();
        if count > 1 {
            entry["listed"] = json!(count);
        }
        (name, entry)
    });
    let entries = entries.collect();
    status.insert(INVENTORY.to_owned(), Value::Object(entries));
}

fn texts(value: &mut Value) {
    match value {
        Value::String(text) if text.contains("0x") => *text = without_addresses(text),
        Value::Object(fields) => fields.values_mut().for_each(texts),
        Value::Array(items) => items.iter_mut().for_each(texts),
        _ => {}
    }
}

/// Differences between two clusters: `targetCluster.ConfigMap[].data.key`. An object that only one cluster has is one difference,
/// as is an entry that only one ManagedResource lists.
pub(super) fn differences(
    a: &ObjectStates,
    b: &ObjectStates,
    rules: &dyn Fn(&Value) -> Rules,
) -> Vec<Difference> {
    let mut found = Vec::new();
    let keys: BTreeSet<_> = a.keys().chain(b.keys()).collect();
    for key in keys {
        let (mut one, mut other) = (a.get(key).cloned(), b.get(key).cloned());
        let place = place(key);
        if let (Some(one), Some(other)) = (&mut one, &mut other)
            && key.1 == "ManagedResource"
        {
            let list = |object: &mut Value| object.get_mut("status")?.get_mut(INVENTORY).map(Value::take);
            let lists = [list(one), list(other)];
            compare_lists(&mut found, &place, lists);
        }
        compare_objects(&mut found, &place, (one.as_ref(), other.as_ref()), rules);
    }
    found
}

/// Compares the lists of two ManagedResources.
fn compare_lists(found: &mut Vec<Difference>, place: &[Step], lists: [Option<Value>; 2]) {
    let [one, other] = lists.map(|list| list.and_then(|list| list.as_object().cloned()).unwrap_or_default());
    let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    let fields = ["status", INVENTORY].map(|name| Step::Field(name.to_owned()));
    for name in names {
        let entry = Step::Key(vec![("object".to_owned(), name.clone())]);
        let place: Vec<Step> = place.iter().chain(&fields).chain([&entry]).cloned().collect();
        match (one.get(name), other.get(name)) {
            (Some(one), Some(other)) => {
                compare_fields(found, &place, (Some(one), Some(other)), &Rules::unknown());
            }
            (one, other) => {
                let difference =
                    Difference { place: Path(place), input: None, a: one.cloned(), b: other.cloned() };
                found.push(difference);
            }
        }
    }
}

fn compare_objects(
    found: &mut Vec<Difference>,
    place: &[Step],
    (one, other): (Option<&Value>, Option<&Value>),
    rules: &dyn Fn(&Value) -> Rules,
) {
    if let (Some(one), Some(other)) = (one, other) {
        compare_fields(found, place, (Some(one), Some(other)), &rules(one));
    } else {
        let difference =
            Difference { place: Path(place.to_vec()), input: None, a: one.cloned(), b: other.cloned() };
        found.push(difference);
    }
}

fn compare_fields(
    found: &mut Vec<Difference>,
    place: &[Step],
    (one, other): (Option<&Value>, Option<&Value>),
    rules: &Rules,
) {
    for change in expect::changes(one, other, rules) {
        let place = Path(place.iter().cloned().chain(change.path.0).collect());
        found.push(Difference { place, input: None, a: change.before, b: change.after });
    }
}

fn place((side, kind, name): &(Side, String, String)) -> [Step; 3] {
    let name = Step::Key(vec![("name".to_owned(), name.clone())]);
    [Step::Field(side.name().to_owned()), Step::Field(kind.clone()), name]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(kind: &str, name: &str) -> (Side, String, String) {
        (Side::Target, kind.to_owned(), format!("default/{name}"))
    }

    /// The groups of differences, each with whether the first and the second cluster has a value.
    fn found(a: &ObjectStates, b: &ObjectStates) -> Vec<(String, bool, bool)> {
        let found = differences(a, b, &Rules::of_object);
        found.into_iter().map(|one| (one.group(), one.a.is_some(), one.b.is_some())).collect()
    }

    #[test]
    fn what_the_server_decides_is_left_out() {
        let mut object = json!({
            "kind": "Service",
            "metadata": {"name": "s", "uid": "uid 1", "resourceVersion": "7", "generation": 2, "managedFields": [],
                "deletionTimestamp": "2026-01-01T00:00:00Z", "ownerReferences": [{"name": "o", "uid": "u"}]},
            "spec": {"clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1"], "ports": [{"port": 80, "nodePort": 30000}]},
            "status": {"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "t", "message": "at 0xc0"}]},
        });
        normalize(&mut object);
        let want = json!({
            "kind": "Service",
            "metadata": {"name": "s", "uid": "uid 1", "deletionTimestamp": "set", "ownerReferences": [{"name": "o"}]},
            "spec": {"clusterIP": "allocated", "clusterIPs": "allocated", "ports": [{"port": 80, "nodePort": "allocated"}]},
            "status": {"conditions": {"Ready": {"type": "Ready", "status": "True", "message": "at 0x…"}}},
        });
        assert_eq!(object, want);
        let mut headless = json!({"kind": "Service", "spec": {"clusterIP": "None"}});
        normalize(&mut headless);
        assert_eq!(headless["spec"]["clusterIP"], "None");
    }

    #[test]
    fn clusters_differ_in_objects_fields_and_what_is_listed() {
        let entry = |name: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "namespace": "default", "name": name});
        let managed = |names: &[&str]| {
            let resources: Vec<Value> = names.iter().map(|name| entry(name)).collect();
            let mut object = json!({"kind": "ManagedResource", "status": {"resources": resources}});
            normalize(&mut object);
            object
        };
        let of = |data: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"key": data}});
        let states = |objects: Vec<(&str, &str, Value)>| -> ObjectStates {
            objects.into_iter().map(|(kind, name, object)| (key(kind, name), object)).collect()
        };
        let a = states(vec![
            ("ConfigMap", "a", of("1")),
            ("ConfigMap", "b", of("1")),
            ("ManagedResource", "mr", managed(&["a", "b"])),
        ]);
        let b = states(vec![("ConfigMap", "a", of("2")), ("ManagedResource", "mr", managed(&["a", "a"]))]);
        let of = |place: &str, a, b| (format!("targetCluster.{place}"), a, b);
        let want = vec![
            of("ConfigMap[].data.key", true, true),
            of("ConfigMap[]", true, false),
            of("ManagedResource[].status.resources[].listed", false, true),
            of("ManagedResource[].status.resources[]", true, false),
        ];
        assert_eq!(found(&a, &b), want);
        assert_eq!(found(&a, &a), vec![]);
    }
}
