//! The fields that an object sets, and an object without some of its fields.

use serde_json::{Map, Value};

use super::element::Element;
use super::schema_node::{Form, SchemaNode};
use super::set::FieldSet;

/// The fields that an object sets: its leaves, list elements, undeclared map keys, and empty maps.
pub(crate) fn of(node: &SchemaNode, object: &Value) -> FieldSet {
    fields_of_value(node, object).below
}

/// The set with all declared parents of its members: `spec` if it has `spec.replicas`.
pub(crate) fn with_parents(set: &FieldSet, node: &SchemaNode) -> FieldSet {
    fn fill(set: &FieldSet, node: Option<&SchemaNode>) -> FieldSet {
        let mut all = FieldSet::default();
        for (element, member, below) in set.steps() {
            let declared = match (element, node) {
                (Element::Field(name), Some(node)) => node.declares(name),
                _ => false,
            };
            if member || (declared && !below.is_empty()) {
                all.add(element.clone());
            }
            let lower = node.and_then(|node| node.below(element));
            all.graft(element.clone(), fill(below, lower.as_ref()));
        }
        all
    }
    fill(set, Some(node))
}

/// The object without the fields of the set; `null` replaces a map or list that loses all its elements.
pub(crate) fn without(node: &SchemaNode, value: &Value, set: &FieldSet) -> Value {
    match (node.form(Some(value)), value) {
        (Form::Scalar, value) => value.clone(),
        (form, Value::Array(items)) if form == Form::List && !node.is_atomic(form) => {
            list_without(node, items, set)
        }
        (form, Value::Object(fields)) if form != Form::List && !node.is_atomic(form) => {
            map_without(node, fields, set)
        }
        _ => Value::Null,
    }
}

#[derive(Default)]
struct ValueFields {
    own: bool,
    below: FieldSet,
}

fn fields_of_value(node: &SchemaNode, value: &Value) -> ValueFields {
    let form = node.form(Some(value));
    match form {
        Form::Scalar => ValueFields { own: true, ..ValueFields::default() },
        _ if node.is_atomic(form) && (form != Form::Open || !value.is_null()) => {
            ValueFields { own: true, ..ValueFields::default() }
        }
        Form::List => {
            ValueFields { own: false, below: of_list(node, value.as_array().map_or(&[], Vec::as_slice)) }
        }
        Form::Map | Form::Open => ValueFields { own: false, below: of_map(node, value.as_object()) },
    }
}

fn of_map(node: &SchemaNode, fields: Option<&Map<String, Value>>) -> FieldSet {
    let mut all = FieldSet::default();
    for (name, value) in fields.into_iter().flatten() {
        let Some((below, declared)) = node.child(name) else { continue };
        let found = fields_of_value(&below, value);
        let empty = value.is_null() || value.as_object().is_some_and(Map::is_empty);
        if found.own || empty || !declared {
            all.add(Element::field(name));
        }
        all.graft(Element::field(name), found.below);
    }
    all
}

fn of_list(node: &SchemaNode, items: &[Value]) -> FieldSet {
    let below = node.items();
    let elements: Vec<(Element, &Value)> =
        items.iter().filter_map(|item| Some((node.element(item).ok()?, item))).collect();
    let mut all = FieldSet::default();
    for (element, item) in &elements {
        // Elements with the same key are treated as a whole, not field by field.
        let duplicate = elements.iter().filter(|(other, _)| other == element).count() > 1;
        if !duplicate {
            all.graft(element.clone(), fields_of_value(&below, item).below);
        }
        all.add(element.clone());
    }
    all
}

fn list_without(node: &SchemaNode, items: &[Value], set: &FieldSet) -> Value {
    let below = node.items();
    let rest = items.iter().filter_map(|item| {
        let Ok(element) = node.element(item) else { return Some(item.clone()) };
        match set.below(&element) {
            _ if set.has_member(&element) => None,
            Some(inner) => Some(without(&below, item, inner)),
            None => Some(item.clone()),
        }
    });
    let rest: Vec<Value> = rest.collect();
    if rest.is_empty() { Value::Null } else { Value::Array(rest) }
}

fn map_without(node: &SchemaNode, fields: &Map<String, Value>, set: &FieldSet) -> Value {
    let rest = fields.iter().filter_map(|(name, value)| {
        let element = Element::field(name);
        if set.has_member(&element) {
            return None;
        }
        let rest = match (set.below(&element), node.child(name)) {
            (Some(inner), Some((below, _))) => without(&below, value, inner),
            _ => value.clone(),
        };
        Some((name.clone(), rest))
    });
    let rest: Map<String, Value> = rest.collect();
    if rest.is_empty() { Value::Null } else { Value::Object(rest) }
}
