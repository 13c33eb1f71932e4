//! Sets the replicas of a component, by its type and by the failure tolerance of its namespace.

use api::resources::{HA_REPLICAS, HA_TYPE, HA_TYPE_CONTROLLER};
use serde_json::Value;
use webhook::object::{self, WrongType};
use webhook::rejection::Rejection;

use super::FailureTolerance;
use crate::strconv;

/// Sets `spec.replicas` of a workload; under an autoscaler it is only raised.
///
/// GRM-HAC-002, GRM-HAC-003, GRM-HAC-010, GRM-HAC-011, GRM-HAC-016.
pub(super) fn mutate_workload(
    tolerance: FailureTolerance,
    scaled_up_to: Option<i64>,
    workload: &mut Value,
) -> Result<(), Rejection> {
    let current = object::integer(workload, &["spec", "replicas"])?.unwrap_or_default();
    let Some(wanted) = wanted(tolerance, current, workload)? else { return Ok(()) };
    if scaled_up_to.is_none() || current < wanted {
        object::set(workload, &["spec", "replicas"], wanted)?;
    }
    Ok(())
}

/// Raises `minReplicas` of an autoscaler whose fields are at `spec`, and then `maxReplicas` if it is lower.
///
/// GRM-HAC-020, GRM-HAC-021, GRM-HAC-023, GRM-HAC-030, GRM-HAC-031, GRM-HAC-034.
pub(super) fn mutate_autoscaler(
    tolerance: FailureTolerance,
    spec: &[&str],
    autoscaler: &mut Value,
) -> Result<(), Rejection> {
    let [min, max] = ["minReplicas", "maxReplicas"].map(|field| [spec, &[field]].concat());
    let current = object::integer(autoscaler, &min)?.unwrap_or_default();
    let Some(wanted) = wanted(tolerance, current, autoscaler)? else { return Ok(()) };
    if current < wanted {
        object::set(autoscaler, &min, wanted)?;
    }
    if object::integer(autoscaler, &max)?.unwrap_or_default() < current.max(wanted) {
        object::set(autoscaler, &max, wanted)?;
    }
    Ok(())
}

/// The replicas that an object should have; `None` if it is scaled to zero or has no component type.
///
/// GRM-HAC-004, GRM-HAC-005, GRM-HAC-006, GRM-HAC-022, GRM-HAC-024, GRM-HAC-032, GRM-HAC-033.
fn wanted(tolerance: FailureTolerance, current: i64, object: &Value) -> Result<Option<i64>, Rejection> {
    if current == 0 {
        return Ok(None);
    }
    let Some(computed) = computed(tolerance, object)? else { return Ok(None) };
    match object::annotation(object, HA_REPLICAS)?.unwrap_or_default() {
        "" => Ok(Some(computed)),
        own => strconv::atoi(own)
            .map(i64::from)
            .map(Some)
            .map_err(|error| Rejection::forbidden(error.to_string())),
    }
}

/// GRM-HAC-001.
fn computed(tolerance: FailureTolerance, object: &Value) -> Result<Option<i64>, WrongType> {
    Ok(match (object::label(object, HA_TYPE)?.unwrap_or_default(), tolerance) {
        ("", _) => None,
        (HA_TYPE_CONTROLLER, FailureTolerance::None) => Some(1),
        _ => Some(2),
    })
}
