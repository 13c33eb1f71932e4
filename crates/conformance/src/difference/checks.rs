//! The failed checks of a case as differences.

use serde_json::Value;

use super::{Edit, EditKind, Sides, edits_of_texts, place, texts};
use crate::report::{Check, ValueChange};

/// Differences that belong to one place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PlacedDifference {
    /// The parents, outermost first.
    pub(super) parents: Vec<String>,
    /// Shown differs there.
    pub(super) what: Shown,
}

/// How a check is shown.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shown {
    /// Differences between two values.
    Edits(Vec<Edit>, Sides),
    /// A sentence.
    Text(String),
}

/// The checks as differences. Checks of the elements of one list become the differences of the list.
pub(super) fn found(checks: &[&Check]) -> Vec<PlacedDifference> {
    let mut found: Vec<PlacedDifference> = Vec::new();
    let mut at = 0;
    while let Some(check) = checks.get(at) {
        let elements = checks[at..].iter().take_while(|other| is_same_list(check, other)).count();
        if elements > 1 {
            found.push(list(&checks[at..at + elements]));
            at += elements;
        } else {
            found.extend(one(check));
            at += 1;
        }
    }
    found
}

/// Changes as differences. Changes of the elements of one list become the differences of the list.
pub(super) fn found_changes(changes: &[ValueChange], sides: Sides) -> Vec<PlacedDifference> {
    let mut found: Vec<PlacedDifference> = Vec::new();
    let mut at = 0;
    while let Some(change) = changes.get(at) {
        let list = |change: &ValueChange| element(&change.path).map(|(list, _)| list.to_owned());
        let wanted = list(change);
        let elements =
            changes[at..].iter().take_while(|other| wanted.is_some() && list(other) == wanted).count();
        match wanted {
            Some(list) if elements > 1 => {
                let changes = &changes[at..at + elements];
                let of = |side: fn(&ValueChange) -> Option<&str>| items(changes.iter().filter_map(side));
                let (before, after) =
                    (of(|change| change.before.as_deref()), of(|change| change.after.as_deref()));
                found.push(between(place(&list), (Some(&before), Some(&after)), sides));
                at += elements;
            }
            _ => {
                let values = (change.before.as_deref(), change.after.as_deref());
                found.push(between(place(&change.path), values, sides));
                at += 1;
            }
        }
    }
    found
}

/// The differences between two values. A value that differs as a whole has the name of its place.
fn between(
    mut parents: Vec<String>,
    (before, after): (Option<&str>, Option<&str>),
    sides: Sides,
) -> PlacedDifference {
    let mut edits = edits_of_texts(before, after);
    let text = |text: Option<&str>| text.unwrap_or("absent").to_owned();
    if edits.is_empty() {
        // The values differ in their types only, which their texts do not show.
        let kind = EditKind::Changed { before: text(before), after: text(after) };
        edits.push(Edit { place: Vec::new(), name: parents.pop(), kind });
    } else if let [edit] = edits.as_mut_slice()
        && is_whole(edit, before, after)
    {
        edit.name = parents.pop();
        if sides == Sides::EXPECTED {
            edit.kind = EditKind::Changed { before: text(before), after: text(after) };
        }
    }
    PlacedDifference { parents, what: Shown::Edits(edits, sides) }
}

/// Whether a difference is that of the whole value, not of a member or a line.
fn is_whole(edit: &Edit, before: Option<&str>, after: Option<&str>) -> bool {
    let is = |text: &str, value: Option<&str>| {
        value.is_some_and(|value| value == text || texts::read(Some(value)) == texts::read(Some(text)))
    };
    edit.place.is_empty()
        && edit.name.is_none()
        && match &edit.kind {
            EditKind::Gone(text) => is(text, before),
            EditKind::Added(text) => is(text, after),
            EditKind::Changed { before: first, after: second } => is(first, before) && is(second, after),
            EditKind::Repeated { .. } | EditKind::Reordered => false,
        }
}

/// The list and the index of a path that ends in an element of a list without keys.
fn element(path: &str) -> Option<(&str, usize)> {
    let (list, index) = path.strip_suffix(']')?.rsplit_once('[')?;
    Some((list, index.parse().ok()?))
}

fn is_same_list(check: &Check, other: &Check) -> bool {
    let list = |check: &Check| element(&check.path).map(|(list, _)| list.to_owned());
    check.part == other.part && list(check).is_some() && list(check) == list(other)
}

/// The checks of elements of one list: elements that are as expected are in none of them, so the rest can be aligned.
fn list(checks: &[&Check]) -> PlacedDifference {
    let of = |side: fn(&Check) -> &str| {
        items(checks.iter().map(|check| side(check)).filter(|text| *text != "absent"))
    };
    let sides =
        if checks.iter().all(|check| !check.changes.is_empty()) { Sides::KEPT } else { Sides::EXPECTED };
    let list = element(&checks[0].path).map_or("", |(list, _)| list);
    between(parents(checks[0], list), (Some(&of(|check| &check.want)), Some(&of(|check| &check.got))), sides)
}

/// Values as the list that has them.
fn items<'a>(values: impl Iterator<Item = &'a str>) -> String {
    values.map(|text| texts::read(Some(text))).collect::<Value>().to_string()
}

fn one(check: &Check) -> Vec<PlacedDifference> {
    if check.failure.is_some() || (check.part == "law" && check.changes.is_empty()) {
        return vec![PlacedDifference { parents: Vec::new(), what: Shown::Text(check.got.clone()) }];
    }
    if check.part == "law" {
        return found_changes(&check.changes, Sides::ANSWERS);
    }
    let parents = parents(check, &check.path);
    match check.changes.as_slice() {
        [kept] => vec![between(parents, (kept.before.as_deref(), kept.after.as_deref()), Sides::KEPT)],
        _ => vec![between(parents, (Some(&check.want), Some(&check.got)), Sides::EXPECTED)],
    }
}

/// The parents of a check: its part, the step and the object of a scenario, and its place in the object.
fn parents(check: &Check, path: &str) -> Vec<String> {
    match check.part.as_str() {
        "object" if path.is_empty() => vec!["object".to_owned()],
        "object" | "emitted" => place(path),
        part => std::iter::once(part.to_owned()).chain(steps(path)).collect(),
    }
}

/// `a step: cluster pod/p spec.a` → `a step`, `cluster pod/p`, `spec.a`; a place without a step is one part.
fn steps(path: &str) -> Vec<String> {
    let Some((step, rest)) = path.split_once(": ") else {
        return Some(path.to_owned()).filter(|path| !path.is_empty()).into_iter().collect();
    };
    let keyless = rest.split('[').next().unwrap_or_default();
    let is_field = |(object, _): &(&str, &str)| object.contains('/');
    let (object, field) =
        keyless.rfind(' ').map(|space| rest.split_at(space)).filter(is_field).unwrap_or((rest, ""));
    [step, object].into_iter().map(str::to_owned).chain(place(field.trim_start())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_of_a_step_is_split_into_step_object_and_field() {
        let joined = |path| steps(path).join(" > ");
        assert_eq!(
            joined("written: sourceCluster managedresource/mr status.conditions[type=A b].reason"),
            "written > sourceCluster managedresource/mr > status.conditions[type=A b].reason"
        );
        assert_eq!(joined("written: cluster configmap/b"), "written > cluster configmap/b");
        assert_eq!(joined("written: writes"), "written > writes");
        assert_eq!(joined("written"), "written");
        assert_eq!(joined(""), "");
    }
}
