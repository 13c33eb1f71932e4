//! Health of `apps/v1` objects.

use std::collections::BTreeMap;

use kube::api::{Object, ObjectMeta};
use serde::Deserialize;
use serde_json::Value;

use super::conditions::{Condition, optional, required};
use super::{Check, Outdated, Unhealthy};

/// `apps/v1 Deployment`.
pub type Deployment = Object<DeploymentSpec, DeploymentStatus>;
/// `apps/v1 StatefulSet`.
pub type StatefulSet = Object<Replicas, StatefulSetStatus>;
/// `apps/v1 DaemonSet`.
pub type DaemonSet = Object<DaemonSetSpec, DaemonSetStatus>;
/// `apps/v1 ReplicaSet`.
pub type ReplicaSet = Object<Replicas, ReplicaStatus>;

/// The desired number of replicas.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Replicas {
    pub(super) replicas: Option<i64>,
}

/// The fields of a `Deployment` that are read.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct DeploymentSpec {
    /// Desired number of replicas; 1 if missing.
    pub replicas: Option<i64>,
    /// Selects its pods.
    pub selector: Selector,
}

/// The fields of a selector that are read.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Selector {
    /// Labels that pods must have.
    pub match_labels: BTreeMap<String, String>,
}

/// The fields of a `Deployment`'s status that are read.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DeploymentStatus {
    pub(super) observed_generation: i64,
    pub(super) conditions: Vec<Condition>,
}

/// The fields of the status of a `ReplicaSet`, and of similar kinds, that are read.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReplicaStatus {
    observed_generation: i64,
    ready_replicas: i64,
}

/// The fields of a `StatefulSet`'s status that are read.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StatefulSetStatus {
    pub(super) observed_generation: i64,
    ready_replicas: i64,
    pub(super) updated_replicas: i64,
}

/// The fields of a `DaemonSet` that are read.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DaemonSetSpec {
    update_strategy: UpdateStrategy,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct UpdateStrategy {
    #[serde(rename = "type")]
    kind: String,
    rolling_update: RollingUpdate,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RollingUpdate {
    max_unavailable: Value,
}

/// The fields of a `DaemonSet`'s status that are read.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DaemonSetStatus {
    pub(super) observed_generation: i64,
    current_number_scheduled: i64,
    pub(super) desired_number_scheduled: i64,
    number_misscheduled: i64,
    number_unavailable: i64,
    pub(super) updated_number_scheduled: i64,
}

impl Check for Deployment {
    /// GRM-HLT-010, GRM-HLT-011: it is observed, available, and neither stuck nor failing. Replicas do not count.
    fn check(&self) -> Result<(), Unhealthy> {
        let nothing = DeploymentStatus::default();
        let status = self.status.as_ref().unwrap_or(&nothing);
        observed(&self.metadata, status.observed_generation)?;
        required(&status.conditions, "Available", "True")?;
        optional(&status.conditions, "Progressing", "True")?;
        optional(&status.conditions, "ReplicaFailure", "False")
    }
}

impl Check for StatefulSet {
    /// GRM-HLT-012, GRM-HLT-013: it is observed, and enough replicas are ready.
    fn check(&self) -> Result<(), Unhealthy> {
        let nothing = StatefulSetStatus::default();
        let status = self.status.as_ref().unwrap_or(&nothing);
        observed(&self.metadata, status.observed_generation)?;
        let (ready, wanted) = (status.ready_replicas, self.spec.replicas.unwrap_or(1));
        if ready < wanted { Err(Unhealthy::ReadyReplicas { ready, wanted }) } else { Ok(()) }
    }
}

impl Check for DaemonSet {
    /// GRM-HLT-014, GRM-HLT-015: it is observed, its pods are on the right nodes, and not too many are unavailable.
    fn check(&self) -> Result<(), Unhealthy> {
        let nothing = DaemonSetStatus::default();
        let status = self.status.as_ref().unwrap_or(&nothing);
        observed(&self.metadata, status.observed_generation)?;
        let (current, wanted) = (status.current_number_scheduled, status.desired_number_scheduled);
        if current < wanted {
            return Err(Unhealthy::ScheduledPods { current, wanted });
        }
        if status.number_misscheduled > 0 {
            return Err(Unhealthy::MisscheduledPods(status.number_misscheduled));
        }
        let unavailable = status.number_unavailable;
        if status.updated_number_scheduled < wanted {
            let most = max_unavailable(&self.spec.update_strategy, wanted);
            if unavailable > most {
                return Err(Unhealthy::TooManyUnavailablePods { unavailable, current, most });
            }
        } else if unavailable > 0 {
            return Err(Unhealthy::UnavailablePods { unavailable, current });
        }
        Ok(())
    }
}

impl Check for ReplicaSet {
    /// GRM-HLT-016, GRM-HLT-017: it is observed, and all its replicas are ready.
    fn check(&self) -> Result<(), Unhealthy> {
        available("ReplicaSet", &self.metadata, &self.spec, self.status.as_ref())
    }
}

/// Whether a set of replicas is observed, and all of them are ready; without desired replicas none need be.
pub(super) fn available(
    kind: &'static str,
    metadata: &ObjectMeta,
    wanted: &Replicas,
    status: Option<&ReplicaStatus>,
) -> Result<(), Unhealthy> {
    let nothing = ReplicaStatus::default();
    let status = status.unwrap_or(&nothing);
    observed(metadata, status.observed_generation)?;
    if wanted.replicas.is_some_and(|wanted| status.ready_replicas < wanted) {
        return Err(Unhealthy::MinimumAvailability(kind));
    }
    Ok(())
}

/// Whether the controller has observed the current generation of an object.
pub(super) fn observed(metadata: &ObjectMeta, observed: i64) -> Result<(), Outdated> {
    let generation = metadata.generation.unwrap_or_default();
    if observed < generation { Err(Outdated { observed, generation }) } else { Ok(()) }
}

/// How many pods may be unavailable, rounded down.
fn max_unavailable(strategy: &UpdateStrategy, desired: i64) -> i64 {
    if strategy.kind != "RollingUpdate" {
        return 0;
    }
    match &strategy.rolling_update.max_unavailable {
        Value::Number(count) => count.as_i64().unwrap_or_default(),
        Value::String(percent) => {
            percent.replace('%', "").parse::<i64>().map_or(0, |percent| percent.saturating_mul(desired) / 100)
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pods_that_may_be_unavailable_are_whole_pods_of_a_rolling_update() {
        let table = [
            (json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 3}}), 3),
            (json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "39%"}}), 3),
            (json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "50"}}), 5),
            (json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "some"}}), 0),
            (json!({"type": "RollingUpdate", "rollingUpdate": {}}), 0),
            (json!({"type": "RollingUpdate"}), 0),
            (json!({"type": "OnDelete", "rollingUpdate": {"maxUnavailable": 3}}), 0),
            (json!({}), 0),
        ];
        for (strategy, wanted) in table {
            let read = serde_json::from_value(strategy.clone()).unwrap();
            assert_eq!(max_unavailable(&read, 10), wanted, "{strategy}");
        }
    }
}
