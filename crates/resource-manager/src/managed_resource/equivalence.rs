//! Kinds that follow each other for the same object, such as Ingress when it changed its group.

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

/// Sets of kinds that stand for each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Equivalences {
    sets: Vec<BTreeSet<GroupKind>>,
    /// The set that counts for a kind: the last list that names it decides.
    set_of: BTreeMap<GroupKind, usize>,
}

impl Equivalences {
    /// The ones everybody has, and those of a ManagedResource (`spec.equivalences`).
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

    /// None: every kind stands for itself alone.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// The kinds that stand for this one, itself among them; nothing where nobody named it.
    pub fn of(&self, kind: &GroupKind) -> impl Iterator<Item = &GroupKind> {
        self.set_of.get(kind).map(|set| &self.sets[*set]).into_iter().flatten()
    }

    /// The list joins the set of its first member that has one.
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
