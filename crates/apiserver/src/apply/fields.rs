//! Which fields a configuration speaks of, and an object without some of its fields.

use serde_json::{Map, Value};

use super::element::Element;
use super::place::{Form, Place};
use super::set::FieldSet;

/// The fields that an object speaks of: its leaves, the elements of its lists, free keys and empty maps.
pub(crate) fn of(place: &Place, object: &Value) -> FieldSet {
    at(place, object).below
}

/// A set with every declared field that leads to a member: `spec` where it has `spec.replicas`.
pub(crate) fn with_parents(set: &FieldSet, place: &Place) -> FieldSet {
    fn fill(set: &FieldSet, place: Option<&Place>) -> FieldSet {
        let mut all = FieldSet::default();
        for (element, member, below) in set.steps() {
            let declared = match (element, place) {
                (Element::Field(name), Some(place)) => place.declares(name),
                _ => false,
            };
            if member || (declared && !below.is_empty()) {
                all.add(element.clone());
            }
            let lower = place.and_then(|place| place.below(element));
            all.graft(element.clone(), fill(below, lower.as_ref()));
        }
        all
    }
    fill(set, Some(place))
}

/// An object without the fields of a set; `null` stays where a map or list has lost all it had.
pub(crate) fn removed(place: &Place, value: &Value, set: &FieldSet) -> Value {
    match (place.form(Some(value)), value) {
        (Form::Scalar, value) => value.clone(),
        (form, Value::Array(items)) if form == Form::List && !place.is_atomic(form) => {
            removed_from_list(place, items, set)
        }
        (form, Value::Object(fields)) if form != Form::List && !place.is_atomic(form) => {
            removed_from_map(place, fields, set)
        }
        _ => Value::Null,
    }
}

#[derive(Default)]
struct Said {
    own: bool,
    below: FieldSet,
}

fn at(place: &Place, value: &Value) -> Said {
    let form = place.form(Some(value));
    match form {
        Form::Scalar => Said { own: true, ..Said::default() },
        _ if place.is_atomic(form) && (form != Form::Open || !value.is_null()) => {
            Said { own: true, ..Said::default() }
        }
        Form::List => Said { own: false, below: of_list(place, value.as_array().map_or(&[], Vec::as_slice)) },
        Form::Map | Form::Open => Said { own: false, below: of_map(place, value.as_object()) },
    }
}

fn of_map(place: &Place, fields: Option<&Map<String, Value>>) -> FieldSet {
    let mut all = FieldSet::default();
    for (name, value) in fields.into_iter().flatten() {
        let Some((below, declared)) = place.child(name) else { continue };
        let said = at(&below, value);
        let empty = value.is_null() || value.as_object().is_some_and(Map::is_empty);
        if said.own || empty || !declared {
            all.add(Element::field(name));
        }
        all.graft(Element::field(name), said.below);
    }
    all
}

fn of_list(place: &Place, items: &[Value]) -> FieldSet {
    let below = place.items();
    let elements: Vec<(Element, &Value)> =
        items.iter().filter_map(|item| Some((place.element(item).ok()?, item))).collect();
    let mut all = FieldSet::default();
    for (element, item) in &elements {
        // An element that is there more than once counts as a whole.
        let again = elements.iter().filter(|(other, _)| other == element).count() > 1;
        if !again {
            all.graft(element.clone(), at(&below, item).below);
        }
        all.add(element.clone());
    }
    all
}

fn removed_from_list(place: &Place, items: &[Value], set: &FieldSet) -> Value {
    let below = place.items();
    let left = items.iter().filter_map(|item| {
        let Ok(element) = place.element(item) else { return Some(item.clone()) };
        match set.below(&element) {
            _ if set.has_member(&element) => None,
            Some(inner) => Some(removed(&below, item, inner)),
            None => Some(item.clone()),
        }
    });
    let left: Vec<Value> = left.collect();
    if left.is_empty() { Value::Null } else { Value::Array(left) }
}

fn removed_from_map(place: &Place, fields: &Map<String, Value>, set: &FieldSet) -> Value {
    let left = fields.iter().filter_map(|(name, value)| {
        let element = Element::field(name);
        if set.has_member(&element) {
            return None;
        }
        let left = match (set.below(&element), place.child(name)) {
            (Some(inner), Some((below, _))) => removed(&below, value, inner),
            _ => value.clone(),
        };
        Some((name.clone(), left))
    });
    let left: Map<String, Value> = left.collect();
    if left.is_empty() { Value::Null } else { Value::Object(left) }
}
