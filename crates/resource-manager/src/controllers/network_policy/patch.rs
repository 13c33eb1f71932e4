//! Compares an existing policy with the desired one.

use k8s_openapi::api::networking::v1::NetworkPolicy;
use serde_json::{Map, Value, json};

/// A merge patch to the desired policy that keeps labels and annotations of others; `None` if nothing
/// differs. GRM-NPC-021.
pub(super) fn between(live: &NetworkPolicy, wanted: &NetworkPolicy) -> Option<Value> {
    let texts =
        |of: &NetworkPolicy| json!({"labels": of.metadata.labels, "annotations": of.metadata.annotations});
    let mut patch = Map::new();
    if let Some(metadata) = added(&texts(live), &texts(wanted)) {
        patch.insert("metadata".to_owned(), metadata);
    }
    if let Some(spec) = changed(&json!(live.spec), &json!(wanted.spec)) {
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
