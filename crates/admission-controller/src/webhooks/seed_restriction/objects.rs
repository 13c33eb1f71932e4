//! The objects of the garden that decide about requests.

use std::sync::Arc;

use api::garden::{BackupBucket, BackupEntry, ManagedSeed, Seed, Shoot};

/// The objects of the garden, in their current state.
pub trait GardenObjects {
    /// The BackupBucket of this name.
    fn backup_bucket(&self, name: &str) -> Option<Arc<BackupBucket>>;
    /// The BackupEntry of this namespace and name.
    fn backup_entry(&self, namespace: &str, name: &str) -> Option<Arc<BackupEntry>>;
    /// The ManagedSeed of this namespace and name.
    fn managed_seed(&self, namespace: &str, name: &str) -> Option<Arc<ManagedSeed>>;
    /// All ManagedSeeds, in order.
    fn managed_seeds(&self) -> Vec<Arc<ManagedSeed>>;
    /// The Seed of this name.
    fn seed(&self, name: &str) -> Option<Arc<Seed>>;
    /// The Shoot of this namespace and name.
    fn shoot(&self, namespace: &str, name: &str) -> Option<Arc<Shoot>>;
}

/// An object that is not there, in the words of the original's cache.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}.{group} {name:?} not found")]
pub(super) struct Missing {
    kind: &'static str,
    group: &'static str,
    name: String,
}

impl dyn GardenObjects + '_ {
    pub(super) fn find_backup_bucket(&self, name: &str) -> Result<Arc<BackupBucket>, Missing> {
        self.backup_bucket(name).ok_or_else(|| missing("BackupBucket", api::garden::GROUP, name))
    }

    pub(super) fn find_backup_entry(&self, namespace: &str, name: &str) -> Result<Arc<BackupEntry>, Missing> {
        self.backup_entry(namespace, name).ok_or_else(|| missing("BackupEntry", api::garden::GROUP, name))
    }

    pub(super) fn find_managed_seed(&self, namespace: &str, name: &str) -> Result<Arc<ManagedSeed>, Missing> {
        let group = api::garden::seed_management::GROUP;
        self.managed_seed(namespace, name).ok_or_else(|| missing("ManagedSeed", group, name))
    }

    pub(super) fn find_seed(&self, name: &str) -> Result<Arc<Seed>, Missing> {
        self.seed(name).ok_or_else(|| missing("Seed", api::garden::GROUP, name))
    }

    pub(super) fn find_shoot(&self, namespace: &str, name: &str) -> Result<Arc<Shoot>, Missing> {
        self.shoot(namespace, name).ok_or_else(|| missing("Shoot", api::garden::GROUP, name))
    }

    /// The Shoot that a ManagedSeed is; one that names none is like one whose Shoot is missing.
    pub(super) fn shoot_of(&self, managed_seed: &ManagedSeed) -> Result<Arc<Shoot>, Missing> {
        let namespace = managed_seed.metadata.namespace.as_deref().unwrap_or_default();
        let name = managed_seed.spec.shoot.as_ref().map_or("", |shoot| shoot.name.as_str());
        self.find_shoot(namespace, name)
    }
}

fn missing(kind: &'static str, group: &'static str, name: &str) -> Missing {
    Missing { kind, group, name: name.to_owned() }
}
