//! Assigns Pods without a scheduler of their own to the configured one:
//! `contracts/resource-manager/webhooks/pod-scheduler-name.yaml`.

use api::kubernetes::DEFAULT_SCHEDULER;
use serde_json::Value;
use webhook::object;
use webhook::rejection::Rejection;

/// Name of the webhook.
pub const NAME: &str = "pod-scheduler-name";
/// Its path.
pub const PATH: &str = "/webhooks/default-pod-scheduler-name";

const SCHEDULER_NAME: [&str; 2] = ["spec", "schedulerName"];

/// Replaces an empty or default scheduler name by `scheduler_name`; any other stays.
///
/// GRM-PSN-001, GRM-PSN-002, GRM-PSN-003, GRM-PSN-010.
///
/// # Errors
/// 400 when a field has the wrong type.
pub fn mutate(scheduler_name: &str, pod: &mut Value) -> Result<(), Rejection> {
    if matches!(object::text(pod, &SCHEDULER_NAME)?, "" | DEFAULT_SCHEDULER) {
        object::set(pod, &SCHEDULER_NAME, scheduler_name)?;
    }
    Ok(())
}
