//! Kinds that succeed each other for the same object, such as Ingress after its group changed.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use super::GroupKind;

/// Kind, old group, new group.
const DEFAULTS: [(&str, &str, &str); 7] = [
    ("Deployment", "extensions", "apps"),
    ("DaemonSet", "extensions", "apps"),
    ("ReplicaSet", "extensions", "apps"),
    ("StatefulSet", "extensions", "apps"),
    ("Ingress", "extensions", "networking.k8s.io"),
    ("NetworkPolicy", "extensions", "networking.k8s.io"),
    ("PodSecurityPolicy", "extensions", "policy"),
];

/// GRM-MR-048: sets of equivalent kinds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Equivalences {
    sets: Vec<BTreeSet<GroupKind>>,
    /// The index of a kind's set: the last list with the kind decides.
    set_of: BTreeMap<GroupKind, usize>,
}

impl Equivalences {
    /// The default sets, and those of a ManagedResource (`spec.equivalences`).
    #[must_use]
    pub fn new(more: &[Vec<GroupKind>]) -> Self {
        let mut equivalences = Self::default();
        for (kind, old, new) in DEFAULTS {
            let named = |group: &str| GroupKind { group: group.to_owned(), kind: kind.to_owned() };
            equivalences.add(&[named(old), named(new)]);
        }
        for list in more {
            equivalences.add(list);
        }
        equivalences
    }

    /// No equivalences.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// The kinds equivalent to this one, including itself; empty if it is in no set.
    pub fn of(&self, kind: &GroupKind) -> impl Iterator<Item = &GroupKind> {
        self.set_of.get(kind).map(|set| &self.sets[*set]).into_iter().flatten()
    }

    /// Adds a list to the set of its first member that has one.
    fn add(&mut self, list: &[GroupKind]) {
        let known = list.iter().find_map(|kind| self.set_of.get(kind).copied());
        let set = known.unwrap_or_else(|| {
            self.sets.push(BTreeSet::new());
            self.sets.len() - 1
        });
        for kind in list {
            self.sets[set].insert(kind.clone());
            self.set_of.insert(kind.clone(), set);
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn kinds(names: &[&str]) -> Vec<GroupKind> {
        let kind = |name: &&str| {
            let (kind, group) = name.split_once('.').unwrap_or((name, ""));
            GroupKind { group: group.to_owned(), kind: kind.to_owned() }
        };
        names.iter().map(kind).collect()
    }

    fn sorted(names: &[&str]) -> Vec<GroupKind> {
        let mut kinds = kinds(names);
        kinds.sort();
        kinds
    }

    #[rstest]
    #[case(&["Deployment.extensions", "Deployment.apps"])]
    #[case(&["DaemonSet.extensions", "DaemonSet.apps"])]
    #[case(&["ReplicaSet.extensions", "ReplicaSet.apps"])]
    #[case(&["StatefulSet.extensions", "StatefulSet.apps"])]
    #[case(&["Ingress.extensions", "Ingress.networking.k8s.io"])]
    #[case(&["NetworkPolicy.extensions", "NetworkPolicy.networking.k8s.io"])]
    #[case(&["PodSecurityPolicy.extensions", "PodSecurityPolicy.policy"])]
    fn default_sets_are_always_equivalent(#[case] set: &[&str]) {
        let equivalences = Equivalences::new(&[]);
        for kind in kinds(set) {
            assert_eq!(equivalences.of(&kind).cloned().collect::<Vec<_>>(), sorted(set), "{kind:?}");
        }
    }

    /// `spec.equivalences`, a kind, and its equivalents.
    #[rstest]
    #[case::unknown(&[], "ConfigMap", "")]
    #[case::of_one_group_only(&[], "Ingress.apps", "")]
    #[case::new(&["A.a B.b C"], "C", "A.a B.b C")]
    #[case::joins(
        &["Deployment.new Deployment.apps"],
        "Deployment.extensions",
        "Deployment.apps Deployment.extensions Deployment.new"
    )]
    #[case::joins_the_first_only(&["A.a A.b", "C.a C.b", "A.a C.a"], "A.b", "A.a A.b C.a")]
    #[case::the_last_list_counts(&["A.a A.b", "C.a C.b", "A.a C.a"], "C.a", "A.a A.b C.a")]
    #[case::who_is_not_named_stays(&["A.a A.b", "C.a C.b", "A.a C.a"], "C.b", "C.a C.b")]
    fn a_managed_resource_adds_equivalences(
        #[case] more: &[&str],
        #[case] asked: &str,
        #[case] wanted: &str,
    ) {
        let listed = |text: &str| kinds(&text.split_whitespace().collect::<Vec<_>>());
        let more: Vec<_> = more.iter().map(|list| listed(list)).collect();
        let equivalences = Equivalences::new(&more);
        let wanted: BTreeSet<_> = listed(wanted).into_iter().collect();
        assert_eq!(equivalences.of(&listed(asked)[0]).cloned().collect::<BTreeSet<_>>(), wanted);
    }

    #[test]
    fn without_equivalences_every_kind_is_on_its_own() {
        assert_eq!(Equivalences::none().of(&kinds(&["Deployment.apps"])[0]).count(), 0);
    }
}
