//! A map that evicts the least recently used entry.

use std::collections::BTreeMap;

/// Keeps at most `most` entries.
#[derive(Debug)]
pub(super) struct Recent<V> {
    most: usize,
    entries: BTreeMap<String, (u64, V)>,
    /// Keys by last use.
    uses: BTreeMap<u64, String>,
    used: u64,
}

impl<V> Recent<V> {
    pub(super) fn new(most: usize) -> Self {
        Self { most, entries: BTreeMap::new(), uses: BTreeMap::new(), used: 0 }
    }

    /// The value of a key; `make` creates it if missing.
    pub(super) fn entry(&mut self, key: String, make: impl FnOnce() -> V) -> &mut V {
        self.used += 1;
        if let Some((used, _)) = self.entries.get(&key) {
            self.uses.remove(used);
        } else if self.entries.len() >= self.most
            && let Some((_, oldest)) = self.uses.pop_first()
        {
            self.entries.remove(&oldest);
        }
        self.uses.insert(self.used, key.clone());
        let entry = self.entries.entry(key).or_insert_with(|| (0, make()));
        entry.0 = self.used;
        &mut entry.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_used_for_longest_is_forgotten() {
        let mut recent = Recent::new(2);
        *recent.entry("a".to_owned(), || 0) += 1;
        *recent.entry("b".to_owned(), || 0) += 1;
        *recent.entry("a".to_owned(), || 0) += 1;
        *recent.entry("c".to_owned(), || 0) += 1;
        assert_eq!(*recent.entry("a".to_owned(), || 0), 2);
        assert_eq!(*recent.entry("b".to_owned(), || 0), 0);
        assert_eq!(recent.entries.len(), 2);
    }
}
