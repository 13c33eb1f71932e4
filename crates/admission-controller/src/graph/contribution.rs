//! What one object adds to the graph.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use k8s_openapi::Metadata;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::vertex::{Edge, Vertex, VertexKind};

/// A kind whose objects add edges.
pub trait Contributes: Metadata<Ty = ObjectMeta> {
    /// The kind.
    const VERTEX_KIND: VertexKind;

    /// What this object adds; it depends on nothing else.
    fn contribution(&self) -> Contribution;

    /// Its vertex.
    fn vertex(&self) -> Vertex {
        let metadata = self.metadata();
        Self::VERTEX_KIND.in_namespace(
            metadata.namespace.as_deref().unwrap_or_default(),
            metadata.name.as_deref().unwrap_or_default(),
        )
    }
}

/// What one object adds to the graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contribution {
    /// Its edges.
    pub edges: BTreeSet<Edge>,
    /// Edges that it has while another object allows it.
    pub bootstrap: Option<Bootstrap>,
    /// What it says about the Seed of its name.
    pub registration: Option<Registration>,
}

/// Edges by which the gardenlet of a ManagedSeed gets its first credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bootstrap {
    /// Name of the Seed that it will register.
    pub seed: Arc<str>,
    /// Whether it shall get new credentials though the Seed is registered.
    pub renews: bool,
    /// The edges.
    pub edges: BTreeSet<Edge>,
}

/// A registered Seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registration {
    /// When the certificate of its gardenlet expires.
    pub expiry: Option<Timestamp>,
}

impl Contribution {
    /// The edges, and nothing that depends on others.
    #[must_use]
    pub fn of(edges: impl IntoIterator<Item = Edge>) -> Self {
        Self { edges: edges.into_iter().collect(), ..Self::default() }
    }
}

impl Bootstrap {
    /// Its edges, given the registration of its Seed: a gardenlet without a valid certificate may get one.
    #[must_use]
    pub fn edges(&self, registration: Option<Registration>) -> BTreeSet<Edge> {
        match registration.filter(|_| !self.renews) {
            None => self.edges.clone(),
            Some(Registration { expiry: None }) => BTreeSet::new(),
            Some(Registration { expiry }) => {
                self.edges.iter().map(|edge| Edge { after: expiry, ..edge.clone() }).collect()
            }
        }
    }
}
