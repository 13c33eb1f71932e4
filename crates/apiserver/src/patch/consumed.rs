//! A strategic patch after merging: kube-apiserver's merge deletes the parts of the patch that it has processed, and
//! error messages print the rest.

use schema::{PatchStrategy, Type};
use serde_json::{Map, Value};

use super::strategic::{ORDER, field_type};

/// The patch after it was merged into `object`.
pub(super) fn after_merge(patch: &Value, object: &Value, ty: &Type) -> Value {
    match (patch, object) {
        (Value::Object(patch), Value::Object(object)) => Value::Object(map_after_merge(patch, object, ty)),
        _ => patch.clone(),
    }
}

fn map_after_merge(patch: &Map<String, Value>, object: &Map<String, Value>, ty: &Type) -> Map<String, Value> {
    let mut left = patch.clone();
    if let Some(directive) = patch.get("$patch") {
        if directive == "replace" {
            left.remove("$patch");
        }
        return left;
    }
    let retained = left.remove("$retainKeys");
    let retained = retained.as_ref().and_then(Value::as_array);
    let is_retained =
        |name: &str| retained.is_none_or(|retained| retained.iter().any(|retained| retained == name));
    for field in patch.keys().filter_map(|key| key.strip_prefix(ORDER)) {
        left.remove(&format!("{ORDER}{field}"));
        left.remove(field);
    }
    for (name, value) in left.iter_mut().filter(|(name, _)| !name.starts_with('$')) {
        let below = field_type(ty, name);
        match (object.get(name).filter(|_| is_retained(name)), &*value) {
            (Some(old @ Value::Object(_)), Value::Object(_)) => {
                if below.patch().strategy == PatchStrategy::Merge {
                    *value = after_merge(value, old, &below);
                }
            }
            (Some(Value::Array(old)), Value::Array(_)) => update_merged_elements(value, old, &below),
            // A value that replaces one of another type is copied.
            _ => remove_nulls_and_directives(value),
        }
    }
    left
}

/// Updates the elements of a keyed list that were merged into the element with the same key.
fn update_merged_elements(list: &mut Value, old: &[Value], ty: &Type) {
    let how = ty.patch();
    let (Some(key), PatchStrategy::Merge, Value::Array(items)) = (how.merge_key, how.strategy, list) else {
        return;
    };
    let below = ty.items().unwrap_or_else(Type::any);
    for item in items.iter_mut().filter(|item| item.get("$patch").is_none()) {
        let same = |other: &&Value| item.get(&key).is_some_and(|name| other.get(&key) == Some(name));
        if let Some(other) = old.iter().find(same) {
            *item = after_merge(item, other, &below);
        }
    }
}

/// Removes nulls and maps with directives from a value that the merge copied. A list's own elements stay.
fn remove_nulls_and_directives(value: &mut Value) {
    remove_nulls(value);
    match value {
        Value::Object(fields) if fields.contains_key("$patch") => {}
        Value::Array(items) => items.iter_mut().for_each(|item| {
            remove_directives(item);
        }),
        other => {
            remove_directives(other);
        }
    }
}

fn remove_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(remove_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_nulls),
        _ => {}
    }
}

/// Removes maps with directives; returns whether to keep the value itself.
fn remove_directives(value: &mut Value) -> bool {
    match value {
        Value::Object(fields) if fields.contains_key("$patch") => return false,
        Value::Object(fields) => fields.retain(|_, value| remove_directives(value)),
        Value::Array(items) => items.retain_mut(remove_directives),
        _ => {}
    }
    true
}

#[cfg(test)]
mod tests {
    use schema::Kinds;
    use serde_json::json;

    use super::*;

    #[test]
    fn processed_parts_are_removed() {
        let pod = Kinds::kubernetes().type_of("", "v1", "Pod").unwrap();
        let object = json!({"spec": {"nodeSelector": {"a": "b"}, "containers": [{"name": "a", "env": []}]}});
        let table = [
            (json!({"nodeSelector": {"$patch": "replace", "c": null}}), json!({"nodeSelector": {"c": null}})),
            (json!({"nodeSelector": {"$patch": "delete"}}), json!({"nodeSelector": {"$patch": "delete"}})),
            (json!({"$retainKeys": ["containers"], "hostname": 1}), json!({"hostname": 1})),
            (json!({"$setElementOrder/containers": [], "containers": []}), json!({})),
            (
                json!({"affinity": {"x": null, "y": [{"$patch": "delete"}, 1], "z": {"$patch": "replace"}}, "tty": null}),
                json!({"affinity": {"y": [1]}, "tty": null}),
            ),
            (
                json!({"containers": [{"name": "a", "resources": {"limits": null}}, {"name": "b", "tty": null}]}),
                json!({"containers": [{"name": "a", "resources": {}}, {"name": "b", "tty": null}]}),
            ),
        ];
        for (patch, want) in table {
            assert_eq!(after_merge(&json!({"spec": patch}), &object, &pod), json!({"spec": want}), "{patch}");
        }
    }
}
