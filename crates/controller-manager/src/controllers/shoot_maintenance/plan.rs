//! The plan of one maintenance of a Shoot, made before anything is written.

use api::garden::{CloudProfile, Shoot};
use jiff::Timestamp;
use versions::maintenance::{self, Failure, Maintained, NotMaintained};

use super::annotations::{Restarts, add_tasks, set_operation};

/// What to write, and what events and status say about it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plan {
    /// The Shoot for the dry run, without tasks.
    pub(super) candidate: Shoot,
    /// The Shoot to write.
    pub(super) wanted: Shoot,
    /// Descriptions for `lastMaintenance`; if empty, there is no dry run and no status.
    pub(super) operations: Vec<String>,
    /// Updated images, one sentence per pool.
    pub(super) images: Vec<String>,
    /// Updated versions of Kubernetes.
    pub(super) kubernetes: Vec<String>,
    /// Updates that could not be planned; the others proceed.
    pub(super) failures: Vec<Failure>,
    /// When the maintenance was triggered.
    pub(super) now: Timestamp,
}

impl Plan {
    /// Plans the maintenance of a Shoot at `now`; GCM-MNT-010 to -012.
    pub(super) fn of(
        shoot: &Shoot,
        profile: &CloudProfile,
        restarts: Restarts,
        now: Timestamp,
    ) -> Result<Self, NotMaintained> {
        let mut candidate = shoot.clone();
        let done = maintenance::maintain(&mut candidate.spec, profile, now)?;
        let mut operations: Vec<String> = done.operations().map(str::to_owned).collect();
        let operation = set_operation(&mut candidate);
        operations.extend(operation.map(|operation| format!("Added {operation:?} operation annotation")));
        let mut wanted = candidate.clone();
        add_tasks(&mut wanted, restarts);
        let Maintained { images, kubernetes, failures, .. } = done;
        Ok(Self { candidate, wanted, operations, images, kubernetes, failures, now })
    }

    pub(super) fn log_failures(&self) {
        for failure in &self.failures {
            tracing::error!("{failure}");
        }
    }
}
