//! The changes that a pod allows.

use formats::name;
use serde_json::Value;
use webhook::field::{Error, Shown};

use super::super::check::{FieldValue, NamedCheck, when};

pub(super) const CHECKS: &[(&str, NamedCheck)] =
    &[("pod-change", pod_change), ("pod-condition", pod_condition)];

/// The type of a condition must be a qualified name. kube-apiserver spells the field as Go does.
fn pod_condition(condition: &FieldValue<'_>) -> Vec<Error> {
    let ty = condition.field("type");
    let at = FieldValue { path: format!("{}.Type", condition.path), ..ty.clone() };
    name::label_key(ty.text()).iter().map(|why| at.invalid_as(ty.text(), why)).collect()
}

/// Rejects changes of fields that a pod cannot change.
fn pod_change(spec: &FieldValue<'_>) -> Vec<Error> {
    let fixed = |spec: Option<&Value>| {
        let mut spec = spec.cloned().unwrap_or_default();
        for list in ["containers", "initContainers"] {
            for container in spec.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
                container.as_object_mut().and_then(|container| container.remove("image"));
            }
        }
        for field in ["activeDeadlineSeconds", "tolerations"] {
            spec.as_object_mut().and_then(|spec| spec.remove(field));
        }
        spec
    };
    for list in ["containers", "initContainers"] {
        let of = |spec: Option<&Value>| {
            spec.and_then(|spec| spec.get(list)).and_then(Value::as_array).map_or(0, Vec::len)
        };
        if of(spec.value) != of(spec.old) {
            return vec![spec.field(list).forbidden("pod updates may not add or remove containers")];
        }
    }
    let deadline = spec.field("activeDeadlineSeconds");
    let (now, before) = (deadline.value.and_then(Value::as_i64), deadline.old.and_then(Value::as_i64));
    match (now, before) {
        (Some(now), _) if !(0..=i64::from(i32::MAX)).contains(&now) => {
            return vec![deadline.invalid("must be between 0 and 2147483647, inclusive")];
        }
        (Some(now), Some(before)) if before < now => {
            return vec![deadline.invalid("must be less than or equal to previous value")];
        }
        _ => {}
    }
    let mut errors = when(now.is_none() && before.is_some(), || {
        let why = "must not update from a positive integer to nil value";
        deadline.invalid_as(Shown::verbatim("null"), why)
    });
    errors.extend(removed_toleration(&spec.field("tolerations")));
    let why = "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,\
               `spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),\
               `spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";
    errors.extend(when(fixed(spec.value) != fixed(spec.old), || spec.forbidden(why)));
    errors
}

/// An existing toleration must stay; only its time may change.
fn removed_toleration(tolerations: &FieldValue<'_>) -> Vec<Error> {
    let without_time = |toleration: &Value| {
        let mut toleration = toleration.clone();
        toleration.as_object_mut().and_then(|fields| fields.remove("tolerationSeconds"));
        toleration
    };
    let now: Vec<Value> = tolerations.list().iter().map(without_time).collect();
    let mut before = tolerations.old.and_then(Value::as_array).into_iter().flatten().map(without_time);
    when(before.any(|toleration| !now.contains(&toleration)), || {
        tolerations.forbidden("existing toleration can not be modified except its tolerationSeconds")
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn images_deadlines_and_new_tolerations_may_change() {
        let old = json!({"activeDeadlineSeconds": 9, "tolerations": [{"key": "a", "tolerationSeconds": 3}], "containers": [{"image": "a"}]});
        let with = |field: &str, value: Value| {
            let mut new = old.clone();
            new[field] = value;
            new
        };
        let table = [
            (with("containers", json!([{"image": "b"}])), vec![]),
            (with("activeDeadlineSeconds", json!(5)), vec![]),
            (
                with("activeDeadlineSeconds", json!(10)),
                vec![
                    "activeDeadlineSeconds: Invalid value: 10: must be less than or equal to previous value",
                ],
            ),
            (
                with("activeDeadlineSeconds", Value::Null),
                vec![
                    "activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value",
                ],
            ),
            (with("tolerations", json!([{"key": "b"}, {"key": "a", "tolerationSeconds": 4}])), vec![]),
            (
                with("tolerations", json!([{"operator": "Exists"}])),
                vec![
                    "tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds",
                ],
            ),
            (
                with("containers", json!([])),
                vec!["containers: Forbidden: pod updates may not add or remove containers"],
            ),
        ];
        for (new, want) in table {
            let errors: Vec<String> =
                pod_change(&FieldValue::root(&new, Some(&old))).iter().map(ToString::to_string).collect();
            assert_eq!(errors, want, "{new}");
        }
    }
}
