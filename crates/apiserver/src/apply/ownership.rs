//! How fields change hands when an object changes: the rules of structured merge and diff.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;

use super::compare::{Comparison, compare};
use super::conflict::{self, Conflict};
use super::element::Element;
use super::fields;
use super::lens::Lens;
use super::merge::merge;
use super::owners::{Owned, Owner, Owners};
use super::place::{Form, Place};
use super::set::FieldSet;

/// Takes the fields that change away from all owners but `writer`, and gives the changes in the version of the request.
///
/// # Errors
/// Unless forced, the fields that others own; then nothing was taken.
pub(crate) fn transfer(
    lens: &Lens<'_>,
    (old, new): (&Value, &Value),
    owners: &mut Owners,
    writer: Option<&Owner>,
    force: bool,
) -> Result<Comparison, Vec<Conflict>> {
    let mut changes = Changes { lens, old, new, known: BTreeMap::new() };
    let own = changes.at(&lens.api_version()).cloned().unwrap_or_default();
    let mut wanted = BTreeMap::new();
    let mut left = BTreeMap::new();
    for (owner, owned) in &owners.0 {
        if Some(owner) == writer {
            left.insert(owner.clone(), owned.clone());
            continue;
        }
        // A version that is not there any more has no fields.
        let Some(change) = changes.at(&owned.api_version) else { continue };
        let taken = owned.fields.intersection(&change.set());
        let fields = owned.fields.difference(&taken).difference(&change.removed);
        if !taken.is_empty() {
            wanted.insert(owner.clone(), taken);
        }
        left.insert(owner.clone(), Owned { fields, ..owned.clone() });
    }
    if !force && !wanted.is_empty() {
        return Err(conflict::all(&wanted));
    }
    left.retain(|_, owned| !owned.fields.is_empty());
    owners.0 = left;
    Ok(own)
}

/// Lays a configuration over an object and takes away what its owner does not say any more; absent if nothing changes.
///
/// # Errors
/// Unless forced, the fields that others own with other values.
pub(crate) fn apply(
    lens: &Lens<'_>,
    object: &Value,
    configuration: &Value,
    owners: &mut Owners,
    owner: &Owner,
    force: bool,
) -> Result<Option<Value>, Vec<Conflict>> {
    let api_version = lens.api_version();
    let place = lens.place(&api_version).unwrap_or_else(|| Place::root(schema::Type::any(), false));
    reconcile(lens, owners);
    let merged = merge(&place, object, configuration);
    let before = owners.0.remove(owner);
    let said = lens.reset(&api_version).filter(&fields::of(&place, configuration));
    let time = before.as_ref().and_then(|before| before.time.clone());
    owners.0.insert(owner.clone(), Owned { api_version, fields: said, time });
    let new = match before {
        Some(before) if !before.fields.is_empty() => pruned(lens, merged, &before, owners),
        _ => merged,
    };
    transfer(lens, (object, &new), owners, Some(owner), force)?;
    Ok((&new != object).then_some(new))
}

/// Follows changes of the schema: what belongs to one owner as a whole by now is owned as a whole.
pub(crate) fn reconcile(lens: &Lens<'_>, owners: &mut Owners) {
    for owned in owners.0.values_mut() {
        if let Some(place) = lens.place(&owned.api_version) {
            owned.fields = whole(&place, &owned.fields);
        }
    }
}

struct Changes<'a> {
    lens: &'a Lens<'a>,
    old: &'a Value,
    new: &'a Value,
    known: BTreeMap<String, Option<Comparison>>,
}

impl Changes<'_> {
    /// What changes in a version; absent if there is no such version.
    fn at(&mut self, api_version: &str) -> Option<&Comparison> {
        if !self.known.contains_key(api_version) {
            let change = self.lens.place(api_version).map(|place| {
                let (old, new) =
                    (self.lens.shown(self.old, api_version), self.lens.shown(self.new, api_version));
                let reset = self.lens.reset(api_version);
                compare(&place, &old, &new).map(|set| reset.filter(set))
            });
            self.known.insert(api_version.to_owned(), change);
        }
        self.known.get(api_version)?.as_ref()
    }
}

/// The merged object without the fields that the owner said before, says no more, and nobody else says.
fn pruned(lens: &Lens<'_>, merged: Value, before: &Owned, owners: &Owners) -> Value {
    let Some(place) = lens.place(&before.api_version) else { return merged };
    let shown = lens.shown(&merged, &before.api_version).into_owned();
    let said = fields::with_parents(&before.fields, &place);
    let mut left = fields::removed(&place, &shown, &said);
    let mut versions: BTreeMap<&str, FieldSet> = BTreeMap::new();
    for owned in owners.0.values() {
        let all = versions.entry(owned.api_version.as_str()).or_default();
        *all = all.union(&owned.fields);
    }
    let own = versions.remove_entry(before.api_version.as_str());
    for (version, owned) in own.into_iter().chain(versions) {
        left = with_owned(lens, &merged, left, version, &owned);
    }
    // What nobody owned was not the owner's to take away.
    let left = lens.shown(&left, &before.api_version).into_owned();
    let kept = fields::with_parents(&fields::of(&place, &left), &place);
    let all = fields::with_parents(&fields::of(&place, &shown), &place);
    let gone = all.difference(&kept).intersection(&said);
    let left = fields::removed(&place, &shown, &gone);
    lens.shown(&left, &lens.api_version()).into_owned()
}

/// Puts back what is owned in a version.
fn with_owned(lens: &Lens<'_>, merged: &Value, left: Value, version: &str, owned: &FieldSet) -> Value {
    let Some(place) = lens.place(version) else { return left };
    let merged: Cow<'_, Value> = lens.shown(merged, version);
    let left = lens.shown(&left, version);
    let parents = |set: &FieldSet| fields::with_parents(set, &place);
    let all = parents(&fields::of(&place, &merged));
    let kept = parents(&fields::of(&place, &left)).union(&parents(owned));
    fields::removed(&place, &merged, &all.difference(&kept))
}

fn whole(place: &Place, set: &FieldSet) -> FieldSet {
    let mut all = FieldSet::default();
    for (element, member, below) in set.steps() {
        let lower = place.below(element);
        let owned_as_a_whole = lower.as_ref().is_some_and(|lower| {
            let form = lower.form(None);
            !below.is_empty() && form != Form::Scalar && form != Form::Open && lower.is_atomic(form)
        });
        if member || owned_as_a_whole {
            all.add(element.clone());
        }
        if !owned_as_a_whole {
            let below = match &lower {
                Some(lower) if !matches!(element, Element::Index(_)) => whole(lower, below),
                _ => below.clone(),
            };
            all.graft(element.clone(), below);
        }
    }
    all
}
