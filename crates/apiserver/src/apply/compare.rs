//! Which fields differ between two states of an object.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::element::Element;
use super::place::{EMPTY, Form, Place};
use super::set::FieldSet;

/// The differences; no field is in two of the sets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Comparison {
    /// Fields that only the first state has.
    pub(crate) removed: FieldSet,
    /// Fields that both have, with other values.
    pub(crate) modified: FieldSet,
    /// Fields that only the second state has.
    pub(crate) added: FieldSet,
}

#[derive(Clone, Copy, Debug)]
enum Change {
    Removed,
    Modified,
    Added,
}

/// What was found at one place: how itself changed, and what is below it.
#[derive(Debug, Default)]
struct Found {
    own: Option<Change>,
    below: Comparison,
}

type Groups<'a> = BTreeMap<Element, Vec<&'a Value>>;

/// Compares two states of an object of the kind of `place`.
pub(crate) fn compare(place: &Place, old: &Value, new: &Value) -> Comparison {
    at(place, Some(old), Some(new)).below
}

impl Comparison {
    /// The fields that have got a new value.
    pub(crate) fn set(&self) -> FieldSet {
        self.modified.union(&self.added)
    }

    /// The same with each set changed alike.
    pub(crate) fn map(&self, change: impl Fn(&FieldSet) -> FieldSet) -> Self {
        Self { removed: change(&self.removed), modified: change(&self.modified), added: change(&self.added) }
    }

    fn take(&mut self, element: Element, found: Found) {
        match found.own {
            Some(Change::Removed) => self.removed.add(element.clone()),
            Some(Change::Modified) => self.modified.add(element.clone()),
            Some(Change::Added) => self.added.add(element.clone()),
            None => {}
        }
        self.removed.graft(element.clone(), found.below.removed);
        self.modified.graft(element.clone(), found.below.modified);
        self.added.graft(element, found.below.added);
    }
}

fn at(place: &Place, old: Option<&Value>, new: Option<&Value>) -> Found {
    let (before, after) = (place.form(old), place.form(new));
    let mut found = match (old, new) {
        (Some(_), None) => formed(place, before, old, new),
        (Some(_), Some(_)) if before != after => {
            // Either form is looked at by itself: what it was goes, what it is comes.
            let mut found = formed(place, before, old, new);
            let other = formed(place, after, old, new);
            found.own = other.own.or(found.own);
            found.below.removed = found.below.removed.union(&other.below.removed);
            found.below.added = found.below.added.union(&other.below.added);
            found
        }
        _ => formed(place, after, old, new),
    };
    if found.own.is_none() {
        found.own = match (old, new) {
            (None, Some(_)) => Some(Change::Added),
            (Some(_), None) => Some(Change::Removed),
            _ => None,
        };
    }
    found
}

fn formed(place: &Place, form: Form, old: Option<&Value>, new: Option<&Value>) -> Found {
    match form {
        Form::Scalar => leaf(old, new),
        Form::List => {
            let (before, after) = (items(old), items(new));
            if place.is_atomic(form) || (before.is_empty() && after.is_empty()) {
                return leaf(old, new);
            }
            Found { own: None, below: lists(place, before, after) }
        }
        Form::Map | Form::Open => {
            let (before, after) = (fields(old), fields(new));
            if place.is_atomic(form) {
                return leaf(old, new);
            }
            let below = maps(place, before, after);
            let empty = |fields: Option<&Map<String, Value>>| fields.is_none_or(Map::is_empty);
            if empty(before) && empty(after) && below == Comparison::default() {
                return leaf(old, new);
            }
            Found { own: None, below }
        }
    }
}

fn leaf(old: Option<&Value>, new: Option<&Value>) -> Found {
    let own = match (old, new) {
        (None, _) => Some(Change::Added),
        (_, None) => Some(Change::Removed),
        (Some(old), Some(new)) => (old != new).then_some(Change::Modified),
    };
    Found { own, below: Comparison::default() }
}

fn maps(place: &Place, old: Option<&Map<String, Value>>, new: Option<&Map<String, Value>>) -> Comparison {
    let mut all = Comparison::default();
    let mut child = |name: &str, before: Option<&Value>, after: Option<&Value>| {
        let Some((below, _)) = place.child(name) else { return };
        let before = before.or_else(|| old.and_then(|_| place.absent(name)));
        let after = after.or_else(|| new.and_then(|_| place.absent(name)));
        if before.is_some() || after.is_some() {
            let same = before.is_some() && before == after;
            if !same {
                all.take(Element::field(name), at(&below, before, after));
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
    // What comes or goes as a whole takes with it what was not said of it.
    match (old, new) {
        (None, Some(new)) => {
            place.unsaid(new).iter().for_each(|name| child(name, None, Some(&EMPTY)));
        }
        (Some(old), None) => {
            place.unsaid(old).iter().for_each(|name| child(name, Some(&EMPTY), None));
        }
        _ => {}
    }
    all
}

fn lists<'a>(place: &Place, old: &'a [Value], new: &'a [Value]) -> Comparison {
    let (before, after) = (grouped(place, old), grouped(place, new));
    let below = place.items();
    let mut all = Comparison::default();
    let names: BTreeSet<&Element> = before.keys().chain(after.keys()).collect();
    for name in names {
        let of = |groups: &Groups<'a>| groups.get(name).cloned().unwrap_or_default();
        let (old, new) = (of(&before), of(&after));
        match (old.as_slice(), new.as_slice()) {
            ([], [new]) => all.take(name.clone(), at(&below, None, Some(new))),
            ([old], []) => all.take(name.clone(), at(&below, Some(old), None)),
            ([old], [new]) => all.take(name.clone(), at(&below, Some(old), Some(new))),
            ([_, _, ..], [_, _, ..]) => {
                if old != new {
                    all.modified.add(name.clone());
                }
            }
            // An element that is there more than once counts as a whole.
            ([_, _, ..], rest) => {
                if let [new] = rest {
                    all.take(name.clone(), at(&below, None, Some(new)));
                }
                all.removed.add(name.clone());
            }
            (rest, _) => {
                if let [old] = rest {
                    all.take(name.clone(), at(&below, Some(old), None));
                }
                all.added.add(name.clone());
            }
        }
    }
    all
}

/// The elements of a list by what tells them apart; those that nothing tells apart are left out.
fn grouped<'a>(place: &Place, items: &'a [Value]) -> Groups<'a> {
    let mut groups = Groups::new();
    for item in items {
        if let Ok(element) = place.element(item) {
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
