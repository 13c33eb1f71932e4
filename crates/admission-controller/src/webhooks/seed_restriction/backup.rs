//! BackupBuckets, BackupEntries, Bastions and ShootStates.

use api::garden::{BackupBucket, BackupEntry, Bastion};
use webhook::rejection::Rejection;
use webhook::review::Operation;

use super::{Restricted, forbidden, owning_shoot, unreadable};

/// Beginning of the name of a BackupEntry from which a Shoot is restored.
const SOURCE: &str = "source";
/// The prefix of the original's name.
const SOURCE_PREFIX: &str = "source-";

impl Restricted<'_> {
    /// A bucket is created for the client's seed, and deleted with it. ADM-SRE-005, ADM-SRE-006.
    pub(super) fn backup_bucket(&self) -> Result<(), Rejection> {
        match self.request.operation {
            Operation::Create => {
                let bucket: BackupBucket = self.object()?;
                self.check_seed([bucket.spec.seed_name.as_deref()])
            }
            Operation::Delete => {
                let seed = self.garden.find_seed(&self.client.seed);
                let seed = seed.map_err(|missing| unreadable(missing.to_string()))?;
                if seed.metadata.uid.as_deref().unwrap_or_default() == self.request.name {
                    return Ok(());
                }
                Err(forbidden("cannot delete unrelated BackupBucket"))
            }
            Operation::Update | Operation::Connect => Err(self.unexpected()),
        }
    }

    /// Both an entry and its bucket belong to the client's seed. ADM-SRE-007, ADM-SRE-008.
    pub(super) fn backup_entry(&self) -> Result<(), Rejection> {
        self.only_create()?;
        let entry: BackupEntry = self.object()?;
        self.check_seed([entry.spec.seed_name.as_deref()])?;
        if entry.metadata.name.as_deref().unwrap_or_default().starts_with(SOURCE) {
            return self.source_backup_entry(&entry);
        }
        let bucket = self.garden.find_backup_bucket(&entry.spec.bucket_name);
        let bucket = bucket.map_err(|missing| unreadable(missing.to_string()))?;
        self.check_seed([bucket.spec.seed_name.as_deref()])
    }

    /// While a Shoot is restored, there is a copy of its entry, by which its backups are found. ADM-SRE-009.
    fn source_backup_entry(&self, entry: &BackupEntry) -> Result<(), Rejection> {
        let (name, namespace) = (&entry.metadata.name, &entry.metadata.namespace);
        let (name, namespace) =
            (name.as_deref().unwrap_or_default(), namespace.as_deref().unwrap_or_default());
        let shoot_name = owning_shoot(&entry.metadata);
        let shoot = self.garden.find_shoot(namespace, shoot_name);
        let shoot = shoot.map_err(|missing| unreadable(missing.to_string()))?;
        let last = shoot.status.last_operation.as_ref();
        if !last.is_some_and(|last| last.type_ == "Restore" && last.state == "Processing") {
            return Err(forbidden(format!(
                "creation of source BackupEntry is only allowed during shoot Restore operation (shoot: {shoot_name})"
            )));
        }
        let original_name = name.strip_prefix(SOURCE_PREFIX).unwrap_or(name);
        let original = self.garden.find_backup_entry(namespace, original_name).map_err(|missing| {
            forbidden(format!("could not find original BackupEntry {original_name}: {missing}"))
        })?;
        if original.spec == entry.spec {
            return Ok(());
        }
        Err(forbidden(format!(
            "specification of source BackupEntry must equal specification of original BackupEntry {original_name}"
        )))
    }

    /// A bastion belongs to the client's seed. ADM-SRE-010.
    pub(super) fn bastion(&self) -> Result<(), Rejection> {
        self.only_create()?;
        let bastion: Bastion = self.object()?;
        self.check_seed([bastion.spec.seed_name.as_deref()])
    }

    /// The Shoot of a ShootState is on the client's seed, or was before its migration. ADM-SRE-021.
    pub(super) fn shoot_state(&self) -> Result<(), Rejection> {
        self.only_create()?;
        let shoot = self.garden.find_shoot(&self.request.namespace, &self.request.name);
        let shoot = shoot.map_err(|missing| unreadable(missing.to_string()))?;
        self.check_seed([shoot.spec.seed_name.as_deref(), shoot.status.seed_name.as_deref()])
    }
}
