//! What a SecretBinding adds: its Secret leads to it.

use api::garden::SecretBinding;
use api::garden::reference::SecretReference;

use super::{Contributes, Contribution, Edge, Vertex, VertexKind};

impl Contributes for SecretBinding {
    const VERTEX_KIND: VertexKind = VertexKind::SecretBinding;

    fn contribution(&self) -> Contribution {
        Contribution::of([Edge::new(secret(&self.secret_ref), &self.vertex())])
    }
}

/// The Secret of a reference.
pub(super) fn secret(reference: &SecretReference) -> Vertex {
    VertexKind::Secret.in_namespace(
        reference.namespace.as_deref().unwrap_or_default(),
        reference.name.as_deref().unwrap_or_default(),
    )
}
