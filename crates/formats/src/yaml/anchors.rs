//! What anchors stand for, and how much was built with them: aliases of aliases grow without bound.

use std::collections::BTreeMap;

use super::build::fail;
use super::{Error, Mark};

/// More than this is not built.
const LIMIT: usize = 2_000_000;

/// The anchors of one document, each with what it stands for and how much that is.
pub(super) struct Anchors<T> {
    known: BTreeMap<usize, (T, usize)>,
    built: usize,
    /// What is said where it becomes too much.
    excess: &'static str,
}

impl<T: Clone> Anchors<T> {
    pub(super) fn new(excess: &'static str) -> Self {
        Self { known: BTreeMap::new(), built: 0, excess }
    }

    /// How much was built up to now.
    pub(super) fn built(&self) -> usize {
        self.built
    }

    /// Takes note that so much more is built.
    pub(super) fn count(&mut self, size: usize, at: Mark) -> Result<(), Error> {
        self.built += size;
        if self.built > LIMIT { Err(fail(self.excess, at)) } else { Ok(()) }
    }

    /// Keeps what an anchor stands for; 0 is none.
    pub(super) fn keep(&mut self, anchor: usize, value: impl FnOnce() -> T, size: usize) {
        if anchor != 0 {
            self.known.insert(anchor, (value(), size));
        }
    }

    /// What an anchor stands for; absent where it is not closed yet.
    pub(super) fn known(&self, anchor: usize) -> Option<&T> {
        self.known.get(&anchor).map(|(value, _)| value)
    }

    /// A copy of what an anchor stands for, and how much it is, which counts.
    pub(super) fn copy(&mut self, anchor: usize, at: Mark) -> Result<(T, usize), Error> {
        let inside = || fail("an alias inside its own anchor", at);
        let size = self.known.get(&anchor).ok_or_else(inside)?.1;
        self.count(size, at)?;
        self.known.get(&anchor).cloned().ok_or_else(inside)
    }

    /// Another document has anchors of its own.
    pub(super) fn forget(&mut self) {
        self.known.clear();
    }
}
