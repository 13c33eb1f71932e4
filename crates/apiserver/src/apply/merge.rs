//! A configuration laid over an object: fields by name, elements of lists by what tells them apart.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::element::Element;
use super::place::{Form, Place};

/// The object with the configuration laid over it.
pub(crate) fn merge(place: &Place, object: &Value, configuration: &Value) -> Value {
    at(place, Some(object), Some(configuration)).unwrap_or(Value::Null)
}

fn at(place: &Place, old: Option<&Value>, new: Option<&Value>) -> Option<Value> {
    let form = if new.is_some() { place.form(new) } else { place.form(old) };
    let kept = || new.or(old).cloned();
    match form {
        Form::Scalar => kept(),
        Form::List => {
            let (before, after) = (items(old), items(new));
            if place.is_atomic(form) || (before.is_empty() && after.is_empty()) {
                return kept();
            }
            let merged = lists(place, before, after);
            (!merged.is_empty()).then_some(Value::Array(merged))
        }
        Form::Map | Form::Open => {
            let (before, after) = (fields(old), fields(new));
            let empty = |fields: Option<&Map<String, Value>>| fields.is_none_or(Map::is_empty);
            if place.is_atomic(form) || (empty(before) && empty(after)) {
                return kept();
            }
            let merged = maps(place, before, after);
            (!merged.is_empty()).then_some(Value::Object(merged))
        }
    }
}

fn maps(
    place: &Place,
    old: Option<&Map<String, Value>>,
    new: Option<&Map<String, Value>>,
) -> Map<String, Value> {
    let names: BTreeSet<&String> = old.into_iter().chain(new).flat_map(Map::keys).collect();
    let merged = names.into_iter().filter_map(|name| {
        let (before, after) = (old.and_then(|old| old.get(name)), new.and_then(|new| new.get(name)));
        let value = match (before, after) {
            (Some(before), None) => Some(before.clone()),
            _ => at(&place.child(name)?.0, before, after),
        };
        Some((name.clone(), value?))
    });
    merged.collect()
}

/// The elements of both: those of the configuration in its order, the others where they stood between them.
fn lists(place: &Place, old: &[Value], new: &[Value]) -> Vec<Value> {
    let named = |items: &[Value]| -> Vec<Element> {
        items.iter().map(|item| place.element(item).unwrap_or(Element::Index(usize::MAX))).collect()
    };
    let (before, after) = (named(old), named(new));
    let (known, wanted) = (values(&before, old), values(&after, new));
    let below = place.items();
    let pair = |element: &Element| at(&below, known.get(element).copied(), wanted.get(element).copied());
    let mut shared = after.iter().filter(|element| known.contains_key(*element));
    let mut next = shared.next();
    let mut done: BTreeSet<&Element> = BTreeSet::new();
    let mut merged = Vec::with_capacity(old.len().max(new.len()));
    let (mut left, mut right) = (0, 0);
    while left < before.len() || right < after.len() {
        if let (Some(own), Some(theirs)) = (before.get(left), after.get(right)) {
            if own == theirs {
                merged.extend(pair(own));
                done.insert(own);
                (left, right) = (left + 1, right + 1);
                next = shared.next();
                continue;
            }
            if wanted.contains_key(own) && next.is_some_and(|next| next != own) {
                left += 1;
                continue;
            }
        }
        if let Some(own) = before.get(left) {
            if !wanted.contains_key(own) {
                merged.push(old[left].clone());
                left += 1;
                continue;
            }
            if done.contains(own) {
                left += 1;
            }
        }
        if let Some(theirs) = after.get(right) {
            merged.extend(pair(theirs));
            done.insert(theirs);
            right += 1;
            if next == Some(theirs) {
                next = shared.next();
            }
        }
    }
    merged
}

/// The elements by what tells them apart; one that is there more than once counts as `null`.
fn values<'a>(names: &'a [Element], items: &'a [Value]) -> BTreeMap<&'a Element, &'a Value> {
    let mut values: BTreeMap<&Element, &Value> = BTreeMap::new();
    for (name, item) in names.iter().zip(items) {
        values.entry(name).and_modify(|value| *value = &Value::Null).or_insert(item);
    }
    values
}

fn items(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn fields(value: Option<&Value>) -> Option<&Map<String, Value>> {
    value.and_then(Value::as_object)
}
