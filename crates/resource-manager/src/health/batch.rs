//! Health of `batch/v1` objects.

use kube::api::{NotUsed, Object};
use serde::Deserialize;

use super::conditions::{Condition, optional};
use super::{Check, Unhealthy};

/// `batch/v1 Job`.
pub type Job = Object<NotUsed, JobStatus>;

/// What is read of its status.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct JobStatus {
    conditions: Vec<Condition>,
}

impl Check for Job {
    /// GRM-HLT-022, GRM-HLT-023: it has not failed; whether it has ended does not matter.
    fn check(&self) -> Result<(), Unhealthy> {
        let conditions = self.status.as_ref().map_or(&[][..], |status| &status.conditions);
        optional(conditions, "Failed", "False")
    }
}
