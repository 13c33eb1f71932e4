//! What a BackupEntry adds: its bucket leads to it, and it leads to its Seeds and to its Shoot.

use api::garden::BackupEntry;

use super::{Contributes, Contribution, Edge, VertexKind};
use crate::webhooks::seed_restriction::owning_shoot;

impl Contributes for BackupEntry {
    const VERTEX_KIND: VertexKind = VertexKind::BackupEntry;

    fn contribution(&self) -> Contribution {
        let own = self.vertex();
        let bucket = Edge::new(VertexKind::BackupBucket.named(&self.spec.bucket_name), &own);
        // During a migration, there are two seeds.
        let seeds = [&self.spec.seed_name, &self.status.seed_name].into_iter().flatten();
        let seeds = seeds.map(|seed| VertexKind::Seed.named(seed));
        let shoot = owning_shoot(&self.metadata);
        let shoot = (!shoot.is_empty()).then(|| VertexKind::Shoot.in_namespace(&own.namespace, shoot));
        let ends = seeds.chain(shoot).map(|end| Edge::new(own.clone(), &end));
        Contribution::of(ends.chain([bucket]))
    }
}
