//! Whether workload is rolled out.

use std::collections::BTreeMap;

use super::Unfinished;
use super::apps::{
    DaemonSet, DaemonSetStatus, Deployment, DeploymentStatus, StatefulSet, StatefulSetStatus, observed,
};
use super::conditions::present;

/// GRM-PRG-001, GRM-PRG-002 and GRM-PRG-003: its controller reports completion, and it has exactly the desired number
/// of pods. `pods` counts the pods with the given labels.
///
/// # Errors
/// When it is still being rolled out.
pub fn deployment(
    object: &Deployment,
    pods: impl FnOnce(&BTreeMap<String, String>) -> usize,
) -> Result<(), Unfinished> {
    let nothing = DeploymentStatus::default();
    let status = object.status.as_ref().unwrap_or(&nothing);
    observed(&object.metadata, status.observed_generation)?;
    let condition = present(&status.conditions, "Progressing")?;
    if condition.status != "True" || condition.reason != "NewReplicaSetAvailable" {
        return Err(Unfinished::Condition(condition.message.clone()));
    }
    let pods = i64::try_from(pods(&object.spec.selector.match_labels)).unwrap_or(i64::MAX);
    if pods == object.spec.replicas.unwrap_or(1) { Ok(()) } else { Err(Unfinished::OldPods) }
}

/// GRM-PRG-004, GRM-PRG-005: all replicas are of the new revision.
///
/// # Errors
/// When it is still being rolled out.
pub fn stateful_set(object: &StatefulSet) -> Result<(), Unfinished> {
    let nothing = StatefulSetStatus::default();
    let status = object.status.as_ref().unwrap_or(&nothing);
    observed(&object.metadata, status.observed_generation)?;
    updated(status.updated_replicas, object.spec.replicas.unwrap_or(1))
}

/// GRM-PRG-006, GRM-PRG-007: all pods are of the new revision.
///
/// # Errors
/// When it is still being rolled out.
pub fn daemon_set(object: &DaemonSet) -> Result<(), Unfinished> {
    let nothing = DaemonSetStatus::default();
    let status = object.status.as_ref().unwrap_or(&nothing);
    observed(&object.metadata, status.observed_generation)?;
    updated(status.updated_number_scheduled, status.desired_number_scheduled)
}

fn updated(updated: i64, wanted: i64) -> Result<(), Unfinished> {
    if updated < wanted { Err(Unfinished::Replicas { updated, wanted }) } else { Ok(()) }
}
