//! Merges a configuration into an object: fields by name, list elements by key.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::element::Element;
use super::schema_node::{Form, SchemaNode};

/// The object with the configuration merged into it.
pub(crate) fn merge(node: &SchemaNode, object: &Value, configuration: &Value) -> Value {
    merge_values(node, Some(object), Some(configuration)).unwrap_or(Value::Null)
}

fn merge_values(node: &SchemaNode, old: Option<&Value>, new: Option<&Value>) -> Option<Value> {
    let form = if new.is_some() { node.form(new) } else { node.form(old) };
    let kept = || new.or(old).cloned();
    match form {
        Form::Scalar => kept(),
        Form::List => {
            let (before, after) = (items(old), items(new));
            if node.is_atomic(form) || (before.is_empty() && after.is_empty()) {
                return kept();
            }
            let merged = merge_lists(node, before, after);
            (!merged.is_empty()).then_some(Value::Array(merged))
        }
        Form::Map | Form::Open => {
            let (before, after) = (fields(old), fields(new));
            let empty = |fields: Option<&Map<String, Value>>| fields.is_none_or(Map::is_empty);
            if node.is_atomic(form) || (empty(before) && empty(after)) {
                return kept();
            }
            let merged = merge_maps(node, before, after);
            (!merged.is_empty()).then_some(Value::Object(merged))
        }
    }
}

fn merge_maps(
    node: &SchemaNode,
    old: Option<&Map<String, Value>>,
    new: Option<&Map<String, Value>>,
) -> Map<String, Value> {
    let names: BTreeSet<&String> = old.into_iter().chain(new).flat_map(Map::keys).collect();
    let merged = names.into_iter().filter_map(|name| {
        let (before, after) = (old.and_then(|old| old.get(name)), new.and_then(|new| new.get(name)));
        let value = match (before, after) {
            (Some(before), None) => Some(before.clone()),
            _ => merge_values(&node.child(name)?.0, before, after),
        };
        Some((name.clone(), value?))
    });
    merged.collect()
}

/// The elements of both: those of the configuration in its order, the others at their position between them.
fn merge_lists(node: &SchemaNode, old: &[Value], new: &[Value]) -> Vec<Value> {
    let elements = |items: &[Value]| -> Vec<Element> {
        items.iter().map(|item| node.element(item).unwrap_or(Element::Index(usize::MAX))).collect()
    };
    let (before, after) = (elements(old), elements(new));
    let (existing, applied) = (values(&before, old), values(&after, new));
    let below = node.items();
    let merge_element = |element: &Element| {
        merge_values(&below, existing.get(element).copied(), applied.get(element).copied())
    };
    let mut shared = after.iter().filter(|element| existing.contains_key(*element));
    let mut next = shared.next();
    let mut done: BTreeSet<&Element> = BTreeSet::new();
    let mut merged = Vec::with_capacity(old.len().max(new.len()));
    let (mut left, mut right) = (0, 0);
    while left < before.len() || right < after.len() {
        if let (Some(own), Some(theirs)) = (before.get(left), after.get(right)) {
            if own == theirs {
                merged.extend(merge_element(own));
                done.insert(own);
                (left, right) = (left + 1, right + 1);
                next = shared.next();
                continue;
            }
            if applied.contains_key(own) && next.is_some_and(|next| next != own) {
                left += 1;
                continue;
            }
        }
        if let Some(own) = before.get(left) {
            if !applied.contains_key(own) {
                merged.push(old[left].clone());
                left += 1;
                continue;
            }
            if done.contains(own) {
                left += 1;
            }
        }
        if let Some(theirs) = after.get(right) {
            merged.extend(merge_element(theirs));
            done.insert(theirs);
            right += 1;
            if next == Some(theirs) {
                next = shared.next();
            }
        }
    }
    merged
}

/// The elements by key; `null` for a key that occurs more than once.
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
