//! A replica of a ManagedSeedSet, and how far it is.

use std::sync::Arc;

use api::garden::{ManagedSeed, Seed, Shoot};
use formats::selector::LabelSelector;
use kube::{Resource, ResourceExt as _};

use crate::controllers::conditions::{
    self, BACKUP_BUCKETS_READY, GARDENLET_READY, SYSTEM_COMPONENTS_HEALTHY,
};
use crate::controllers::shoot_health::Health;
use crate::controllers::shoot_retry::is_observed;

/// Annotation of a Shoot or ManagedSeed that must not be deleted.
const PROTECTED: &str = "seedmanagement.gardener.cloud/protect-from-deletion";

/// How far a replica is, from least to most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    ShootReconcileFailed,
    ShootDeleteFailed,
    ShootReconciling,
    ShootDeleting,
    ShootReconciled,
    ManagedSeedPreparing,
    ManagedSeedDeleting,
    ManagedSeedRegistered,
}

/// A Shoot, with the ManagedSeed and the Seed of its name.
#[derive(Clone, Debug)]
pub(super) struct Replica {
    pub(super) shoot: Arc<Shoot>,
    pub(super) managed_seed: Option<Arc<ManagedSeed>>,
    pub(super) seed: Option<Arc<Seed>>,
    /// Whether control planes run in the Seed.
    pub(super) has_scheduled_shoots: bool,
}

/// The replicas that a selector selects, by ascending ordinals; of a Seed that it does not select nothing is known.
pub(super) fn all(
    selector: &LabelSelector,
    shoots: Vec<Arc<Shoot>>,
    managed_seeds: &[Arc<ManagedSeed>],
    seeds: &[Arc<Seed>],
) -> Vec<Replica> {
    let shoots = shoots.into_iter().filter(|shoot| selector.matches(shoot.labels()));
    let replicas = shoots.map(|shoot| {
        let name = shoot.name_any();
        let managed_seed = named(managed_seeds, &name, selector);
        let seed = named(seeds, &name, selector);
        Replica { shoot, managed_seed, seed, has_scheduled_shoots: false }
    });
    let mut replicas: Vec<Replica> = replicas.collect();
    replicas.sort_by_key(Replica::ordinal);
    replicas
}

fn named<K: Resource>(objects: &[Arc<K>], name: &str, selector: &LabelSelector) -> Option<Arc<K>> {
    let mut objects = objects.iter();
    let found = objects.find(|object| object.name_any() == name && selector.matches(object.labels()));
    found.cloned()
}

impl Replica {
    pub(super) fn name(&self) -> String {
        self.shoot.name_any()
    }

    /// `namespace/name`.
    pub(super) fn full_name(&self) -> String {
        format!("{}/{}", self.shoot.namespace().unwrap_or_default(), self.shoot.name_any())
    }

    /// The number at the end of its name; −1 if there is none.
    pub(super) fn ordinal(&self) -> i32 {
        let name = self.shoot.name_any();
        let digits = name.rsplit_once('-').map_or("", |(_, digits)| digits);
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        if is_number { digits.parse().unwrap_or(-1) } else { -1 }
    }

    pub(super) fn stage(&self) -> Stage {
        let shoot = &self.shoot;
        let Some(managed_seed) = &self.managed_seed else {
            return match shoot {
                shoot if has_reconciled(shoot) => Stage::ShootReconciled,
                shoot if has_failed(shoot) => Stage::ShootReconcileFailed,
                shoot if has_failed_to_be_deleted(shoot) => Stage::ShootDeleteFailed,
                shoot if shoot.metadata.deletion_timestamp.is_none() => Stage::ShootReconciling,
                _ => Stage::ShootDeleting,
            };
        };
        if is_registered(managed_seed) {
            return Stage::ManagedSeedRegistered;
        }
        let is_deleted = managed_seed.metadata.deletion_timestamp.is_some();
        if is_deleted { Stage::ManagedSeedDeleting } else { Stage::ManagedSeedPreparing }
    }

    pub(super) fn is_seed_ready(&self) -> bool {
        self.seed.as_deref().is_some_and(is_ready)
    }

    pub(super) fn health(&self) -> Health {
        Health::labelled(&self.shoot)
    }

    /// GCM-MSS-031.
    pub(super) fn is_ready(&self) -> bool {
        self.stage() == Stage::ManagedSeedRegistered
            && self.is_seed_ready()
            && self.health() == Health::Healthy
    }

    /// GCM-MSS-023.
    pub(super) fn is_deletable(&self) -> bool {
        let is_kept = self.managed_seed.as_ref().is_some_and(|managed_seed| is_protected(&**managed_seed));
        !self.has_scheduled_shoots && !is_protected(&*self.shoot) && !is_kept
    }

    /// The lower, the sooner it is deleted. GCM-MSS-022.
    pub(super) fn priority(&self) -> (Stage, bool, Health, i32) {
        (self.stage(), self.is_seed_ready(), self.health(), self.ordinal())
    }
}

fn is_protected(object: &impl Resource) -> bool {
    object.annotations().get(PROTECTED).is_some_and(|value| value == "true")
}

/// Type and state of the last operation, if it is about the Shoot as it is now.
fn last_operation(shoot: &Shoot) -> Option<(&str, &str)> {
    let operation = shoot.status.last_operation.as_ref().filter(|_| is_observed(shoot))?;
    Some((operation.type_.as_str(), operation.state.as_str()))
}

pub(super) fn has_reconciled(shoot: &Shoot) -> bool {
    shoot.metadata.deletion_timestamp.is_none()
        && matches!(last_operation(shoot), Some(("Create" | "Reconcile", "Succeeded")))
}

pub(super) fn has_failed(shoot: &Shoot) -> bool {
    shoot.metadata.deletion_timestamp.is_none()
        && matches!(last_operation(shoot), Some(("Create" | "Reconcile", "Failed")))
}

pub(super) fn has_failed_to_be_deleted(shoot: &Shoot) -> bool {
    shoot.metadata.deletion_timestamp.is_some() && last_operation(shoot) == Some(("Delete", "Failed"))
}

pub(super) fn is_registered(managed_seed: &ManagedSeed) -> bool {
    let metadata = &managed_seed.metadata;
    metadata.generation.unwrap_or_default() == managed_seed.status.observed_generation.unwrap_or_default()
        && metadata.deletion_timestamp.is_none()
        && conditions::is_true(&managed_seed.status.conditions, "SeedRegistered")
}

/// A Seed without backup buckets has no condition about them.
pub(super) fn is_ready(seed: &Seed) -> bool {
    let known = &seed.status.conditions;
    seed.metadata.generation.unwrap_or_default() == seed.status.observed_generation.unwrap_or_default()
        && seed.metadata.deletion_timestamp.is_none()
        && conditions::is_true(known, GARDENLET_READY)
        && conditions::is_true(known, SYSTEM_COMPONENTS_HEALTHY)
        && conditions::find(known, BACKUP_BUCKETS_READY)
            .is_none_or(|condition| condition.status == conditions::TRUE)
}
