//! The graph that readers and writers share: a reader takes the current one and never waits.

use std::sync::Arc;

use arc_swap::ArcSwap;
use parking_lot::Mutex;

use super::Graph;

/// A graph that changes under its readers' feet, but never in their hands.
#[derive(Debug, Default)]
pub struct SharedGraph {
    current: ArcSwap<Graph>,
    writing: Mutex<()>,
}

impl SharedGraph {
    /// The graph as it is now; it stays as it is.
    #[must_use]
    pub fn current(&self) -> Arc<Graph> {
        self.current.load_full()
    }

    /// Changes the graph; readers see all of the change or nothing of it. Writers wait for each other.
    pub fn change<T>(&self, change: impl FnOnce(&mut Graph) -> T) -> T {
        let _writing = self.writing.lock();
        let mut graph = Graph::clone(&self.current.load());
        let result = change(&mut graph);
        self.current.store(Arc::new(graph));
        result
    }
}
