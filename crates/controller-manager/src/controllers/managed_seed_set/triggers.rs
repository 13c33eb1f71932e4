//! Which changes of Shoots, ManagedSeeds and Seeds concern their ManagedSeedSets. GCM-MSS-003, GCM-MSS-004.

use std::sync::Arc;

use api::garden::{ManagedSeed, ManagedSeedSet, Seed, Shoot};
use controller::{Event, Request, Store};
use kube::{Resource, ResourceExt as _};

use super::plan::reason;
use super::replica::{has_failed, has_failed_to_be_deleted, has_reconciled, is_ready, is_registered};
use crate::controllers::GARDEN_NAMESPACE;
use crate::controllers::shoot_health::Health;

/// A Shoot matters when its deletion begins or its health changes, and when it ends what its replica is pending for.
pub(super) fn shoot(sets: &Store<ManagedSeedSet>) -> impl Fn(&Event<Shoot>) -> bool + Send + Sync + use<> {
    let sets = sets.clone();
    move |event| {
        let new = event.object();
        let pending = pending_reason(&sets, &**new);
        let ends = pending.as_deref().is_some_and(|reason| ends_pending(new, reason));
        match event {
            Event::Create(_) => ends,
            Event::Update { old, .. } => is_marked_anew(&**old, &**new) || health(old) != health(new) || ends,
            Event::Delete(_) => ends || pending.as_deref() == Some(reason::SHOOT_DELETING),
            Event::Generic(_) => false,
        }
    }
}

/// Whether a Shoot has come to the end of what its replica is pending for.
pub(super) fn ends_pending(shoot: &Shoot, pending: &str) -> bool {
    match pending {
        reason::SHOOT_RECONCILING => {
            has_failed(shoot) || has_reconciled(shoot) || shoot.metadata.deletion_timestamp.is_some()
        }
        reason::SHOOT_DELETING => has_failed_to_be_deleted(shoot),
        reason::SHOOT_RECONCILE_FAILED => !has_failed(shoot),
        reason::SHOOT_DELETE_FAILED => !has_failed_to_be_deleted(shoot),
        reason::SHOOT_NOT_HEALTHY => Health::labelled(shoot) == Health::Healthy,
        _ => false,
    }
}

fn health(shoot: &Arc<Shoot>) -> Health {
    Health::labelled(shoot)
}

/// A ManagedSeed matters when its deletion begins, and when it ends what its replica is pending for.
pub(super) fn managed_seed(
    sets: &Store<ManagedSeedSet>,
) -> impl Fn(&Event<ManagedSeed>) -> bool + Send + Sync + use<> {
    let sets = sets.clone();
    move |event| {
        let new = event.object();
        let pending = pending_reason(&sets, &**new);
        let pending = pending.as_deref();
        let ends = pending == Some(reason::MANAGED_SEED_PREPARING) && is_prepared(new);
        match event {
            Event::Create(_) => ends,
            Event::Update { old, .. } => is_marked_anew(&**old, &**new) || ends,
            Event::Delete(_) => ends || pending == Some(reason::MANAGED_SEED_DELETING),
            Event::Generic(_) => false,
        }
    }
}

/// Whether there is no more to wait for until a ManagedSeed is registered.
pub(super) fn is_prepared(managed_seed: &ManagedSeed) -> bool {
    is_registered(managed_seed) || managed_seed.metadata.deletion_timestamp.is_some()
}

fn is_marked_anew(old: &impl Resource, new: &impl Resource) -> bool {
    old.meta().deletion_timestamp != new.meta().deletion_timestamp
}

/// Why the replica of an object is pending, if it is that of its set.
fn pending_reason(sets: &Store<ManagedSeedSet>, object: &impl Resource) -> Option<String> {
    let set = set_of(sets, object)?;
    let pending = set.status.pending_replica.as_ref()?;
    (pending.name == object.name_any()).then(|| pending.reason.clone())
}

/// The set that owns an object.
fn set_of(sets: &Store<ManagedSeedSet>, object: &impl Resource) -> Option<Arc<ManagedSeedSet>> {
    let owner = object.owner_references().iter().find(|owner| owner.controller == Some(true))?;
    sets.get(&object.namespace().unwrap_or_default(), &owner.name)
}

/// A Seed matters when it becomes ready, or ceases to be.
pub(super) fn seed(event: &Event<Seed>) -> bool {
    event.old().is_some_and(|old| is_ready(old) != is_ready(event.object()))
}

/// The set of a Seed that a ManagedSeed of the garden's namespace registers.
pub(super) fn set_of_seed(
    managed_seeds: &Store<ManagedSeed>,
    sets: &Store<ManagedSeedSet>,
) -> impl Fn(&Seed) -> Option<Request> + Send + Sync + use<> {
    let (managed_seeds, sets) = (managed_seeds.clone(), sets.clone());
    move |seed| {
        let managed_seed = managed_seeds.get(GARDEN_NAMESPACE, &seed.name_any())?;
        set_of(&sets, &*managed_seed).map(|set| Request::of(&*set))
    }
}
