//! Merge patches (RFC 7386), and whether one is needed.

use serde_json::{Map, Value};

/// A merge patch that makes `live` have everything that `wanted` has; `None` if it does. Fields of others stay, but not in lists.
///
/// An item of a live list may have more fields than the wanted one: those that the API server has filled in.
pub(super) fn missing(live: &Value, wanted: &Value) -> Option<Value> {
    let (Value::Object(_), Value::Object(fields)) = (live, wanted) else {
        return (!covers(live, wanted)).then(|| wanted.clone());
    };
    let patch = fields.iter().filter_map(|(key, value)| Some((key.clone(), missing(&live[key], value)?)));
    let patch: Map<String, Value> = patch.collect();
    (!patch.is_empty()).then_some(Value::Object(patch))
}

/// A merge patch from one value to another; `None` if they are the same.
pub(super) fn changes(old: &Value, new: &Value) -> Option<Value> {
    let (Value::Object(before), Value::Object(after)) = (old, new) else {
        return (old != new).then(|| new.clone());
    };
    let gone = before.keys().filter(|key| !after.contains_key(*key)).map(|key| (key.clone(), Value::Null));
    let differing = after.iter().filter_map(|(key, value)| Some((key.clone(), changes(&old[key], value)?)));
    let patch: Map<String, Value> = gone.chain(differing).collect();
    (!patch.is_empty()).then_some(Value::Object(patch))
}

/// Whether `live` has everything that `wanted` has; lists have as many items.
fn covers(live: &Value, wanted: &Value) -> bool {
    match (live, wanted) {
        (Value::Object(_), Value::Object(fields)) => {
            fields.iter().all(|(key, value)| covers(&live[key], value))
        }
        (Value::Array(live), Value::Array(wanted)) => {
            live.len() == wanted.len() && live.iter().zip(wanted).all(|(live, wanted)| covers(live, wanted))
        }
        _ => live == wanted,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case::the_same(&json!({"a": {"b": 1}}), &json!({"a": {"b": 1}}), &json!(null))]
    #[case::others_stay(&json!({"a": {"b": 1, "c": 2}, "d": 3}), &json!({"a": {"b": 1}}), &json!(null))]
    #[case::filled_in(&json!({"a": [{"b": 1, "c": 2}]}), &json!({"a": [{"b": 1}]}), &json!(null))]
    #[case::another_value(&json!({"a": {"b": 1, "c": 2}}), &json!({"a": {"b": 2}}), &json!({"a": {"b": 2}}))]
    #[case::a_new_field(&json!({}), &json!({"a": {"b": 2}}), &json!({"a": {"b": 2}}))]
    #[case::a_longer_list(&json!({"a": [1]}), &json!({"a": [1, 2]}), &json!({"a": [1, 2]}))]
    #[case::a_shorter_list(&json!({"a": [1, 2]}), &json!({"a": [1]}), &json!({"a": [1]}))]
    #[case::a_removal(&json!({"a": 1}), &json!({"a": null}), &json!({"a": null}))]
    #[case::removed_already(&json!({}), &json!({"a": null}), &json!(null))]
    fn a_patch_adds_what_is_missing(#[case] live: &Value, #[case] wanted: &Value, #[case] patch: &Value) {
        assert_eq!(missing(live, wanted).unwrap_or_default(), *patch);
    }

    #[rstest]
    #[case::the_same(&json!({"a": {"b": 1}}), &json!({"a": {"b": 1}}), &json!(null))]
    #[case::gone(&json!({"a": {"b": 1, "c": 2}}), &json!({"a": {"b": 1}}), &json!({"a": {"c": null}}))]
    #[case::new(&json!(null), &json!({"a": 1}), &json!({"a": 1}))]
    #[case::changed(&json!({"a": [1], "b": 1}), &json!({"a": [2], "b": 1}), &json!({"a": [2]}))]
    fn a_patch_leads_to_the_new_value(#[case] old: &Value, #[case] new: &Value, #[case] patch: &Value) {
        assert_eq!(changes(old, new).unwrap_or_default(), *patch);
    }
}
