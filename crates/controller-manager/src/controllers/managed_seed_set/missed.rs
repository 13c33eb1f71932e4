//! Reasons to wait that ended before the store had the status with the pending replica. GCM-MSS-003.

use api::garden::{ManagedSeedSet, Shoot};
use kube::ResourceExt as _;

use super::plan::reason;
use super::triggers::{ends_pending, is_prepared};
use super::{Reconciler, Work};

impl Reconciler {
    /// Whether the replica that is pending by a status is no longer, though no trigger knew that it was. A Shoot that is
    /// tried again has failed until its status changes.
    pub(super) fn has_missed_end(&self, set: &ManagedSeedSet, work: &Work) -> bool {
        let Some(pending) = &work.status.pending_replica else { return false };
        let namespace = set.namespace().unwrap_or_default();
        let shoot = self.shoots.get(&namespace, &pending.name);
        let managed_seed = self.managed_seeds.get(&namespace, &pending.name);
        match &*pending.reason {
            reason::MANAGED_SEED_PREPARING => managed_seed.is_none_or(|found| is_prepared(&found)),
            reason::MANAGED_SEED_DELETING => managed_seed.is_none(),
            reason::SHOOT_DELETING if shoot.is_none() => true,
            reason => shoot.is_some_and(|shoot| {
                let replica = work.replicas.iter().find(|replica| replica.name() == pending.name);
                let is_known = |known: &Shoot| ends_pending(known, reason) && known.status == shoot.status;
                ends_pending(&shoot, reason) && !replica.is_some_and(|replica| is_known(&replica.shoot))
            }),
        }
    }
}
