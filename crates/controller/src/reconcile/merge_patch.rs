//! Compares an existing object with the desired one.

use serde::Serialize;
use serde_json::{Map, Value, json};

/// A merge patch to the desired labels, annotations and spec that keeps labels and annotations of others; `None` if
/// nothing differs.
#[must_use]
pub fn between<K: Serialize>(live: &K, wanted: &K) -> Option<Value> {
    let (live, wanted) = (json!(live), json!(wanted));
    let mut patch = Map::new();
    let texts = |of: &Value| -> Value {
        let texts = ["labels", "annotations"].into_iter();
        texts
            .map(|key| (key.to_owned(), of["metadata"][key].clone()))
            .filter(|(_, of)| !of.is_null())
            .collect()
    };
    if let Some(metadata) = added(&texts(&live), &texts(&wanted)) {
        patch.insert("metadata".to_owned(), metadata);
    }
    if let Some(spec) = changed(&live["spec"], &wanted["spec"]) {
        patch.insert("spec".to_owned(), spec);
    }
    (!patch.is_empty()).then_some(Value::Object(patch))
}

/// The patch that adds everything wanted.
fn added(live: &Value, wanted: &Value) -> Option<Value> {
    let Value::Object(fields) = wanted else { return (live != wanted).then(|| wanted.clone()) };
    let missing = fields.iter().filter_map(|(key, value)| Some((key.clone(), added(&live[key], value)?)));
    let missing: Map<String, Value> = missing.collect();
    (!missing.is_empty()).then_some(Value::Object(missing))
}

/// The patch that leaves nothing but the wanted.
fn changed(live: &Value, wanted: &Value) -> Option<Value> {
    let (Value::Object(old), Value::Object(new)) = (live, wanted) else {
        return (live != wanted).then(|| wanted.clone());
    };
    let gone = old.keys().filter(|key| !new.contains_key(*key)).map(|key| (key.clone(), Value::Null));
    let differing = new.iter().filter_map(|(key, value)| Some((key.clone(), changed(&live[key], value)?)));
    let patch: Map<String, Value> = gone.chain(differing).collect();
    (!patch.is_empty()).then_some(Value::Object(patch))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_wrote_stays_but_in_the_spec() {
        let wanted = json!({"metadata": {"annotations": {"a": "b"}}, "spec": {"x": {"y": 1}, "z": [1]}});
        assert_eq!(between(&wanted, &wanted), None);
        let live = json!({
            "metadata": {"labels": {"c": "d"}, "annotations": {"a": "c", "e": "f"}},
            "spec": {"x": {"y": 1, "w": 2}, "z": [1, 2]},
        });
        let patch = json!({
            "metadata": {"annotations": {"a": "b"}},
            "spec": {"x": {"w": null}, "z": [1]},
        });
        assert_eq!(between(&live, &wanted), Some(patch));
        let bare = json!({"metadata": {}, "spec": wanted["spec"]});
        assert_eq!(between(&bare, &wanted), Some(json!({"metadata": {"annotations": {"a": "b"}}})));
        assert_eq!(between(&live, &bare).map(|patch| patch["metadata"].clone()), Some(Value::Null));
    }
}
