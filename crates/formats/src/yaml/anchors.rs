//! Targets of anchors, and a limit on the nodes built from aliases, because aliases of aliases grow exponentially.

use std::collections::BTreeMap;

use super::{Error, Mark, fail};

/// Maximum number of nodes.
const LIMIT: usize = 2_000_000;

/// The anchors of one document, each with its target and the size of the target.
pub(super) struct Anchors<T> {
    targets: BTreeMap<usize, (T, usize)>,
    built: usize,
    /// Error message for exceeding the limit.
    excess: &'static str,
}

impl<T: Clone> Anchors<T> {
    pub(super) fn new(excess: &'static str) -> Self {
        Self { targets: BTreeMap::new(), built: 0, excess }
    }

    /// Number of nodes built so far.
    pub(super) fn built(&self) -> usize {
        self.built
    }

    /// Counts `size` more nodes.
    pub(super) fn count(&mut self, size: usize, at: Mark) -> Result<(), Error> {
        self.built += size;
        if self.built > LIMIT { Err(fail(self.excess, at)) } else { Ok(()) }
    }

    /// Stores the target of an anchor; anchor 0 means that there is none.
    pub(super) fn keep(&mut self, anchor: usize, value: impl FnOnce() -> T, size: usize) {
        if anchor != 0 {
            self.targets.insert(anchor, (value(), size));
        }
    }

    /// The target of an anchor; `None` while it is incomplete.
    pub(super) fn target(&self, anchor: usize) -> Option<&T> {
        self.targets.get(&anchor).map(|(value, _)| value)
    }

    /// Copies the target of an anchor and counts its size.
    pub(super) fn copy(&mut self, anchor: usize, at: Mark) -> Result<(T, usize), Error> {
        let inside = || fail("an alias inside its own anchor", at);
        let size = self.targets.get(&anchor).ok_or_else(inside)?.1;
        self.count(size, at)?;
        self.targets.get(&anchor).cloned().ok_or_else(inside)
    }

    /// Removes all anchors, at the beginning of another document.
    pub(super) fn forget(&mut self) {
        self.targets.clear();
    }
}
