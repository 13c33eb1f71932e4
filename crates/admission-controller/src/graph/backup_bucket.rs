//! What a BackupBucket adds: its Secrets lead to it, and it leads to its Seed.

use api::garden::BackupBucket;

use super::secret_binding::secret;
use super::{Contributes, Contribution, Edge, VertexKind};

impl Contributes for BackupBucket {
    const VERTEX_KIND: VertexKind = VertexKind::BackupBucket;

    fn contribution(&self) -> Contribution {
        let own = self.vertex();
        let secrets = [&self.spec.secret_ref].into_iter().chain(&self.status.generated_secret_ref);
        let secrets = secrets.map(|reference| Edge::new(secret(reference), &own));
        let seed = self.spec.seed_name.iter();
        let seed = seed.map(|seed| Edge::new(own.clone(), &VertexKind::Seed.named(seed)));
        Contribution::of(secrets.chain(seed))
    }
}
