//! A world in a cluster: written before its requests, taken away after them.

use serde_json::Value;
use substrate::cluster::{Cluster, ClusterError, resource};
use substrate::facts::{self, Before};

use super::input::World;

/// Begin of the names that are made up.
pub(super) const PREFIX: &str = "diff-";

/// A world that stands.
pub(super) struct Standing {
    /// What stands: facts that the server refused are left out.
    pub(super) world: World,
    written: Vec<Value>,
    namespaces: Vec<(String, Before)>,
}

impl Standing {
    /// Writes a world.
    ///
    /// # Errors
    /// When the server cannot be asked; what it refuses is not there.
    pub(super) async fn write(cluster: &Cluster, mut world: World) -> Result<Self, ClusterError> {
        let facts = std::mem::take(&mut world.cluster);
        let home = world.name.clone();
        let namespace = world.namespace.take();
        let mut standing = Self { world, written: Vec::new(), namespaces: Vec::new() };
        if let Some(object) = namespace {
            if standing.namespace(cluster, &home, Some(&object)).await? {
                standing.world.namespace = Some(object);
            } else {
                standing.namespace(cluster, &home, None).await?;
            }
        }
        for fact in facts {
            if standing.fact(cluster, &fact).await? {
                standing.world.cluster.push(fact);
            }
        }
        Ok(standing)
    }

    /// A world of which nothing is written.
    pub(super) fn unwritten(world: World) -> Self {
        Self { world, written: Vec::new(), namespaces: Vec::new() }
    }

    /// Takes one fact away.
    pub(super) async fn take(&mut self, cluster: &Cluster, at: usize) -> Result<Value, ClusterError> {
        let fact = self.world.cluster.remove(at);
        facts::remove(cluster, &fact).await?;
        Ok(fact)
    }

    /// Writes a fact again that was taken away.
    pub(super) async fn put_back(
        &mut self,
        cluster: &Cluster,
        at: usize,
        fact: Value,
    ) -> Result<(), ClusterError> {
        accepted(facts::write(cluster, &fact).await)?;
        self.world.cluster.insert(at, fact);
        Ok(())
    }

    /// Takes away what was written.
    ///
    /// # Errors
    /// When the server cannot be asked or keeps something.
    pub(super) async fn remove(self, cluster: &Cluster) -> Result<(), ClusterError> {
        for written in self.written.iter().rev() {
            facts::remove(cluster, written).await?;
        }
        for (name, before) in self.namespaces.iter().rev() {
            // Nobody else will want a name that was made up.
            let wait = !name.starts_with(PREFIX);
            facts::restore_namespace(cluster, name, before, wait).await?;
        }
        Ok(())
    }

    /// Whether a fact could be written.
    async fn fact(&mut self, cluster: &Cluster, fact: &Value) -> Result<bool, ClusterError> {
        if resource(fact).is_err() {
            return Ok(false);
        }
        let metadata = |field: &str| fact["metadata"][field].as_str().map(str::to_owned);
        if let Some(other) = metadata("namespace").filter(|other| *other != self.world.name) {
            self.namespace(cluster, &other, None).await?;
        }
        if fact["apiVersion"] == "v1" && fact["kind"] == "Namespace" && !facts::is_deleting(fact) {
            return self.namespace(cluster, &metadata("name").unwrap_or_default(), Some(fact)).await;
        }
        let written = accepted(facts::write(cluster, fact).await)?;
        // One that is refused in the middle of its writing is there all the same.
        self.written.push(fact.clone());
        Ok(written.is_some())
    }

    async fn namespace(
        &mut self,
        cluster: &Cluster,
        name: &str,
        object: Option<&Value>,
    ) -> Result<bool, ClusterError> {
        let before = accepted(facts::write_namespace(cluster, name, object).await)?;
        let is_there = before.is_some();
        self.namespaces.extend(before.map(|before| (name.to_owned(), before)));
        Ok(is_there)
    }
}

fn accepted<T>(result: Result<T, ClusterError>) -> Result<Option<T>, ClusterError> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(ClusterError::Refused { .. } | ClusterError::Kind { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
