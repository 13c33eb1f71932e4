//! The objects that were applied before, looked up for those that are wanted now.

use std::collections::{BTreeMap, BTreeSet};

use super::ObjectReference;
use super::equivalence::Equivalences;
use super::reference;

/// What `status.resources` knows. Objects that nobody looks up are to go.
#[derive(Clone, Debug)]
pub struct Applied<'a> {
    references: BTreeMap<String, &'a ObjectReference>,
    found: BTreeSet<String>,
    equivalences: &'a Equivalences,
}

impl<'a> Applied<'a> {
    /// Of two references with one key the last counts.
    #[must_use]
    pub fn new(references: &'a [ObjectReference], equivalences: &'a Equivalences) -> Self {
        let references = references.iter().map(|reference| (reference.key(), reference)).collect();
        Self { references, found: BTreeSet::new(), equivalences }
    }

    /// How this object, or the same object under an equivalent kind, was applied before.
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

    /// What nobody looked up, by key.
    pub fn unfound(&self) -> impl Iterator<Item = &'a ObjectReference> {
        self.references.iter().filter(|(key, _)| !self.found.contains(*key)).map(|(_, reference)| *reference)
    }
}
