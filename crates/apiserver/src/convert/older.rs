//! Kinds whose retired versions differ from the newest one in some fields, and how these move.

use serde_json::{Map, Value, json};

const ZONE: &str = "topology.kubernetes.io/zone";
const HOSTNAME: &str = "kubernetes.io/hostname";
/// The label in selectors that stand for "all pods" and "no pods" where the empty selector means the other.
const ANY: &str = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match";

/// An EndpointSlice of `discovery.k8s.io/v1beta1` to v1.
pub(super) fn endpoint_slice_to_v1(slice: &mut Value) {
    for endpoint in fields_of_items(slice, "endpoints") {
        let Some(Value::Object(mut topology)) = endpoint.remove("topology") else { continue };
        if let Some(zone) = topology.remove(ZONE) {
            endpoint.insert("zone".to_owned(), zone);
        }
        if topology.get(HOSTNAME).is_some_and(|host| Some(host) == endpoint.get("nodeName")) {
            topology.remove(HOSTNAME);
        }
        if !topology.is_empty() {
            endpoint.insert("deprecatedTopology".to_owned(), Value::Object(topology));
        }
    }
}

/// An EndpointSlice of `discovery.k8s.io/v1` to v1beta1.
pub(super) fn endpoint_slice_to_v1beta1(slice: &mut Value) {
    for endpoint in fields_of_items(slice, "endpoints") {
        let mut topology = match endpoint.remove("deprecatedTopology") {
            Some(Value::Object(topology)) => topology,
            _ => Map::new(),
        };
        if let Some(zone) = endpoint.remove("zone") {
            topology.insert(ZONE.to_owned(), zone);
        }
        if let Some(node) = endpoint.get("nodeName") {
            topology.entry(HOSTNAME).or_insert_with(|| node.clone());
        }
        if !topology.is_empty() {
            endpoint.insert("topology".to_owned(), Value::Object(topology));
        }
    }
}

/// A PodDisruptionBudget of `policy/v1beta1` to v1: there, an empty selector selects all pods, not none.
pub(super) fn disruption_budget_to_v1(budget: &mut Value) {
    replace_selector(budget, (&json!({}), &of_any("Exists")), (&of_any("DoesNotExist"), &json!({})));
}

/// A PodDisruptionBudget of `policy/v1` to v1beta1.
pub(super) fn disruption_budget_to_v1beta1(budget: &mut Value) {
    replace_selector(budget, (&of_any("Exists"), &json!({})), (&json!({}), &of_any("DoesNotExist")));
}

/// A PriorityLevelConfiguration of `flowcontrol.apiserver.k8s.io` between v1beta1 or v1beta2, and newer versions.
pub(super) fn rename_concurrency_shares(level: &mut Value, to: &str) {
    const OLD: &str = "assuredConcurrencyShares";
    const NEW: &str = "nominalConcurrencyShares";
    let (before, after) = if matches!(to, "v1beta1" | "v1beta2") { (NEW, OLD) } else { (OLD, NEW) };
    let limited = level.pointer_mut("/spec/limited").and_then(Value::as_object_mut);
    if let Some(limited) = limited
        && let Some(shares) = limited.remove(before)
    {
        limited.insert(after.to_owned(), shares);
    }
}

/// Replaces the selector of a budget if it is one of two.
fn replace_selector(budget: &mut Value, first: (&Value, &Value), second: (&Value, &Value)) {
    let Some(selector) = budget.pointer_mut("/spec/selector") else { return };
    for (before, after) in [first, second] {
        if selector == before {
            *selector = after.clone();
            return;
        }
    }
}

fn of_any(operator: &str) -> Value {
    json!({"matchExpressions": [{"key": ANY, "operator": operator}]})
}

fn fields_of_items<'a>(
    object: &'a mut Value,
    list: &str,
) -> impl Iterator<Item = &'a mut Map<String, Value>> {
    let items = object.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten();
    items.filter_map(Value::as_object_mut)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topology_becomes_zone_and_the_rest_stays() {
        let old = json!({"endpoints": [
            {"nodeName": "a", "topology": {ZONE: "z", HOSTNAME: "a"}},
            {"nodeName": "a", "topology": {HOSTNAME: "b", "x": "y"}},
            {"addresses": ["10.0.0.1"]},
        ]});
        let new = json!({"endpoints": [
            {"nodeName": "a", "zone": "z"},
            {"nodeName": "a", "deprecatedTopology": {HOSTNAME: "b", "x": "y"}},
            {"addresses": ["10.0.0.1"]},
        ]});
        let mut slice = old.clone();
        endpoint_slice_to_v1(&mut slice);
        assert_eq!(slice, new);
        endpoint_slice_to_v1beta1(&mut slice);
        assert_eq!(slice, old);
    }

    #[test]
    fn the_empty_selector_of_v1beta1_selects_no_pods() {
        let budget = |selector: Value| json!({"spec": {"selector": selector}});
        let others = json!({"matchLabels": {"a": "b"}});
        let table =
            [(json!({}), of_any("Exists")), (of_any("DoesNotExist"), json!({})), (others.clone(), others)];
        for (old, new) in table {
            let mut converted = budget(old.clone());
            disruption_budget_to_v1(&mut converted);
            assert_eq!(converted, budget(new));
            disruption_budget_to_v1beta1(&mut converted);
            assert_eq!(converted, budget(old));
        }
    }

    #[test]
    fn concurrency_shares_have_two_names() {
        let old = json!({"spec": {"limited": {"assuredConcurrencyShares": 5}}});
        let new = json!({"spec": {"limited": {"nominalConcurrencyShares": 5}}});
        for (to, want) in [("v1", &new), ("v1beta3", &new), ("v1beta2", &old), ("v1beta1", &old)] {
            for given in [&old, &new] {
                let mut level = given.clone();
                rename_concurrency_shares(&mut level, to);
                assert_eq!(&level, want, "{to}");
            }
        }
    }
}
