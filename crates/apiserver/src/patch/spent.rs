//! A strategic patch as kube-apiserver tells it: what merging has read of it is gone.

use schema::{PatchStrategy, Type};
use serde_json::{Map, Value};

use super::strategic::{ORDER, below};

/// The patch after it was laid over `object`.
pub(super) fn of(patch: &Value, object: &Value, ty: &Type) -> Value {
    match (patch, object) {
        (Value::Object(patch), Value::Object(object)) => Value::Object(map(patch, object, ty)),
        _ => patch.clone(),
    }
}

fn map(patch: &Map<String, Value>, object: &Map<String, Value>, ty: &Type) -> Map<String, Value> {
    let mut left = patch.clone();
    if let Some(directive) = patch.get("$patch") {
        if directive == "replace" {
            left.remove("$patch");
        }
        return left;
    }
    let kept = left.remove("$retainKeys");
    let kept = kept.as_ref().and_then(Value::as_array);
    let is_kept = |name: &str| kept.is_none_or(|kept| kept.iter().any(|kept| kept == name));
    for field in patch.keys().filter_map(|key| key.strip_prefix(ORDER)) {
        left.remove(&format!("{ORDER}{field}"));
        left.remove(field);
    }
    for (name, value) in left.iter_mut().filter(|(name, _)| !name.starts_with('$')) {
        let below = below(ty, name);
        match (object.get(name).filter(|_| is_kept(name)), &*value) {
            (Some(old @ Value::Object(_)), Value::Object(_)) => {
                if below.patch().strategy == PatchStrategy::Merge {
                    *value = of(value, old, &below);
                }
            }
            (Some(Value::Array(old)), Value::Array(_)) => elements(value, old, &below),
            // What is laid over something else is taken as it is.
            _ => taken(value),
        }
    }
    left
}

/// Elements of a keyed list, each laid over the one of its key.
fn elements(list: &mut Value, old: &[Value], ty: &Type) {
    let how = ty.patch();
    let (Some(key), PatchStrategy::Merge, Value::Array(items)) = (how.merge_key, how.strategy, list) else {
        return;
    };
    let below = ty.items().unwrap_or_else(Type::any);
    for item in items.iter_mut().filter(|item| item.get("$patch").is_none()) {
        let same = |other: &&Value| item.get(&key).is_some_and(|name| other.get(&key) == Some(name));
        if let Some(other) = old.iter().find(same) {
            *item = of(item, other, &below);
        }
    }
}

/// A value of which nulls and what has a directive are left out, but for the elements of a list that is taken itself.
fn taken(value: &mut Value) {
    without_nulls(value);
    match value {
        Value::Object(fields) if fields.contains_key("$patch") => {}
        Value::Array(items) => items.iter_mut().for_each(|item| {
            without_directives(item);
        }),
        other => {
            without_directives(other);
        }
    }
}

fn without_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(without_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(without_nulls),
        _ => {}
    }
}

/// Leaves out what has a directive; whether the value itself stays.
fn without_directives(value: &mut Value) -> bool {
    match value {
        Value::Object(fields) if fields.contains_key("$patch") => return false,
        Value::Object(fields) => fields.retain(|_, value| without_directives(value)),
        Value::Array(items) => items.retain_mut(without_directives),
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
    fn what_merging_has_read_is_gone() {
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
            assert_eq!(of(&json!({"spec": patch}), &object, &pod), json!({"spec": want}), "{patch}");
        }
    }
}
