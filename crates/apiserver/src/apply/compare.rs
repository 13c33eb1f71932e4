//! Which fields differ between two states of an object.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::element::Element;
use super::schema_node::{EMPTY, Form, SchemaNode};
use super::set::FieldSet;

/// The differences. Each field is in at most one of the sets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Comparison {
    /// Fields that only the first state has.
    pub(crate) removed: FieldSet,
    /// Fields that both states have, with different values.
    pub(crate) modified: FieldSet,
    /// Fields that only the second state has.
    pub(crate) added: FieldSet,
}

#[derive(Clone, Copy, Debug)]
enum DifferenceKind {
    Removed,
    Modified,
    Added,
}

/// How one value differs: whether the value itself changed, and what changed below it.
#[derive(Debug, Default)]
struct ValueDifference {
    own: Option<DifferenceKind>,
    below: Comparison,
}

type Groups<'a> = BTreeMap<Element, Vec<&'a Value>>;

/// Compares two states of an object of the kind of `node`.
pub(crate) fn compare(node: &SchemaNode, old: &Value, new: &Value) -> Comparison {
    compare_values(node, Some(old), Some(new)).below
}

impl Comparison {
    /// The fields that were added or modified.
    pub(crate) fn written(&self) -> FieldSet {
        self.modified.union(&self.added)
    }

    /// Applies `change` to each of the three sets.
    pub(crate) fn map(&self, change: impl Fn(&FieldSet) -> FieldSet) -> Self {
        Self { removed: change(&self.removed), modified: change(&self.modified), added: change(&self.added) }
    }

    fn add_difference(&mut self, element: Element, difference: ValueDifference) {
        match difference.own {
            Some(DifferenceKind::Removed) => self.removed.add(element.clone()),
            Some(DifferenceKind::Modified) => self.modified.add(element.clone()),
            Some(DifferenceKind::Added) => self.added.add(element.clone()),
            None => {}
        }
        self.removed.graft(element.clone(), difference.below.removed);
        self.modified.graft(element.clone(), difference.below.modified);
        self.added.graft(element, difference.below.added);
    }
}

fn compare_values(node: &SchemaNode, old: Option<&Value>, new: Option<&Value>) -> ValueDifference {
    let (before, after) = (node.form(old), node.form(new));
    let mut difference = match (old, new) {
        (Some(_), None) => compare_as(node, before, old, new),
        (Some(_), Some(_)) if before != after => {
            // The two forms are compared separately: fields of the old form are removed, those of the new form are
            // added.
            let mut difference = compare_as(node, before, old, new);
            let other = compare_as(node, after, old, new);
            difference.own = other.own.or(difference.own);
            difference.below.removed = difference.below.removed.union(&other.below.removed);
            difference.below.added = difference.below.added.union(&other.below.added);
            difference
        }
        _ => compare_as(node, after, old, new),
    };
    if difference.own.is_none() {
        difference.own = match (old, new) {
            (None, Some(_)) => Some(DifferenceKind::Added),
            (Some(_), None) => Some(DifferenceKind::Removed),
            _ => None,
        };
    }
    difference
}

fn compare_as(node: &SchemaNode, form: Form, old: Option<&Value>, new: Option<&Value>) -> ValueDifference {
    match form {
        Form::Scalar => compare_leaf(old, new),
        Form::List => {
            let (before, after) = (items(old), items(new));
            if node.is_atomic(form) || (before.is_empty() && after.is_empty()) {
                return compare_leaf(old, new);
            }
            ValueDifference { own: None, below: compare_lists(node, before, after) }
        }
        Form::Map | Form::Open => {
            let (before, after) = (fields(old), fields(new));
            if node.is_atomic(form) {
                return compare_leaf(old, new);
            }
            let below = compare_maps(node, before, after);
            let empty = |fields: Option<&Map<String, Value>>| fields.is_none_or(Map::is_empty);
            if empty(before) && empty(after) && below == Comparison::default() {
                return compare_leaf(old, new);
            }
            ValueDifference { own: None, below }
        }
    }
}

fn compare_leaf(old: Option<&Value>, new: Option<&Value>) -> ValueDifference {
    let own = match (old, new) {
        (None, _) => Some(DifferenceKind::Added),
        (_, None) => Some(DifferenceKind::Removed),
        (Some(old), Some(new)) => (old != new).then_some(DifferenceKind::Modified),
    };
    ValueDifference { own, below: Comparison::default() }
}

fn compare_maps(
    node: &SchemaNode,
    old: Option<&Map<String, Value>>,
    new: Option<&Map<String, Value>>,
) -> Comparison {
    let mut all = Comparison::default();
    let mut child = |name: &str, before: Option<&Value>, after: Option<&Value>| {
        let Some((below, _)) = node.child(name) else { return };
        let before = before.or_else(|| old.and_then(|_| node.go_zero_value(name)));
        let after = after.or_else(|| new.and_then(|_| node.go_zero_value(name)));
        if before.is_some() || after.is_some() {
            let same = before.is_some() && before == after;
            if !same {
                all.add_difference(Element::field(name), compare_values(&below, before, after));
            }
        }
    };
    for (name, before) in old.into_iter().flatten() {
        child(name, Some(before), new.and_then(|new| new.get(name)));
    }
    for (name, after) in new.into_iter().flatten() {
        if old.is_none_or(|old| !old.contains_key(name)) {
            child(name, None, Some(after));
        }
    }
    // A struct that is added or removed includes the embedded structs that its JSON leaves out.
    match (old, new) {
        (None, Some(new)) => {
            node.omitted_structs(new).iter().for_each(|name| child(name, None, Some(&EMPTY)));
        }
        (Some(old), None) => {
            node.omitted_structs(old).iter().for_each(|name| child(name, Some(&EMPTY), None));
        }
        _ => {}
    }
    all
}

fn compare_lists<'a>(node: &SchemaNode, old: &'a [Value], new: &'a [Value]) -> Comparison {
    let (before, after) = (group_by_key(node, old), group_by_key(node, new));
    let below = node.items();
    let mut all = Comparison::default();
    let names: BTreeSet<&Element> = before.keys().chain(after.keys()).collect();
    for name in names {
        let of = |groups: &Groups<'a>| groups.get(name).cloned().unwrap_or_default();
        let (old, new) = (of(&before), of(&after));
        match (old.as_slice(), new.as_slice()) {
            ([], [new]) => all.add_difference(name.clone(), compare_values(&below, None, Some(new))),
            ([old], []) => all.add_difference(name.clone(), compare_values(&below, Some(old), None)),
            ([old], [new]) => all.add_difference(name.clone(), compare_values(&below, Some(old), Some(new))),
            ([_, _, ..], [_, _, ..]) => {
                if old != new {
                    all.modified.add(name.clone());
                }
            }
            // Elements with the same key are treated as a whole, not field by field.
            ([_, _, ..], rest) => {
                if let [new] = rest {
                    all.add_difference(name.clone(), compare_values(&below, None, Some(new)));
                }
                all.removed.add(name.clone());
            }
            (rest, _) => {
                if let [old] = rest {
                    all.add_difference(name.clone(), compare_values(&below, Some(old), None));
                }
                all.added.add(name.clone());
            }
        }
    }
    all
}

/// The elements of a list, grouped by key; elements without a key are left out.
fn group_by_key<'a>(node: &SchemaNode, items: &'a [Value]) -> Groups<'a> {
    let mut groups = Groups::new();
    for item in items {
        if let Ok(element) = node.element(item) {
            groups.entry(element).or_default().push(item);
        }
    }
    groups
}

fn items(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn fields(value: Option<&Value>) -> Option<&Map<String, Value>> {
    value.and_then(Value::as_object)
}
