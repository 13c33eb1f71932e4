//! Health of `batch/v1` objects.

use kube::api::{NotUsed, Object};
use serde::Deserialize;

use super::conditions::{Condition, optional};
use super::{Check, Unhealthy};

/// `batch/v1 Job`.
pub type Job = Object<NotUsed, JobStatus>;

/// The fields of its status that are read.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct JobStatus {
    conditions: Vec<Condition>,
}

impl Check for Job {
    /// GRM-HLT-022, GRM-HLT-023: it has not failed; it may still run.
    fn check(&self) -> Result<(), Unhealthy> {
        let conditions = self.status.as_ref().map_or(&[][..], |status| &status.conditions);
        optional(conditions, "Failed", "False")
    }
}
