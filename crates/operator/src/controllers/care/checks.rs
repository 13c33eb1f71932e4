//! Whether objects of a Garden are healthy: pure functions that return the first reason if not.

use std::sync::Arc;

use api::druid::Etcd;
use api::garden::condition::Condition;
use api::resources::{ManagedResource, RESOURCES_APPLIED, RESOURCES_HEALTHY, RESOURCES_PROGRESSING};
use controller::reconcile::health::Check as _;
use controller::reconcile::health::apps::Deployment;
use kube::ResourceExt as _;
use webhook::field::quote;

use super::required::{DEPLOYMENTS, ETCDS, Key};

/// Types of a ManagedResource's conditions, in the order in which they are checked.
const CHECKED: [&str; 3] = [RESOURCES_APPLIED, RESOURCES_HEALTHY, RESOURCES_PROGRESSING];

/// Why a check has failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) reason: String,
    pub(super) message: String,
}

impl Failure {
    pub(super) fn new(reason: &str, message: impl Into<String>) -> Self {
        Self { reason: reason.to_owned(), message: message.into() }
    }
}

/// Each of these ManagedResources exists and is healthy. OPR-CAR-003, OPR-CAR-005.
pub(super) fn managed_resources(
    required: &[Key],
    find: impl Fn(&str, &str) -> Option<Arc<ManagedResource>>,
) -> Result<(), Failure> {
    for (namespace, name) in required {
        let Some(found) = find(namespace, name) else {
            let message = format!("ManagedResource.resources.gardener.cloud {} not found", quote(name));
            return Err(Failure::new("ResourceNotFound", message));
        };
        managed_resource(&found)?;
    }
    Ok(())
}

/// A ManagedResource is processed, applied, healthy and rolled out. OPR-CAR-005, OPR-CAR-006.
fn managed_resource(object: &ManagedResource) -> Result<(), Failure> {
    let find = |type_: &str| object.status.conditions.iter().find(|condition| condition.type_ == type_);
    let (observed, generation) = (
        object.status.observed_generation.unwrap_or_default(),
        object.metadata.generation.unwrap_or_default(),
    );
    if observed != generation {
        let applied = find(RESOURCES_APPLIED);
        let failed =
            applied.filter(|condition| condition.status == "False" && condition.reason == "ApplyFailed");
        return Err(failed.map_or_else(
            || {
                let key = format!("{}/{}", object.namespace().unwrap_or_default(), object.name_any());
                let message = format!(
                    "observed generation of managed resource '{key}' outdated ({observed}/{generation})"
                );
                Failure::new("OutdatedStatus", message)
            },
            of_condition,
        ));
    }
    let bad = CHECKED.into_iter().filter_map(find).find(|condition| !is_good(condition));
    if let Some(condition) = bad {
        return Err(of_condition(condition));
    }
    let missing: Vec<&str> = CHECKED.into_iter().filter(|type_| find(type_).is_none()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let name = object.name_any();
    let message =
        format!("ManagedResource {name} is missing the following condition(s), [{}]", missing.join(" "));
    Err(Failure::new("MissingManagedResourceCondition", message))
}

fn is_good(condition: &Condition) -> bool {
    let bad = if condition.type_ == RESOURCES_PROGRESSING { "True" } else { "False" };
    condition.status != bad && condition.status != "Unknown"
}

fn of_condition(condition: &Condition) -> Failure {
    Failure { reason: condition.reason.clone(), message: condition.message.clone() }
}

/// The Deployments of the control plane: those that it must have exist, and all are healthy. OPR-CAR-007.
pub(super) fn deployments(found: &[Arc<Deployment>]) -> Result<(), Failure> {
    let names: Vec<String> = found.iter().map(|deployment| deployment.name_any()).collect();
    required(&DEPLOYMENTS, &names, "DeploymentMissing", "Missing required deployments")?;
    for (deployment, name) in found.iter().zip(&names) {
        deployment.check().map_err(|error| {
            let message = format!("Deployment {} is unhealthy: {error}", quote(name));
            Failure::new("DeploymentUnhealthy", message)
        })?;
    }
    Ok(())
}

/// The Etcds of the control plane: those that it must have exist, and all are healthy. OPR-CAR-008.
pub(super) fn etcds(found: &[Arc<Etcd>]) -> Result<(), Failure> {
    let names: Vec<String> = found.iter().map(|etcd| etcd.name_any()).collect();
    required(&ETCDS, &names, "EtcdMissing", "Missing required etcds")?;
    for (etcd, name) in found.iter().zip(&names) {
        if let Some(reason) = unhealthy(etcd, name) {
            let mut message = format!("Etcd extension resource {} is unhealthy: {reason}", quote(name));
            if let Some(error) = &etcd.status.last_error {
                message = format!("{message} ({error})");
            }
            return Err(Failure::new("EtcdUnhealthy", message));
        }
    }
    Ok(())
}

fn unhealthy(etcd: &Etcd, name: &str) -> Option<String> {
    if !etcd.status.ready.unwrap_or(false) {
        return Some(format!("etcd {} is not ready yet", quote(name)));
    }
    let mut conditions = etcd.status.conditions.iter();
    let backup =
        conditions.find(|condition| condition.type_ == "BackupReady" && condition.status != "True")?;
    Some(format!("backup for etcd {} is reported as unready: {}", quote(name), backup.message))
}

fn required(wanted: &[&str], found: &[String], reason: &str, message: &str) -> Result<(), Failure> {
    let missing = wanted.iter().filter(|name| !found.iter().any(|found| found == *name));
    let missing: Vec<&str> = missing.copied().collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(Failure::new(reason, format!("{message}: [{}]", missing.join(" "))))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn conditions(statuses: [(&str, &str); 3]) -> Value {
        let types = CHECKED.into_iter().zip(statuses).filter(|(_, (status, _))| !status.is_empty());
        let condition = |(type_, (status, reason))| json!({"type": type_, "status": status, "reason": reason, "message": format!("{reason}.")});
        types.map(condition).collect()
    }

    #[rstest]
    #[case::well([("True", "A"), ("True", "H"), ("False", "P")], 1, None)]
    #[case::being_applied([("Progressing", "A"), ("Progressing", "H"), ("False", "P")], 1, None)]
    #[case::not_applied([("False", "A"), ("False", "H"), ("True", "P")], 1, Some(("A", "A.")))]
    #[case::unhealthy([("True", "A"), ("Unknown", "H"), ("True", "P")], 1, Some(("H", "H.")))]
    #[case::rolling_out([("True", "A"), ("True", "H"), ("True", "P")], 1, Some(("P", "P.")))]
    #[case::outdated(
        [("True", "A"), ("True", "H"), ("False", "P")],
        0,
        Some(("OutdatedStatus", "observed generation of managed resource 'garden/mr' outdated (0/1)")),
    )]
    #[case::outdated_and_failed([("False", "ApplyFailed"), ("", ""), ("", "")], 0, Some(("ApplyFailed", "ApplyFailed.")))]
    #[case::outdated_and_pending(
        [("False", "DeletionPending"), ("", ""), ("", "")],
        0,
        Some(("OutdatedStatus", "observed generation of managed resource 'garden/mr' outdated (0/1)")),
    )]
    #[case::incomplete(
        [("True", "A"), ("", ""), ("", "")],
        1,
        Some((
            "MissingManagedResourceCondition",
            "ManagedResource mr is missing the following condition(s), [ResourcesHealthy ResourcesProgressing]",
        )),
    )]
    fn the_first_bad_condition_of_a_managed_resource_decides(
        #[case] statuses: [(&str, &str); 3],
        #[case] observed: i64,
        #[case] wanted: Option<(&str, &str)>,
    ) {
        let status = json!({"conditions": conditions(statuses), "observedGeneration": observed});
        let object =
            json!({"metadata": {"name": "mr", "namespace": "garden", "generation": 1}, "status": status});
        let failure = managed_resource(&serde_json::from_value(object).unwrap()).err();
        assert_eq!(failure, wanted.map(|(reason, message)| Failure::new(reason, message)));
    }

    fn etcd(name: &str, status: &Value) -> Arc<Etcd> {
        Arc::new(serde_json::from_value(json!({"metadata": {"name": name}, "status": status})).unwrap())
    }

    #[rstest]
    #[case::well(&json!({"ready": true}), None)]
    #[case::with_backups(&json!({"ready": true, "conditions": [{"type": "BackupReady", "status": "True"}]}), None)]
    #[case::not_ready(&json!({"ready": false}), Some("etcd \"virtual-garden-etcd-main\" is not ready yet"))]
    #[case::new(&json!({}), Some("etcd \"virtual-garden-etcd-main\" is not ready yet"))]
    #[case::with_error(
        &json!({"lastError": "no disk"}),
        Some("etcd \"virtual-garden-etcd-main\" is not ready yet (no disk)"),
    )]
    #[case::without_backups(
        &json!({"ready": true, "conditions": [{"type": "BackupReady", "status": "Unknown", "message": "no bucket"}]}),
        Some("backup for etcd \"virtual-garden-etcd-main\" is reported as unready: no bucket"),
    )]
    fn an_etcd_is_ready_and_so_are_its_backups(#[case] status: &Value, #[case] wanted: Option<&str>) {
        let all = [
            etcd("virtual-garden-etcd-events", &json!({"ready": true})),
            etcd("virtual-garden-etcd-main", status),
        ];
        let wanted = wanted.map(|reason| {
            let text = "Etcd extension resource \"virtual-garden-etcd-main\" is unhealthy: ";
            Failure::new("EtcdUnhealthy", format!("{text}{reason}"))
        });
        assert_eq!(etcds(&all).err(), wanted);
    }

    #[test]
    fn what_is_missing_is_named_in_order() {
        let message = "Missing required etcds: [virtual-garden-etcd-events virtual-garden-etcd-main]";
        assert_eq!(etcds(&[]), Err(Failure::new("EtcdMissing", message)));
        let message = "Missing required deployments: [virtual-garden-gardener-resource-manager \
                       virtual-garden-kube-apiserver virtual-garden-kube-controller-manager]";
        assert_eq!(deployments(&[]), Err(Failure::new("DeploymentMissing", message)));
    }

    #[test]
    fn every_deployment_counts() {
        let deployment = |name: &&str| -> Arc<Deployment> {
            let status = json!({"conditions": [{"type": "Available", "status": "True"}]});
            let metadata = json!({"name": name, "namespace": "garden"});
            let object = json!({
                "apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": {}, "status": status,
            });
            Arc::new(serde_json::from_value(object).unwrap())
        };
        let mut all: Vec<_> = DEPLOYMENTS.iter().map(deployment).collect();
        assert_eq!(deployments(&all), Ok(()));
        let mut other = Arc::unwrap_or_clone(deployment(&"other"));
        other.status = None;
        all.push(Arc::new(other));
        let message = "Deployment \"other\" is unhealthy: condition \"Available\" is missing";
        assert_eq!(deployments(&all), Err(Failure::new("DeploymentUnhealthy", message)));
    }
}
