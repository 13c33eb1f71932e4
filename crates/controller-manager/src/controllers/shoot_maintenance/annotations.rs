//! The annotations by which users request maintenance, and by which maintenance requests operations of gardenlet.

use api::garden::Shoot;
use api::gardener::{
    MAINTENANCE_OPERATION, NEEDS_RETRY_OPERATION, OPERATION, OPERATION_MAINTAIN, OPERATION_RECONCILE,
    OPERATION_RETRY, SHOOT_TASKS,
};
use kube::ResourceExt as _;

/// Tasks of every maintenance in addition to the reconciliation.
const TASKS: [&str; 4] =
    ["deployInfrastructure", "deployDNSRecordInternal", "deployDNSRecordExternal", "deployDNSRecordIngress"];
const RESTART_CONTROL_PLANE: &str = "restartControlPlanePods";
const RESTART_ADDONS: &str = "restartCoreAddons";

/// Which restarts every maintenance requests.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Restarts {
    pub(super) control_plane: bool,
    pub(super) addons: bool,
}

/// Whether an annotation requests maintenance outside the window.
pub(super) fn is_to_be_maintained(shoot: &Shoot) -> bool {
    shoot.annotations().get(OPERATION).is_some_and(|operation| operation == OPERATION_MAINTAIN)
}

/// GCM-MNT-020 to -022: sets gardenlet's operation; returns it unless it is a plain reconciliation.
pub(super) fn set_operation(shoot: &mut Shoot) -> Option<String> {
    if is_to_be_maintained(shoot) {
        shoot.annotations_mut().remove(OPERATION);
    }
    let has_failed = shoot.status.last_operation.as_ref()?.state == "Failed";
    let needs_retry = needs_retry(shoot);
    let annotations = shoot.annotations_mut();
    if has_failed {
        if needs_retry {
            annotations.insert(OPERATION.to_owned(), OPERATION_RETRY.to_owned());
            annotations.remove(NEEDS_RETRY_OPERATION);
        }
        return None;
    }
    let requested = annotations.remove(MAINTENANCE_OPERATION).filter(|operation| !operation.is_empty());
    let operation = requested.unwrap_or_else(|| OPERATION_RECONCILE.to_owned());
    annotations.insert(OPERATION.to_owned(), operation.clone());
    Some(operation).filter(|operation| operation != OPERATION_RECONCILE)
}

/// GCM-MNT-030, GCM-MNT-031: appends tasks to the existing ones.
pub(super) fn add_tasks(shoot: &mut Shoot, restarts: Restarts) {
    let annotations = shoot.annotations_mut();
    let value = annotations.get(SHOOT_TASKS).filter(|value| !value.is_empty()).cloned();
    let mut tasks: Vec<&str> = value.iter().flat_map(|value| value.split(',')).collect();
    let control_plane = restarts.control_plane.then_some(RESTART_CONTROL_PLANE);
    let addons = restarts.addons.then_some(RESTART_ADDONS);
    for task in TASKS.into_iter().chain(control_plane).chain(addons) {
        if !tasks.contains(&task) {
            tasks.push(task);
        }
    }
    annotations.insert(SHOOT_TASKS.to_owned(), tasks.join(","));
}

/// Whether to retry a failed Shoot; the annotation is true if Go's `strconv.ParseBool` says so.
fn needs_retry(shoot: &Shoot) -> bool {
    let value = shoot.annotations().get(NEEDS_RETRY_OPERATION).map(String::as_str);
    matches!(value, Some("1" | "t" | "T" | "true" | "TRUE" | "True"))
}
