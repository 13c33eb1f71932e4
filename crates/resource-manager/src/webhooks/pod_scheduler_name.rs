//! Pods without a scheduler of their own go to the configured one:
//! `contracts/resource-manager/webhooks/pod-scheduler-name.yaml`.

use api::kubernetes::DEFAULT_SCHEDULER;
use serde_json::Value;
use webhook::object;
use webhook::rejection::Rejection;

/// Name of the webhook.
pub const NAME: &str = "pod-scheduler-name";
/// Path it answers on.
pub const PATH: &str = "/webhooks/default-pod-scheduler-name";

const SCHEDULER_NAME: [&str; 2] = ["spec", "schedulerName"];

/// Replaces an empty scheduler name and the default one by `scheduler_name`; any other stays.
///
/// GRM-PSN-001, GRM-PSN-002, GRM-PSN-003, GRM-PSN-010.
///
/// # Errors
/// 400 when a field has another type than the API's.
pub fn mutate(scheduler_name: &str, pod: &mut Value) -> Result<(), Rejection> {
    if matches!(object::text(pod, &SCHEDULER_NAME)?, "" | DEFAULT_SCHEDULER) {
        object::set(pod, &SCHEDULER_NAME, scheduler_name)?;
    }
    Ok(())
}
