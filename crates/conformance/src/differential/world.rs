//! Writes a world to a cluster before its requests, and removes it afterwards.

use serde_json::{Value, json};
use substrate::cluster::{Cluster, ClusterError, resource};
use substrate::facts::{self, Before};

use super::input::World;

/// Prefix of generated names.
pub(super) const PREFIX: &str = "diff-";

/// A world that is written to a cluster.
pub(super) struct WrittenWorld {
    /// The world without the facts that the server refused.
    pub(super) world: World,
    written: Vec<Value>,
    namespaces: Vec<(String, Before)>,
}

impl WrittenWorld {
    /// Writes a world.
    ///
    /// # Errors
    /// If the server cannot be reached. Objects that it refuses are left out.
    pub(super) async fn write(cluster: &Cluster, mut world: World) -> Result<Self, ClusterError> {
        let facts = std::mem::take(&mut world.cluster);
        let home = world.name.clone();
        let namespace = world.namespace.take();
        let mut written_world = Self { world, written: Vec::new(), namespaces: Vec::new() };
        if let Some(object) = namespace {
            if written_world.namespace(cluster, &home, Some(&object)).await? {
                written_world.world.namespace = Some(object);
            } else {
                written_world.namespace(cluster, &home, None).await?;
            }
        }
        for fact in facts {
            if written_world.fact(cluster, &fact).await? {
                written_world.world.cluster.push(fact);
            }
        }
        Ok(written_world)
    }

    /// A world that is not written.
    pub(super) fn unwritten(world: World) -> Self {
        Self { world, written: Vec::new(), namespaces: Vec::new() }
    }

    /// Removes one fact.
    pub(super) async fn take(&mut self, cluster: &Cluster, at: usize) -> Result<Value, ClusterError> {
        let fact = self.world.cluster.remove(at);
        facts::remove(cluster, &fact).await?;
        Ok(fact)
    }

    /// Writes a removed fact again.
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

    /// Takes everything but the name from the namespace of the requests, if its name is a generated one; returns what it was.
    pub(super) async fn strip_namespace(&mut self, cluster: &Cluster) -> Result<Option<Value>, ClusterError> {
        if !self.world.name.starts_with(PREFIX) {
            return Ok(None);
        }
        let Some(object) = self.world.namespace.take() else { return Ok(None) };
        accepted(facts::write_namespace(cluster, &self.world.name, Some(&json!({}))).await)?;
        Ok(Some(object))
    }

    /// Gives the namespace of the requests back what it was.
    pub(super) async fn dress_namespace(
        &mut self,
        cluster: &Cluster,
        object: Value,
    ) -> Result<(), ClusterError> {
        accepted(facts::write_namespace(cluster, &self.world.name, Some(&object)).await)?;
        self.world.namespace = Some(object);
        Ok(())
    }

    /// Removes all written objects.
    ///
    /// # Errors
    /// If the server cannot be reached or an object remains.
    pub(super) async fn remove(self, cluster: &Cluster) -> Result<(), ClusterError> {
        for written in self.written.iter().rev() {
            facts::remove(cluster, written).await?;
        }
        for (name, before) in self.namespaces.iter().rev() {
            // No other run uses a generated name.
            let wait = !name.starts_with(PREFIX);
            facts::restore_namespace(cluster, name, before, wait).await?;
        }
        Ok(())
    }

    /// Writes a fact; false if the server refused it.
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
        // A fact that is refused halfway may exist nevertheless.
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
