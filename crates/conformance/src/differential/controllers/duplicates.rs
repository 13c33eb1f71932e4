//! Objects that several manifests of a world define at the same time.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// Manifests by Secret and key.
type Keys<'a> = BTreeMap<(&'a str, &'a str), &'a Value>;

/// `<kind>/<namespace>/<name>` of each, at any time up to this many steps.
pub(super) fn manifests(world: &Value, steps: usize) -> BTreeSet<String> {
    let mut keys = Keys::new();
    let mut found = BTreeSet::new();
    for secret in world["sourceCluster"].as_array().into_iter().flatten() {
        put(&mut keys, secret, secret);
    }
    found.extend(duplicates(&keys));
    for step in world["steps"].as_array().into_iter().flatten().take(steps) {
        for action in step.as_array().into_iter().flatten() {
            put(&mut keys, &action["patch"], &action["with"]);
        }
        found.extend(duplicates(&keys));
    }
    found
}

fn put<'a>(keys: &mut Keys<'a>, head: &'a Value, with: &'a Value) {
    let name = head["metadata"]["name"].as_str().unwrap_or_default();
    for (key, manifests) in with["manifests"].as_object().into_iter().flatten() {
        keys.insert((name, key), manifests);
    }
}

fn duplicates(keys: &Keys<'_>) -> Vec<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for manifest in
        keys.values().filter_map(|manifests| manifests.as_array()).flatten().filter(|one| one.is_object())
    {
        let text = |value: &Value, absent: &str| value.as_str().unwrap_or(absent).to_owned();
        let metadata = &manifest["metadata"];
        let [kind, namespace, name] =
            [(&manifest["kind"], ""), (&metadata["namespace"], "default"), (&metadata["name"], "")]
                .map(|(value, absent)| text(value, absent));
        *counts.entry(format!("{kind}/{namespace}/{name}")).or_default() += 1;
    }
    counts.into_iter().filter(|(_, count)| *count > 1).map(|(name, _)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_object_of_two_manifests_is_reported() {
        let of = |name: &str| json!({"kind": "ConfigMap", "metadata": {"name": name}});
        let secret = json!({"kind": "Secret", "metadata": {"name": "mr"}, "manifests": {"a": [of("a")], "b": [of("b")]}});
        let patch = |manifests: Value| json!([{"patch": secret, "with": {"manifests": manifests}}]);
        let steps =
            [patch(json!({"a": [of("c")]})), patch(json!({"b": [of("c")]})), patch(json!({"b": null}))];
        let world = json!({"sourceCluster": [secret], "steps": steps});
        for (steps, want) in [(0, 0), (1, 0), (2, 1), (3, 1)] {
            assert_eq!(manifests(&world, steps).len(), want, "{steps}");
        }
        assert!(manifests(&world, 2).contains("ConfigMap/default/c"));
    }
}
