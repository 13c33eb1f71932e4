//! What a ManagedResource is to consist of: the objects its Secrets describe, and how each was applied before.

use std::collections::BTreeMap;

use kube::core::GroupVersionKind;
use serde_json::Value;

use super::annotation::has_mode_ignore;
use super::applied::Applied;
use super::decode::{DecodeError, Manifest, Place};
use super::equivalence::Equivalences;
use super::inject::labels_to_inject;
use super::manifests::Manifests;
use super::order::{sort_by_kind, sort_references};
use super::reference::{DEFAULT_NAMESPACE, NAMESPACE};
use super::unstructured::{self, annotations, group_version, labels, set_namespace};
use super::{ManagedResource, ObjectReference};

/// Whether objects of a kind live in namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// They do.
    Namespaced,
    /// They do not.
    Cluster,
}

/// An object that is to be as its manifest says.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// The manifest, its namespace filled in or removed, no labels injected.
    pub object: Value,
    /// Where it stands.
    pub place: Place,
    /// How it was applied before, maybe under an equivalent kind; empty where it was not.
    pub applied: ObjectReference,
}

/// GRM-MR-156: two manifests describe one object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{object}\" at {overruled} is described again at {at}")]
pub struct Duplicate {
    /// The object, as messages name it.
    pub object: String,
    /// The manifest that does not count.
    pub overruled: Place,
    /// The manifest that counts.
    pub at: Place,
}

/// What a ManagedResource is to consist of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inventory {
    /// Objects to apply, in that order; each once.
    pub wanted: Vec<Wanted>,
    /// Their references, as `status.resources` lists them once they are applied.
    pub references: Vec<ObjectReference>,
    /// Objects that were applied before and are given away (mode `Ignore`).
    pub orphans: Vec<ObjectReference>,
    /// Objects that were applied before and are no longer described, by key. They may be deleted only where
    /// [`Self::errors`] is empty: a document that cannot be read may be about them.
    pub unwanted: Vec<ObjectReference>,
    /// Documents that describe no object.
    pub errors: Vec<DecodeError>,
    /// Manifests that do not count, as a later one describes the same object. The original applies both in turn, in
    /// every pass.
    pub duplicates: Vec<Duplicate>,
    /// `status.secretsDataChecksum`.
    pub checksum: String,
}

impl Inventory {
    /// What a ManagedResource whose Secrets say this is to consist of.
    ///
    /// `managed_by` is the value of [`api::resources::MANAGED_BY`]; `scope` knows the kinds of the target, nothing of a
    /// kind that is not there (yet).
    #[must_use]
    pub fn take(
        object: &ManagedResource,
        manifests: Manifests,
        managed_by: &str,
        scope: impl Fn(&GroupVersionKind) -> Option<Scope>,
    ) -> Self {
        let equivalences = Equivalences::new(&object.spec.equivalences);
        let mut applied = Applied::new(&object.status.resources, &equivalences);
        let Manifests { objects, errors, checksum } = manifests;
        let mut inventory = Self { errors, checksum, ..Self::default() };
        let mut wanted = BTreeMap::new();
        for mut manifest in objects {
            complete_namespace(&mut manifest.object, &scope);
            let reference = reference(object, managed_by, &manifest.object);
            let before = applied.look_up(&reference);
            if has_mode_ignore(&manifest.object) {
                inventory.orphans.extend(before.map(|_| reference));
                continue;
            }
            let applied = before.cloned().unwrap_or_default();
            let Manifest { object, place } = manifest;
            inventory.want(&mut wanted, Wanted { object, place, applied }, reference);
        }
        inventory.unwanted = applied.unfound().cloned().collect();
        (inventory.wanted, inventory.references) = wanted.into_values().unzip();
        sort_by_kind(&mut inventory.wanted, |wanted| &wanted.object);
        sort_references(&mut inventory.references);
        inventory
    }

    fn want(&mut self, all: &mut Described, wanted: Wanted, reference: ObjectReference) {
        let (at, object) = (wanted.place.clone(), reference.described());
        if let Some((overruled, _)) = all.insert(reference.key(), (wanted, reference)) {
            self.duplicates.push(Duplicate { object, overruled: overruled.place, at });
        }
    }
}

/// Objects and their references by key.
type Described = BTreeMap<String, (Wanted, ObjectReference)>;

/// GRM-MR-025: objects of namespaced kinds live in `default` where nobody says otherwise, others in none. A kind that is not known
/// is taken for a namespaced one.
fn complete_namespace(manifest: &mut Value, scope: impl Fn(&GroupVersionKind) -> Option<Scope>) {
    let kind = unstructured::kind(manifest);
    let group_version = group_version(unstructured::api_version(manifest));
    let known =
        group_version.and_then(|(group, version)| scope(&GroupVersionKind::gvk(group, version, kind)));
    let is_namespace = kind == NAMESPACE;
    match known {
        Some(Scope::Cluster) => set_namespace(manifest, ""),
        None if is_namespace => {}
        Some(Scope::Namespaced) | None => {
            if unstructured::namespace(manifest).is_empty() {
                set_namespace(manifest, DEFAULT_NAMESPACE);
            }
        }
    }
}

/// GRM-MR-009: the reference to an object, with what it is applied with.
fn reference(object: &ManagedResource, managed_by: &str, manifest: &Value) -> ObjectReference {
    let mut labels = labels(manifest);
    labels.extend(labels_to_inject(object.spec.inject_labels.as_ref(), managed_by));
    ObjectReference { labels, annotations: annotations(manifest), ..ObjectReference::to(manifest) }
}

#[cfg(test)]
mod tests;
