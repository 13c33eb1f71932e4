//! The comparison of the contract language for the harness: rules of a contract's objects, changed paths, leaves.

use contract::expect::{self, Change, Path, Replacement, Step};
use contract::gardener::decision;
use contract::model::{Contract, Form};
use serde_json::Value;

use crate::observation::Observation;

pub use contract::expect::{Assertion, Rules, double_keys, get, same, words};

/// The comparison rules for the objects of a contract's case.
#[must_use]
pub fn rules(contract: &Contract, object: Option<&Value>) -> Rules {
    if contract.form == Form::Versions {
        return decision::rules();
    }
    rules_of_raw(contract, object)
}

/// The comparison rules for an observation: by the input's kind, or, without an input, by the result's kind.
#[must_use]
pub fn rules_of(contract: &Contract, seen: &Observation) -> Rules {
    rules(contract, seen.input.as_ref().or(seen.answer.object.as_ref()))
}

/// The comparison rules for objects in requests and answers, also of contracts about versions.
#[must_use]
pub fn rules_of_raw(contract: &Contract, object: Option<&Value>) -> Rules {
    object.map_or_else(Rules::unknown, Rules::of_object).with(&contract.list_keys, &contract.unordered)
}

/// The paths where two objects differ, down to leaves, also in lists without keys that differ in length.
#[must_use]
pub fn changes(before: Option<&Value>, after: Option<&Value>, rules: &Rules) -> Vec<Path> {
    let changes = expect::changes(before, after, rules);
    changes.into_iter().map(|change| change.path).collect()
}

/// The leaves of the changes between two objects: added values are split into leaves.
#[must_use]
pub fn changed_leaves(before: Option<&Value>, after: Option<&Value>, rules: &Rules) -> Vec<Path> {
    let mut found = Vec::new();
    for Change { path, before, after } in expect::changes(before, after, rules) {
        match (&before, &after) {
            (None, Some(added)) => leaves(&mut found, &path, added, &below(rules, &path, None)),
            (Some(_), _) | (None, None) => found.push(path),
        }
    }
    found
}

/// Sets or removes the value at a path.
pub fn put(object: &mut Value, path: &Path, value: Option<&Value>) {
    // If the path does not exist, nothing is changed.
    expect::put(object, path, value.cloned());
}

/// Values that the assertion must refuse; `None`: no value.
#[must_use]
pub fn refused(assertion: &Assertion, got: Option<&Value>, input: Option<&Value>) -> Vec<Option<Value>> {
    let values = expect::refused(assertion, got, input).into_iter();
    let values = values.map(|replacement| match replacement {
        Replacement::Value(value) => Some(value),
        Replacement::Nothing => None,
    });
    values.collect()
}

/// The rules at a path; `object` has the strings that are decoded on the way.
#[must_use]
pub fn below(rules: &Rules, path: &Path, object: Option<&Value>) -> Rules {
    let mut rules = rules.clone();
    for (depth, step) in path.0.iter().enumerate() {
        rules = match step {
            Step::Field(name) => rules.field(name),
            Step::Index(_) | Step::Key(_) => rules.item(),
            Step::Opened(_) => {
                let content = object.and_then(|object| get(object, &Path(path.0[..=depth].to_vec())));
                content.as_ref().map_or_else(Rules::unknown, Rules::opened)
            }
        };
    }
    rules
}

/// Whether one of the prefixes covers the path; without prefixes all paths are covered.
#[must_use]
pub fn touches(prefixes: &[String], path: &Path) -> bool {
    let change = Change { path: path.clone(), before: None, after: None };
    expect::outside(prefixes, &[change]).is_empty()
}

/// Whether a target declares in its `extras` that it changes the path on purpose.
#[must_use]
pub fn is_declared(extras: &[String], path: &Path) -> bool {
    !extras.is_empty() && touches(extras, path)
}

/// Whether a contract allows a target to change the path; of a decision, only the Shoot is restricted.
#[must_use]
pub fn may_change(contract: &Contract, path: &Path) -> bool {
    if contract.form != Form::Versions {
        return touches(&contract.only_touches, path);
    }
    match path.0.split_first() {
        Some((Step::Field(part), rest)) if part == "shoot" => {
            touches(&contract.only_touches, &Path(rest.to_vec()))
        }
        _ => true,
    }
}

/// Whether another contract of the webhook explains changes at a path.
#[must_use]
pub fn is_explained_elsewhere(contract: &Contract, path: &Path) -> bool {
    !contract.elsewhere.is_empty() && touches(&contract.elsewhere, path)
}

/// Duplicates the first element of the first keyed list; false if there is none.
pub fn double_a_key(object: &mut Value, rules: &Rules) -> bool {
    match object {
        Value::Object(fields) => {
            fields.iter_mut().any(|(name, value)| double_a_key(value, &rules.field(name)))
        }
        Value::Array(items) => {
            let first = items.first().cloned();
            let keyed = matches!(rules.list(), expect::ListRule::Keyed(keys)
                if first.as_ref().is_some_and(|first| rules.key_of(&keys, first).is_some()));
            if let (true, Some(first)) = (keyed, first) {
                items.push(first);
                return true;
            }
            let item = rules.item();
            items.iter_mut().any(|value| double_a_key(value, &item))
        }
        _ => false,
    }
}

fn leaves(found: &mut Vec<Path>, path: &Path, value: &Value, rules: &Rules) {
    let step = |step: Step| {
        let mut below = path.clone();
        below.0.push(step);
        below
    };
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (name, value) in fields {
                leaves(found, &step(Step::Field(name.clone())), value, &rules.field(name));
            }
        }
        Value::Array(items) if !items.is_empty() => {
            let item = rules.item();
            for (at, value) in items.iter().enumerate() {
                let key = match rules.list() {
                    expect::ListRule::Keyed(keys) => rules.key_of(&keys, value),
                    expect::ListRule::Unordered | expect::ListRule::Ordered => None,
                };
                let key = key.map(|key| {
                    Step::Key(
                        key.into_iter()
                            .map(|(name, value)| (name, crate::observation::format_value(Some(&value))))
                            .collect(),
                    )
                });
                leaves(found, &step(key.unwrap_or(Step::Index(at))), value, &item);
            }
        }
        _ => found.push(path.clone()),
    }
}
