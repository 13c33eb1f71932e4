//! Which objects the status lists: those that were applied, and those that may have been, so that none is forgotten.
//!
//! The status lists an object before a pass creates it, so that a pass that is interrupted leaves no unlisted object.
//! Until a pass has applied the object, its reference has our origin as an annotation; references to applied objects
//! do not. Such an object is ours only if it has that origin itself.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::managed_resource::ObjectReference;
use crate::managed_resource::inventory::Inventory;
use crate::managed_resource::order::sort_references;
use crate::managed_resource::unstructured::annotation;

/// References by key.
type ReferencesByKey = BTreeMap<String, ObjectReference>;

/// The list after all objects were applied: the wanted objects, and, if a document cannot be read, also those that it
/// might describe.
pub(super) fn after_success(inventory: &Inventory) -> Vec<ObjectReference> {
    let mut all = inventory.references.clone();
    if !inventory.errors.is_empty() {
        all.extend(inventory.unwanted.iter().cloned());
        sort_references(&mut all);
    }
    all
}

/// GRM-MR-159: the list before objects are applied: the listed objects, and those that may be created now.
pub(super) fn before_apply(
    known: &[ObjectReference],
    inventory: &Inventory,
    origin: &str,
) -> Vec<ObjectReference> {
    let mut all = by_key(known);
    for (key, reference) in new_objects(inventory) {
        all.entry(key).or_insert_with(|| uncertain_reference(reference, origin));
    }
    all.into_values().collect()
}

/// GRM-MR-157 and GRM-MR-166: the list after a failure: the objects listed before, those applied since, and those
/// that may have been.
///
/// A reference keeps its labels and annotations, because the next pass compares with the last complete one.
pub(super) fn after_failure(
    known: &[ObjectReference],
    inventory: &Inventory,
    origin: &str,
    is_applied: impl Fn(&ObjectReference) -> bool,
    is_uncertain: impl Fn(&ObjectReference) -> bool,
) -> Vec<ObjectReference> {
    let mut all = by_key(known);
    for (key, reference) in new_objects(inventory) {
        if is_applied(reference) {
            all.insert(key, reference.clone());
        } else if is_uncertain(reference) {
            all.entry(key).or_insert_with(|| uncertain_reference(reference, origin));
        }
    }
    for reference in &inventory.references {
        if let Some(listed) = all.get_mut(&reference.key())
            && is_uncertain_reference(listed, origin)
            && is_applied(reference)
        {
            listed.clone_from(reference);
        }
    }
    all.into_values().collect()
}

/// GRM-MR-160: whether an object that this pass may have created belongs to another owner.
pub(super) fn is_foreign(reference: &ObjectReference, live: &Value, origin: &str) -> bool {
    is_uncertain_reference(reference, origin) && annotation(live, api::resources::ORIGIN) != Some(origin)
}

/// GRM-MR-049: objects that were never applied, not under an equivalent kind either.
fn new_objects(inventory: &Inventory) -> impl Iterator<Item = (String, &ObjectReference)> {
    let unknown = inventory.wanted.iter().filter(|wanted| wanted.applied == ObjectReference::default());
    let unknown: BTreeSet<String> = unknown.map(|wanted| ObjectReference::to(&wanted.object).key()).collect();
    let keyed = inventory.references.iter().map(|reference| (reference.key(), reference));
    keyed.filter(move |(key, _)| unknown.contains(key))
}

fn uncertain_reference(reference: &ObjectReference, origin: &str) -> ObjectReference {
    let mut uncertain = reference.clone();
    uncertain.annotations.insert(api::resources::ORIGIN.to_owned(), origin.to_owned());
    uncertain
}

fn is_uncertain_reference(reference: &ObjectReference, origin: &str) -> bool {
    reference.annotations.get(api::resources::ORIGIN).is_some_and(|listed| listed == origin)
}

fn by_key(references: &[ObjectReference]) -> ReferencesByKey {
    references.iter().map(|reference| (reference.key(), reference.clone())).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::managed_resource::decode::ManifestLocation;
    use crate::managed_resource::inventory::WantedObject;

    const ORIGIN: &str = "default/mr";

    fn reference(kind: &str, label: &str) -> ObjectReference {
        let labels = BTreeMap::from([("label".to_owned(), label.to_owned())]);
        ObjectReference { labels, ..ObjectReference::to(&object(kind)) }
    }

    fn object(kind: &str) -> Value {
        json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": "a", "namespace": "default"}})
    }

    /// An object that was applied before, a new one, and one that was applied under an equivalent kind.
    fn inventory() -> Inventory {
        let wanted = |kind: &str, applied: Option<ObjectReference>| WantedObject {
            object: object(kind),
            location: ManifestLocation {
                namespace: String::new(),
                secret: String::new(),
                key: String::new(),
                index: 0,
            },
            applied: applied.unwrap_or_default(),
        };
        Inventory {
            wanted: vec![
                wanted("ConfigMap", Some(reference("ConfigMap", "old"))),
                wanted("Secret", None),
                wanted("Service", Some(reference("Ingress", "old"))),
            ],
            references: ["ConfigMap", "Secret", "Service"].map(|kind| reference(kind, "new")).to_vec(),
            ..Inventory::default()
        }
    }

    fn known() -> Vec<ObjectReference> {
        ["ConfigMap", "Ingress"].map(|kind| reference(kind, "old")).to_vec()
    }

    fn uncertain_listed(kind: &str) -> ObjectReference {
        uncertain_reference(&reference(kind, "new"), ORIGIN)
    }

    #[test]
    fn new_objects_are_listed_first_unless_known_under_an_equivalent_kind() {
        let wanted = [reference("ConfigMap", "old"), reference("Ingress", "old"), uncertain_listed("Secret")];
        assert_eq!(before_apply(&known(), &inventory(), ORIGIN), wanted);
        assert_eq!(before_apply(&wanted, &inventory(), ORIGIN), wanted, "once more");
    }

    #[test]
    fn after_a_failure_the_list_depends_on_what_was_written() {
        let table = [
            (true, false, Some(reference("Secret", "new"))),
            (false, true, Some(uncertain_listed("Secret"))),
            (false, false, None),
        ];
        for (is_applied, is_uncertain, secret) in table {
            let got = after_failure(&known(), &inventory(), ORIGIN, |_| is_applied, |_| is_uncertain);
            let wanted: Vec<_> = known().into_iter().chain(secret).collect();
            assert_eq!(got, wanted, "applied: {is_applied}, uncertain: {is_uncertain}");
        }
    }

    #[test]
    fn an_uncertain_reference_is_resolved_when_the_object_is_applied() {
        let mut inventory = inventory();
        inventory.wanted[1].applied = uncertain_listed("Secret");
        let known: Vec<_> = known().into_iter().chain([uncertain_listed("Secret")]).collect();
        for (is_applied, secret) in [(true, reference("Secret", "new")), (false, uncertain_listed("Secret"))]
        {
            let got = after_failure(&known, &inventory, ORIGIN, |_| is_applied, |_| false);
            assert_eq!(got.last(), Some(&secret), "applied: {is_applied}");
        }
    }

    #[test]
    fn only_uncertain_objects_must_have_our_origin() {
        let of = |origin: &str| json!({"metadata": {"annotations": {api::resources::ORIGIN: origin}}});
        let table = [
            (uncertain_listed("Secret"), of(ORIGIN), false),
            (uncertain_listed("Secret"), of("default/other"), true),
            (uncertain_listed("Secret"), json!({}), true),
            (reference("Secret", "new"), json!({}), false),
            (uncertain_reference(&reference("Secret", "new"), "of the manifest"), json!({}), false),
        ];
        for (reference, live, wanted) in table {
            assert_eq!(is_foreign(&reference, &live, ORIGIN), wanted, "{reference:?} {live}");
        }
    }
}
