//! Changes for the provider of backups, in the Etcds of a control plane.

use serde_json::Value;
use webhook::object;
use webhook::rejection::Rejection;

use crate::config::ControlPlaneWebhooksConfiguration;
use crate::ensurer::{self, Ensured, Ensurer};

/// Name of the webhook.
pub const NAME: &str = "controlplanebackup";

const STORE: [&str; 3] = ["spec", "backup", "store"];

struct Backup<'a>(&'a ControlPlaneWebhooksConfiguration);

/// Applies the changes for the provider of backups to an object of a control plane.
///
/// # Errors
/// 400 when a field has the wrong type.
pub fn mutate(config: &ControlPlaneWebhooksConfiguration, object: &mut Value) -> Result<(), Rejection> {
    ensurer::mutate(&Backup(config), None, object)
}

impl Ensurer for Backup<'_> {
    /// An etcd without a store has no backups, and gets none. CP-113, CP-114.
    fn etcd(&self, etcd: &mut Value) -> Ensured {
        let store = &self.0.etcd.backup_store;
        if !store.is_empty() && object::map(etcd, &STORE)?.is_some() {
            object::map_mut(etcd, &STORE)?.extend(store.clone());
        }
        Ok(())
    }
}
