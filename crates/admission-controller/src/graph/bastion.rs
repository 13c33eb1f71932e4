//! What a Bastion adds: it leads to its Seed.

use api::garden::Bastion;

use super::{Contributes, Contribution, Edge, VertexKind};

impl Contributes for Bastion {
    const VERTEX_KIND: VertexKind = VertexKind::Bastion;

    fn contribution(&self) -> Contribution {
        let seed = self.spec.seed_name.iter();
        Contribution::of(seed.map(|seed| Edge::new(self.vertex(), &VertexKind::Seed.named(seed))))
    }
}
