//! How a write changes the owners of fields: the rules of structured-merge-diff.

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
use super::schema_node::{Form, SchemaNode};
use super::set::FieldSet;

/// Removes changed fields from all owners except `writer`, and returns the changes in the request's version.
///
/// # Errors
/// Unless forced, the conflicts about fields that others own; then `owners` stays unchanged.
pub(crate) fn transfer(
    lens: &Lens<'_>,
    (old, new): (&Value, &Value),
    owners: &mut Owners,
    writer: Option<&Owner>,
    force: bool,
) -> Result<Comparison, Vec<Conflict>> {
    let mut changes = Changes { lens, old, new, computed: BTreeMap::new() };
    let own = changes.in_version(&lens.api_version()).cloned().unwrap_or_default();
    let mut wanted = BTreeMap::new();
    let mut left = BTreeMap::new();
    for (owner, owned) in &owners.0 {
        if Some(owner) == writer {
            left.insert(owner.clone(), owned.clone());
            continue;
        }
        // The fields of a version that no longer exists are dropped.
        let Some(change) = changes.in_version(&owned.api_version) else { continue };
        let taken = owned.fields.intersection(&change.written());
        let fields = owned.fields.difference(&taken).difference(&change.removed);
        if !taken.is_empty() {
            wanted.insert(owner.clone(), taken);
        }
        left.insert(owner.clone(), Owned { fields, ..owned.clone() });
    }
    if !force && !wanted.is_empty() {
        return Err(conflict::conflicts_with(&wanted));
    }
    left.retain(|_, owned| !owned.fields.is_empty());
    owners.0 = left;
    Ok(own)
}

/// Merges a configuration into an object and removes what its manager no longer sets. `None` if nothing changes.
///
/// # Errors
/// Unless forced, the conflicts about fields that others own with different values.
pub(crate) fn apply(
    lens: &Lens<'_>,
    object: &Value,
    configuration: &Value,
    owners: &mut Owners,
    owner: &Owner,
    force: bool,
) -> Result<Option<Value>, Vec<Conflict>> {
    let api_version = lens.api_version();
    let node = lens.schema_node(&api_version).unwrap_or_else(|| SchemaNode::root(schema::Type::any(), false));
    reconcile(lens, owners);
    let merged = merge(&node, object, configuration);
    let before = owners.0.remove(owner);
    let set = lens.reset(&api_version).filter(&fields::of(&node, configuration));
    let time = before.as_ref().and_then(|before| before.time.clone());
    owners.0.insert(owner.clone(), Owned { api_version, fields: set, time });
    let new = match before {
        Some(before) if !before.fields.is_empty() => without_dropped(lens, merged, &before, owners),
        _ => merged,
    };
    transfer(lens, (object, &new), owners, Some(owner), force)?;
    Ok((&new != object).then_some(new))
}

/// Follows schema changes: fields below a map or list that has become atomic turn into ownership of the whole.
pub(crate) fn reconcile(lens: &Lens<'_>, owners: &mut Owners) {
    for owned in owners.0.values_mut() {
        if let Some(node) = lens.schema_node(&owned.api_version) {
            owned.fields = collapse_atomic(&node, &owned.fields);
        }
    }
}

struct Changes<'a> {
    lens: &'a Lens<'a>,
    old: &'a Value,
    new: &'a Value,
    computed: BTreeMap<String, Option<Comparison>>,
}

impl Changes<'_> {
    /// The changes in a version; `None` if there is no such version.
    fn in_version(&mut self, api_version: &str) -> Option<&Comparison> {
        if !self.computed.contains_key(api_version) {
            let change = self.lens.schema_node(api_version).map(|node| {
                let (old, new) = (
                    self.lens.in_version(self.old, api_version),
                    self.lens.in_version(self.new, api_version),
                );
                let reset = self.lens.reset(api_version);
                compare(&node, &old, &new).map(|set| reset.filter(set))
            });
            self.computed.insert(api_version.to_owned(), change);
        }
        self.computed.get(api_version)?.as_ref()
    }
}

/// The merged object without the fields that the manager set before, no longer sets, and that have no other owner.
fn without_dropped(lens: &Lens<'_>, merged: Value, before: &Owned, owners: &Owners) -> Value {
    let Some(node) = lens.schema_node(&before.api_version) else { return merged };
    let old_version = lens.in_version(&merged, &before.api_version).into_owned();
    let set_before = fields::with_parents(&before.fields, &node);
    let mut left = fields::without(&node, &old_version, &set_before);
    let mut versions: BTreeMap<&str, FieldSet> = BTreeMap::new();
    for owned in owners.0.values() {
        let all = versions.entry(owned.api_version.as_str()).or_default();
        *all = all.union(&owned.fields);
    }
    let own = versions.remove_entry(before.api_version.as_str());
    for (version, owned) in own.into_iter().chain(versions) {
        left = with_owned(lens, &merged, left, version, &owned);
    }
    // Fields that had no owner stay: this manager may remove only its own.
    let left = lens.in_version(&left, &before.api_version).into_owned();
    let kept = fields::with_parents(&fields::of(&node, &left), &node);
    let all = fields::with_parents(&fields::of(&node, &old_version), &node);
    let gone = all.difference(&kept).intersection(&set_before);
    let left = fields::without(&node, &old_version, &gone);
    lens.in_version(&left, &lens.api_version()).into_owned()
}

/// Restores the fields that are owned in a version.
fn with_owned(lens: &Lens<'_>, merged: &Value, left: Value, version: &str, owned: &FieldSet) -> Value {
    let Some(node) = lens.schema_node(version) else { return left };
    let merged: Cow<'_, Value> = lens.in_version(merged, version);
    let left = lens.in_version(&left, version);
    let parents = |set: &FieldSet| fields::with_parents(set, &node);
    let all = parents(&fields::of(&node, &merged));
    let kept = parents(&fields::of(&node, &left)).union(&parents(owned));
    fields::without(&node, &merged, &all.difference(&kept))
}

fn collapse_atomic(node: &SchemaNode, set: &FieldSet) -> FieldSet {
    let mut all = FieldSet::default();
    for (element, member, below) in set.steps() {
        let lower = node.below(element);
        let atomic = lower.as_ref().is_some_and(|lower| {
            let form = lower.form(None);
            !below.is_empty() && form != Form::Scalar && form != Form::Open && lower.is_atomic(form)
        });
        if member || atomic {
            all.add(element.clone());
        }
        if !atomic {
            let below = match &lower {
                Some(lower) if !matches!(element, Element::Index(_)) => collapse_atomic(lower, below),
                _ => below.clone(),
            };
            all.graft(element.clone(), below);
        }
    }
    all
}
