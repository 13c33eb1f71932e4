//! The smallest JSON patch (RFC 6902) between two objects.

use std::collections::{BTreeMap, BTreeSet};

use json_patch::jsonptr::PointerBuf;
use json_patch::{AddOperation, Patch, PatchOperation, RemoveOperation, ReplaceOperation};
use serde_json::{Map, Value};

/// Maximum number of pairs of elements to compare when aligning two lists; larger lists are replaced as a whole.
const MAX_PAIRS: usize = 1_000_000;

/// Operations that change `before` to `after`; empty if they are equal.
///
/// Elements of lists are matched by equality and by the fields that identify them (`name`, `key`, …). So the patch changes
/// only fields of an element that stays, and never turns a removed element into an added one. Lists that differ in so many
/// elements that aligning them would take seconds are replaced as a whole.
#[must_use]
pub fn between(before: &Value, after: &Value) -> Patch {
    let mut operations = Vec::new();
    compare(&mut PointerBuf::root(), before, after, &mut operations);
    Patch(operations)
}

fn compare(at: &mut PointerBuf, before: &Value, after: &Value, out: &mut Vec<PatchOperation>) {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => compare_maps(at, before, after, out),
        (Value::Array(before), Value::Array(after)) => compare_lists(at, before, after, out),
        _ if before == after => {}
        _ => out.push(PatchOperation::Replace(ReplaceOperation { path: at.clone(), value: after.clone() })),
    }
}

fn compare_maps(
    at: &mut PointerBuf,
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    out: &mut Vec<PatchOperation>,
) {
    for (name, old) in before {
        at.push_back(name.as_str());
        match after.get(name) {
            Some(new) => compare(at, old, new, out),
            None => out.push(PatchOperation::Remove(RemoveOperation { path: at.clone() })),
        }
        at.pop_back();
    }
    for (name, new) in after.iter().filter(|(name, _)| !before.contains_key(*name)) {
        at.push_back(name.as_str());
        out.push(PatchOperation::Add(AddOperation { path: at.clone(), value: new.clone() }));
        at.pop_back();
    }
}

fn compare_lists(at: &mut PointerBuf, before: &[Value], after: &[Value], out: &mut Vec<PatchOperation>) {
    let all_after = after;
    let head = before.iter().zip(after).take_while(|(old, new)| old == new).count();
    let (before, after) = (&before[head..], &after[head..]);
    let tail = before.iter().rev().zip(after.iter().rev()).take_while(|(old, new)| old == new).count();
    let (before, after) = (&before[..before.len() - tail], &after[..after.len() - tail]);

    if before.len().saturating_mul(after.len()) > MAX_PAIRS {
        let value = Value::from(all_after);
        out.push(PatchOperation::Replace(ReplaceOperation { path: at.clone(), value }));
        return;
    }
    let pairs = align(before, after);
    let kept: BTreeSet<usize> = pairs.iter().map(|(old, _)| *old).collect();
    let origins: BTreeMap<usize, usize> = pairs.iter().map(|(old, new)| (*new, *old)).collect();
    for index in (0..before.len()).rev().filter(|index| !kept.contains(index)) {
        at.push_back(head + index);
        out.push(PatchOperation::Remove(RemoveOperation { path: at.clone() }));
        at.pop_back();
    }
    for (index, new) in after.iter().enumerate() {
        at.push_back(head + index);
        match origins.get(&index) {
            Some(old) => compare(at, &before[*old], new, out),
            None => out.push(PatchOperation::Add(AddOperation { path: at.clone(), value: new.clone() })),
        }
        at.pop_back();
    }
}

/// The longest common subsequence of two lists, as pairs of indices.
fn align(before: &[Value], after: &[Value]) -> Vec<(usize, usize)> {
    let mut longest = vec![vec![0_usize; after.len() + 1]; before.len() + 1];
    for (old, row) in before.iter().enumerate().rev() {
        for (new, column) in after.iter().enumerate().rev() {
            longest[old][new] = if is_same_element(row, column) {
                longest[old + 1][new + 1] + 1
            } else {
                longest[old + 1][new].max(longest[old][new + 1])
            };
        }
    }
    let (mut old, mut new, mut pairs) = (0, 0, Vec::new());
    while old < before.len() && new < after.len() {
        if is_same_element(&before[old], &after[new]) {
            pairs.push((old, new));
            (old, new) = (old + 1, new + 1);
        } else if longest[old + 1][new] >= longest[old][new + 1] {
            old += 1;
        } else {
            new += 1;
        }
    }
    pairs
}

/// Fields that identify an element of a Kubernetes list; the first one that both elements have decides.
const IDENTIFYING_FIELDS: [&str; 6] = ["name", "topologyKey", "key", "mountPath", "containerPort", "uid"];

fn is_same_element(old: &Value, new: &Value) -> bool {
    match (old, new) {
        (Value::Object(old_fields), Value::Object(new_fields)) => {
            let named =
                IDENTIFYING_FIELDS.iter().find_map(|name| old_fields.get(*name).zip(new_fields.get(*name)));
            named.map_or_else(|| old == new, |(old, new)| old == new)
        }
        _ => old == new,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn patches_are_minimal_and_do_not_mix_elements() {
        let table = [
            (json!({"a": 1}), json!({"a": 1}), json!([])),
            (json!({"a": 1}), json!({"a": 2}), json!([{"op": "replace", "path": "/a", "value": 2}])),
            (json!({"a": 1}), json!({}), json!([{"op": "remove", "path": "/a"}])),
            (json!({}), json!({"a/b~c": 1}), json!([{"op": "add", "path": "/a~1b~0c", "value": 1}])),
            (json!({"a": {}}), json!({"a": []}), json!([{"op": "replace", "path": "/a", "value": []}])),
            (json!({"a": null}), json!({"a": 1}), json!([{"op": "replace", "path": "/a", "value": 1}])),
            (json!([1]), json!([1, 2]), json!([{"op": "add", "path": "/1", "value": 2}])),
            (json!([1, 2]), json!([0, 1, 2]), json!([{"op": "add", "path": "/0", "value": 0}])),
            (json!([1, 2, 3]), json!([1, 3]), json!([{"op": "remove", "path": "/1"}])),
            (
                // One constraint is removed, another added: the remaining one keeps its fields.
                json!([{"topologyKey": "zone", "x": 1}, {"topologyKey": "rack", "y": 2}]),
                json!([{"topologyKey": "rack", "y": 2}, {"topologyKey": "hostname"}]),
                json!([
                    {"op": "remove", "path": "/0"},
                    {"op": "add", "path": "/1", "value": {"topologyKey": "hostname"}}
                ]),
            ),
            (
                json!([{"name": "a", "image": "x", "unknown": 1}, {"name": "b"}]),
                json!([{"name": "a", "image": "y", "unknown": 1}, {"name": "b", "env": [{"name": "E"}]}]),
                json!([
                    {"op": "replace", "path": "/0/image", "value": "y"},
                    {"op": "add", "path": "/1/env", "value": [{"name": "E"}]}
                ]),
            ),
        ];
        for (before, after, patch) in table {
            assert_eq!(serde_json::to_value(between(&before, &after)).unwrap(), patch, "{before} to {after}");
        }
    }

    #[test]
    fn lists_too_long_to_align_are_replaced_as_a_whole() {
        let list = |from: usize, count: usize| -> Value { (from..from + count).map(Value::from).collect() };
        let is_replaced = |before: &Value, after: &Value| {
            let wanted = json!([{"op": "replace", "path": "/a", "value": after}]);
            let patch = between(&json!({"a": before}), &json!({"a": after}));
            serde_json::to_value(patch).unwrap() == wanted
        };
        assert!(is_replaced(&list(0, 1001), &list(5000, 1000)));
        assert!(!is_replaced(&list(0, 1000), &list(5000, 1000)));
        // Comparing all pairs would take minutes and gigabytes.
        assert!(is_replaced(&list(0, 60_000), &list(100_000, 60_000)));
        // Equal elements at both ends do not count.
        let (before, mut after) = (list(0, 60_000), list(0, 60_000));
        after[30_000] = json!("other");
        let patch = between(&before, &after);
        assert_eq!(patch.0.len(), 2, "{patch:?}");
    }

    fn document() -> impl Strategy<Value = Value> {
        let leaf =
            prop_oneof![Just(json!(null)), any::<bool>().prop_map(Value::from), (0..3).prop_map(Value::from)];
        leaf.prop_recursive(4, 40, 5, |inner| {
            let name = prop_oneof![Just("name"), Just("key"), Just("a/b"), Just("~")];
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map(name.prop_map(str::to_owned), inner, 0..4)
                    .prop_map(|fields| fields.into_iter().collect::<Map<_, _>>().into()),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_patch_turns_one_document_into_the_other(before in document(), after in document()) {
            let mut patched = before.clone();
            let patch = between(&before, &after);
            json_patch::patch(&mut patched, &patch).unwrap();
            prop_assert_eq!(&patched, &after);
            prop_assert_eq!(patch.is_empty(), before == after);
        }
    }
}
