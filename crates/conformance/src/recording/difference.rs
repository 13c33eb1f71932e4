//! The changes of an object by an answer, in the form of a contract's expectation.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use contract::expect::{Change, ListRule, Path, Rules, Step, changes, same};
use contract::load::{spelled, spelled_text};
use schema::{Segment, segments};
use serde_json::{Map, Value, json};

use crate::mask::MASK;

/// The expectation for the changes between the object of the request and that of the answer; `None` without changes.
pub(super) fn difference(before: &Value, after: &Value) -> Option<Value> {
    let rules = Rules::of_object(before);
    (!same(Some(before), Some(after), &rules)).then(|| describe_change(before, after, &rules))
}

/// The changed paths as prefixes; a list that is expected as a whole is one path.
pub(super) fn places(before: &Value, after: &Value) -> Vec<String> {
    let rules = Rules::of_object(before);
    let changed = changes(Some(before), Some(after), &rules);
    let places: BTreeSet<String> = changed.iter().map(|change: &Change| place(&change.path)).collect();
    // Leaves out names that cannot be written in a path.
    places.into_iter().filter(|place| segments(place).is_ok_and(|steps| !steps.is_empty())).collect()
}

/// A path up to a list that is expected as a whole.
fn place(path: &Path) -> String {
    let mut text = String::new();
    for step in &path.0 {
        let (name, is_field) = match step {
            Step::Field(name) => (name.as_str(), true),
            Step::Key(key) => (key.first().map(|(_, value)| value.as_str()).unwrap_or_default(), false),
            Step::Index(_) | Step::Opened(_) => break,
        };
        let is_plain = segments(name).is_ok_and(|steps| matches!(steps.as_slice(), [Segment::Key(_)]));
        let parts = match (is_field && is_plain, text.is_empty()) {
            (true, true) => ["", name, ""],
            (true, false) => [".", name, ""],
            (false, _) => ["[", name, "]"],
        };
        text.extend(parts);
    }
    text
}

fn describe_change(before: &Value, after: &Value, rules: &Rules) -> Value {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => describe_map(before, after, rules),
        (Value::Array(before), Value::Array(after)) => describe_list(before, after, rules),
        (_, after) => describe_value(after, rules),
    }
}

/// The expectation of a new value.
fn describe_value(value: &Value, rules: &Rules) -> Value {
    match value {
        Value::Array(items) => describe_list(&[], items, rules),
        Value::Object(fields) => describe_map(&Map::new(), fields, rules),
        Value::String(text) if is_hidden(text) => json!("$present"),
        value => spelled(value),
    }
}

/// Whether it is a masked secret, of which only the presence can be expected.
fn is_hidden(text: &str) -> bool {
    text.contains(MASK) || *text == STANDARD.encode(MASK)
}

fn describe_map(before: &Map<String, Value>, after: &Map<String, Value>, rules: &Rules) -> Value {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let mut described = Map::new();
    for name in names {
        let present =
            |fields: &Map<String, Value>| fields.get(name).filter(|value| !value.is_null()).cloned();
        let below = rules.field(name);
        let value = match (present(before), present(after)) {
            (_, None) if before.get(name).is_none_or(Value::is_null) => continue,
            (_, None) => Value::Null,
            (Some(before), Some(after)) if same(Some(&before), Some(&after), &below) => continue,
            (Some(before), Some(after)) => describe_change(&before, &after, &below),
            (None, Some(after)) => describe_value(&after, &below),
        };
        described.insert(spelled_text(name), value);
    }
    Value::Object(described)
}

fn describe_list(before: &[Value], after: &[Value], rules: &Rules) -> Value {
    let item = rules.item();
    let ListRule::Keyed(keys) = rules.list() else {
        return Value::Array(after.iter().map(|value| describe_value(value, &item)).collect());
    };
    if after.is_empty() {
        return json!({"$count": 0});
    }
    let key = |value: &Value| rules.key_of(&keys, value);
    let named = |key: &[(String, Value)]| -> Map<String, Value> {
        key.iter().map(|(name, value)| (spelled_text(name), spelled(value))).collect()
    };
    let mut described = Vec::new();
    for value in after {
        let Some(its_key) = key(value) else { continue };
        let was = before.iter().find(|other| key(other).as_ref() == Some(&its_key));
        let difference = match was {
            Some(was) if same(Some(was), Some(value), &item) => continue,
            Some(was) => describe_change(was, value, &item),
            None => describe_value(value, &item),
        };
        let mut element = named(&its_key);
        element.extend(difference.as_object().cloned().unwrap_or_default());
        described.push(Value::Object(element));
    }
    let gone = before
        .iter()
        .filter_map(key)
        .filter(|its_key| !after.iter().any(|value| key(value).as_ref() == Some(its_key)));
    described.extend(gone.map(|its_key| {
        let mut element = named(&its_key);
        element.insert("$is".to_owned(), json!("absent"));
        Value::Object(element)
    }));
    Value::Array(described)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deployment(spec: &Value) -> Value {
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a", "labels": {"x/y.z": "1"}},
            "spec": {"template": {"spec": spec}},
        })
    }

    #[test]
    fn only_changes_are_expected() {
        let before = deployment(&json!({
            "containers": [
                {"name": "a", "image": "i", "command": ["/a", "--b=c"], "env": [{"name": "E", "value": "1"}]},
                {"name": "b", "image": "$(i)"},
            ],
            "dnsPolicy": "Default",
        }));
        let mut after = deployment(&json!({
            "containers": [
                {"name": "a", "image": "i", "command": ["/a", "--b=<d>"]},
                {"name": "b", "image": "$(i)"},
                {"name": "c", "image": "$(x)", "env": [], "securityContext": {}},
            ],
            "volumes": [{"name": "v", "emptyDir": {}}],
        }));
        after["metadata"]["labels"] = json!({"x/y.z": "2", "n": "1"});
        let want = json!({
            "metadata": {"labels": {"x/y.z": "2", "n": "1"}},
            "spec": {"template": {"spec": {
                "containers": [
                    {"name": "a", "command": ["/a", "--b=<<d>>"], "env": {"$count": 0}},
                    {"name": "c", "image": "$$(x)", "env": {"$count": 0}, "securityContext": {}},
                ],
                "dnsPolicy": null,
                "volumes": [{"name": "v", "emptyDir": {}}],
            }}},
        });
        // A list that is gone, and one that is empty, are the same to Kubernetes.
        after["spec"]["template"]["spec"]["containers"][0]["env"] = json!([]);
        assert_eq!(difference(&before, &after), Some(want));
        assert_eq!(difference(&before, &before), None);
        let want = [
            "metadata.labels.n",
            "metadata.labels[x/y.z]",
            "spec.template.spec.containers[a].command",
            "spec.template.spec.containers[a].env[E]",
            "spec.template.spec.containers[c]",
            "spec.template.spec.dnsPolicy",
            "spec.template.spec.volumes",
        ];
        assert_eq!(places(&before, &after), want);
    }

    #[test]
    fn an_added_secret_is_expected_to_be_present() {
        let before = json!({"apiVersion": "v1", "kind": "Secret", "data": {"a": "Kioq"}});
        let after = json!({"apiVersion": "v1", "kind": "Secret", "data": {"a": "Kioq", "b": "Kioq"}, "type": "a=***"});
        let want = json!({"data": {"b": "$present"}, "type": "$present"});
        assert_eq!(difference(&before, &after), Some(want));
    }

    #[test]
    fn a_removed_element_is_expected_to_be_absent() {
        let before = deployment(&json!({"containers": [{"name": "a"}, {"name": "b"}]}));
        let after = deployment(&json!({"containers": [{"name": "b"}]}));
        let want = json!({"spec": {"template": {"spec": {"containers": [{"name": "a", "$is": "absent"}]}}}});
        assert_eq!(difference(&before, &after), Some(want));
    }
}
