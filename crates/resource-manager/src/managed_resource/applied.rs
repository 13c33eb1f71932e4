//! The objects that were applied before, for comparison with the wanted ones.

use std::collections::{BTreeMap, BTreeSet};

use super::ObjectReference;
use super::equivalence::Equivalences;
use super::reference;

/// The objects in `status.resources`. Those that are not looked up are unwanted.
#[derive(Clone, Debug)]
pub struct AppliedObjects<'a> {
    references: BTreeMap<String, &'a ObjectReference>,
    found: BTreeSet<String>,
    equivalences: &'a Equivalences,
}

impl<'a> AppliedObjects<'a> {
    /// Of two references with the same key, the last counts.
    #[must_use]
    pub fn new(references: &'a [ObjectReference], equivalences: &'a Equivalences) -> Self {
        let references = references.iter().map(|reference| (reference.key(), reference)).collect();
        Self { references, found: BTreeSet::new(), equivalences }
    }

    /// The reference under which this object, or the same object under an equivalent kind, was applied before.
    pub fn look_up(&mut self, wanted: &ObjectReference) -> Option<&'a ObjectReference> {
        let kind = wanted.group_kind();
        let equivalent = self.equivalences.of(&kind);
        let candidates = [&kind].into_iter().chain(equivalent);
        let keys = candidates.map(|kind| reference::key(kind, &wanted.namespace, &wanted.name));
        let (key, found) =
            keys.into_iter().find_map(|key| self.references.get(&key).map(|found| (key, *found)))?;
        self.found.insert(key);
        Some(found)
    }

    /// The objects that were not looked up, by key.
    pub fn not_looked_up(&self) -> impl Iterator<Item = &'a ObjectReference> {
        self.references.iter().filter(|(key, _)| !self.found.contains(*key)).map(|(_, reference)| *reference)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn reference(api_version: &str, kind: &str, namespace: &str, name: &str) -> ObjectReference {
        let texts = |text: &str| text.to_owned();
        ObjectReference {
            api_version: texts(api_version),
            kind: texts(kind),
            namespace: texts(namespace),
            name: texts(name),
            ..Default::default()
        }
    }

    fn known() -> Vec<ObjectReference> {
        vec![
            reference("apps/v1", "Deployment", "default", "web"),
            reference("v1", "ConfigMap", "default", "web"),
            reference("v1", "Namespace", "", "web"),
            reference("extensions/v1beta1", "Ingress", "a", "web"),
        ]
    }

    /// A wanted object, and the applied one that it matches.
    #[rstest]
    #[case::same(reference("apps/v1", "Deployment", "default", "web"), Some(0))]
    #[case::of_another_version(reference("apps/v1beta2", "Deployment", "default", "web"), Some(0))]
    #[case::of_an_equivalent_group(reference("extensions/v1beta1", "Deployment", "default", "web"), Some(0))]
    #[case::the_other_way_round(reference("networking.k8s.io/v1", "Ingress", "a", "web"), Some(3))]
    #[case::without_namespace(reference("v1", "ConfigMap", "", "web"), Some(1))]
    #[case::a_namespace(reference("v1", "Namespace", "", "web"), Some(2))]
    #[case::a_namespace_in_a_namespace(reference("v1", "Namespace", "default", "web"), None)]
    #[case::of_another_group(reference("example.org/v1", "ConfigMap", "default", "web"), None)]
    #[case::in_another_namespace(reference("v1", "ConfigMap", "a", "web"), None)]
    #[case::of_another_name(reference("v1", "ConfigMap", "default", "db"), None)]
    #[case::without_version(reference("a/b/c", "ConfigMap", "default", "web"), Some(1))]
    fn applied_objects_are_found_by_group_kind_namespace_and_name(
        #[case] wanted: ObjectReference,
        #[case] found: Option<usize>,
    ) {
        let (known, equivalences) = (known(), Equivalences::new(&[]));
        let mut applied = AppliedObjects::new(&known, &equivalences);
        assert_eq!(applied.look_up(&wanted), found.map(|index| &known[index]));
        let not_looked_up: BTreeSet<String> = applied.not_looked_up().map(ObjectReference::key).collect();
        let rest = known.iter().enumerate().filter(|(index, _)| Some(*index) != found);
        assert_eq!(not_looked_up, rest.map(|(_, reference)| reference.key()).collect());
    }

    #[test]
    fn of_two_references_to_one_object_the_last_counts() {
        let old = reference("apps/v1beta1", "Deployment", "", "web");
        let known = [old, reference("apps/v1", "Deployment", "default", "web")];
        let equivalences = Equivalences::none();
        let mut applied = AppliedObjects::new(&known, &equivalences);
        assert_eq!(applied.look_up(&known[0]), Some(&known[1]));
        assert_eq!(applied.not_looked_up().count(), 0);
    }
}
