//! What one maintenance of a Shoot does, decided before anything is written.

use api::garden::{CloudProfile, Shoot};
use jiff::Timestamp;
use versions::maintenance::{self, Failure, Maintained, NotMaintained};

use super::annotations::{Restarts, add_tasks, set_operation};

/// What is to be written, and told.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plan {
    /// The Shoot as it is tried first, without tasks.
    pub(super) tried: Shoot,
    /// The Shoot as it is written.
    pub(super) written: Shoot,
    /// All that is done, as `lastMaintenance` describes it; empty where nothing is to be told.
    pub(super) operations: Vec<String>,
    /// Images that are moved, one sentence a pool.
    pub(super) images: Vec<String>,
    /// Versions of Kubernetes that are moved.
    pub(super) kubernetes: Vec<String>,
    /// What could not be decided; the rest goes on.
    pub(super) failures: Vec<Failure>,
}

impl Plan {
    /// What is done with a Shoot at `now`; GCM-MNT-010 to -012.
    pub(super) fn of(
        shoot: &Shoot,
        profile: &CloudProfile,
        restarts: Restarts,
        now: Timestamp,
    ) -> Result<Self, NotMaintained> {
        let mut tried = shoot.clone();
        let done = maintenance::maintain(&mut tried.spec, profile, now)?;
        let mut operations: Vec<String> = done.operations().map(str::to_owned).collect();
        let operation = set_operation(&mut tried);
        operations.extend(operation.map(|operation| format!("Added {operation:?} operation annotation")));
        let mut written = tried.clone();
        add_tasks(&mut written, restarts);
        let Maintained { images, kubernetes, failures, .. } = done;
        Ok(Self { tried, written, operations, images, kubernetes, failures })
    }
}
