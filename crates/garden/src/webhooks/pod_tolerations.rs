//! Tolerations of pods.

use api::garden::reference::PodToleration;
use webhook::field::{Error, Path};

use super::field_errors::{FieldErrors, each_invalid, supported};
use super::go_value::GoValue;
use super::names;

const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
const OPERATORS: [&str; 2] = ["Equal", "Exists"];

/// The errors of tolerations.
pub(super) fn validate(tolerations: &[PodToleration], at: &Path) -> FieldErrors {
    let each = tolerations.iter().enumerate();
    each.flat_map(|(index, toleration)| one(toleration, &at.index(index))).collect()
}

fn one(toleration: &PodToleration, at: &Path) -> FieldErrors {
    let text = |text: &'_ Option<String>| text.clone().unwrap_or_default();
    let (key, operator) = (text(&toleration.key), text(&toleration.operator));
    let (value, effect) = (text(&toleration.value), text(&toleration.effect));
    let at_operator = at.child("operator");
    let mut errors = FieldErrors::new();
    if key.is_empty() {
        if operator != "Exists" {
            let why =
                "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
            errors.push(Error::invalid(&at_operator, &operator, why));
        }
    } else {
        errors.extend(each_invalid(&at.child("key"), &key, &names::label_key(&key)));
    }
    if toleration.toleration_seconds.is_some() && effect != "NoExecute" {
        let why = "effect must be 'NoExecute' when `tolerationSeconds` is set";
        errors.push(Error::invalid(&at.child("effect"), &effect, why));
    }
    match operator.as_str() {
        "" | "Equal" => {
            let why = names::label_value(&value);
            if !why.is_empty() {
                errors.push(Error::invalid(&at_operator, &value, &why.join(";")));
            }
        }
        "Exists" if !value.is_empty() => {
            let why = "value must be empty when `operator` is 'Exists'";
            errors.push(Error::invalid(&at_operator, &shown(toleration), why));
        }
        _ => errors.extend(supported(&at_operator, &operator, &OPERATORS)),
    }
    if !effect.is_empty() {
        errors.extend(supported(&at.child("effect"), &effect, &EFFECTS));
    }
    errors
}

fn shown(toleration: &PodToleration) -> GoValue {
    let text = |text: &Option<String>| GoValue::text_or_empty(text.as_ref());
    let fields = vec![
        ("Key", text(&toleration.key)),
        ("Operator", text(&toleration.operator)),
        ("Value", text(&toleration.value)),
        ("Effect", text(&toleration.effect)),
        ("TolerationSeconds", GoValue::pointer("int64", toleration.toleration_seconds.map(GoValue::Integer))),
    ];
    GoValue::Struct("v1.Toleration", fields)
}
