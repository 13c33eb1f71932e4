//! A whole cluster as the place of a run: nodes, controllers, and a target that runs inside.

use std::path::Path;

use async_trait::async_trait;
use substrate::envtest::Cluster;

/// A whole cluster in which a target runs.
pub struct Whole {
    /// How its API server is reached.
    pub cluster: Cluster,
    /// In a word, as reports name it: `kind`.
    pub name: String,
    /// In a sentence: `one node with Kubernetes v1.36.3, ready in 21.3 s`.
    pub description: String,
    /// Kept as long as cases run.
    pub guard: Box<dyn Guard>,
}

/// Whoever started a cluster. Dropping it ends what was started.
#[async_trait]
pub trait Guard: Send + Sync {
    /// Collects what may tell why a run failed: objects, events, logs.
    async fn collect(&self, into: &Path);
}
