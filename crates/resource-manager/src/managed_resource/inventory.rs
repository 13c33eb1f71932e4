//! The desired content of a ManagedResource: the objects in its Secrets, and how each was applied before.

use std::collections::BTreeMap;

use kube::core::GroupVersionKind;
use serde_json::Value;

use super::annotation::has_mode_ignore;
use super::applied::AppliedObjects;
use super::decode::{DecodeError, Manifest, ManifestLocation};
use super::equivalence::Equivalences;
use super::inject::labels_to_inject;
use super::manifests::Manifests;
use super::order::{sort_by_kind, sort_references};
use super::reference::{DEFAULT_NAMESPACE, NAMESPACE};
use super::unstructured::{self, annotations, group_version, labels, set_namespace};
use super::{ManagedResource, ObjectReference};

/// Whether a kind is namespaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KindScope {
    /// It is.
    Namespaced,
    /// It is cluster-scoped.
    Cluster,
}

/// An object to apply.
#[derive(Clone, Debug, PartialEq)]
pub struct WantedObject {
    /// The manifest, its namespace defaulted or removed, no labels injected.
    pub object: Value,
    /// Location of the manifest.
    pub location: ManifestLocation,
    /// How it was applied before, perhaps under an equivalent kind; empty if it was not.
    pub applied: ObjectReference,
}

/// GRM-MR-156: two manifests describe the same object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{object}\" at {overruled} is described again at {at}")]
pub struct Duplicate {
    /// The object's name in messages.
    pub object: String,
    /// The manifest that is ignored.
    pub overruled: ManifestLocation,
    /// The manifest that counts.
    pub at: ManifestLocation,
}

/// The desired content of a ManagedResource.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inventory {
    /// Objects to apply, in this order, each once.
    pub wanted: Vec<WantedObject>,
    /// Their references, as `status.resources` lists them once they are applied.
    pub references: Vec<ObjectReference>,
    /// Objects that were applied before and are to be released (mode `Ignore`).
    pub orphans: Vec<ObjectReference>,
    /// Objects that were applied before and are no longer described, by key. They may only be deleted if
    /// [`Self::errors`] is empty: a document that cannot be read may describe them.
    pub unwanted: Vec<ObjectReference>,
    /// Documents that describe no object.
    pub errors: Vec<DecodeError>,
    /// Manifests that are ignored, because a later one describes the same object. The original applies both in turn,
    /// in every pass.
    pub duplicates: Vec<Duplicate>,
    /// `status.secretsDataChecksum`.
    pub checksum: String,
}

impl Inventory {
    /// Computes the inventory of a ManagedResource from its manifests.
    ///
    /// `managed_by` is the value of [`api::resources::MANAGED_BY`]; `scope` returns the scope of the target's kinds,
    /// `None` for a kind that is not (yet) served.
    #[must_use]
    pub fn compute(
        object: &ManagedResource,
        manifests: Manifests,
        managed_by: &str,
        scope: impl Fn(&GroupVersionKind) -> Option<KindScope>,
    ) -> Self {
        let equivalences = Equivalences::new(&object.spec.equivalences);
        let mut applied = AppliedObjects::new(&object.status.resources, &equivalences);
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
            let Manifest { object, location } = manifest;
            inventory.add_wanted(&mut wanted, WantedObject { object, location, applied }, reference);
        }
        inventory.unwanted = applied.not_looked_up().cloned().collect();
        (inventory.wanted, inventory.references) = wanted.into_values().unzip();
        sort_by_kind(&mut inventory.wanted, |wanted| &wanted.object);
        sort_references(&mut inventory.references);
        inventory
    }

    fn add_wanted(&mut self, all: &mut Described, wanted: WantedObject, reference: ObjectReference) {
        let (at, object) = (wanted.location.clone(), reference.described());
        if let Some((overruled, _)) = all.insert(reference.key(), (wanted, reference)) {
            self.duplicates.push(Duplicate { object, overruled: overruled.location, at });
        }
    }
}

/// Objects and their references by key.
type Described = BTreeMap<String, (WantedObject, ObjectReference)>;

/// GRM-MR-025: an object of a namespaced kind without namespace is in `default`, other objects in none. An unknown
/// kind counts as namespaced.
fn complete_namespace(manifest: &mut Value, scope: impl Fn(&GroupVersionKind) -> Option<KindScope>) {
    let kind = unstructured::kind(manifest);
    let group_version = group_version(unstructured::api_version(manifest));
    let known =
        group_version.and_then(|(group, version)| scope(&GroupVersionKind::gvk(group, version, kind)));
    let is_namespace = kind == NAMESPACE;
    match known {
        Some(KindScope::Cluster) => set_namespace(manifest, ""),
        None if is_namespace => {}
        Some(KindScope::Namespaced) | None => {
            if unstructured::namespace(manifest).is_empty() {
                set_namespace(manifest, DEFAULT_NAMESPACE);
            }
        }
    }
}

/// GRM-MR-009: the reference to an object, with the labels and annotations to apply.
fn reference(object: &ManagedResource, managed_by: &str, manifest: &Value) -> ObjectReference {
    let mut labels = labels(manifest);
    labels.extend(labels_to_inject(object.spec.inject_labels.as_ref(), managed_by));
    ObjectReference { labels, annotations: annotations(manifest), ..ObjectReference::to(manifest) }
}

#[cfg(test)]
mod tests;
