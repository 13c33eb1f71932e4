//! What a Project adds: it leads to its Namespace.

use api::garden::Project;

use super::{Contributes, Contribution, Edge, VertexKind};

impl Contributes for Project {
    const VERTEX_KIND: VertexKind = VertexKind::Project;

    fn contribution(&self) -> Contribution {
        let namespace = self.spec.namespace.iter();
        let ends = namespace.map(|namespace| VertexKind::Namespace.named(namespace));
        Contribution::of(ends.map(|end| Edge::new(self.vertex(), &end)))
    }
}
