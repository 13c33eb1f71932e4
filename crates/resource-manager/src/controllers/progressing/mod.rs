//! Checks whether workload of a ManagedResource is still being rolled out
//! (contracts/resource-manager/controllers/progressing.yaml).

mod workload;

use controller::Controller;
use webhook::field::quote;

use self::workload::Workload;
use super::Context;
use super::checking::{self, CheckError, CheckResult, ObjectCheck, SkipMessages, key};
use crate::condition::{RESOURCES_PROGRESSING, Status};
use crate::managed_resource::ManagedResource;

/// Name in log and metrics.
pub const NAME: &str = "health-progressing";

/// The controller of one instance.
pub fn controller(context: &Context) -> Controller {
    checking::controller(NAME, context, |watches, origins| Progressing {
        workload: Workload::new(&context.target, watches, origins),
    })
}

struct Progressing {
    workload: Workload,
}

impl ObjectCheck for Progressing {
    const CONDITION: &'static str = RESOURCES_PROGRESSING;
    const SKIP_MESSAGES: SkipMessages = SkipMessages {
        ignored: "Skipping checks since ManagedResource is ignored",
        irresponsible: "Stopping checks as the responsibility changed",
        deleting: "Stopping checks for ManagedResource as it is marked for deletion",
        unapplied: "Skipping checks for ManagedResource as the resources were not applied yet",
    };

    /// GRM-PRG-008: the first workload that is being rolled out decides.
    async fn check(&self, object: &ManagedResource) -> Result<CheckResult, CheckError> {
        tracing::debug!("Starting ManagedResource progressing checks");
        for reference in &object.status.resources {
            let Err(unfinished) = self.workload.rollout(reference).await? else { continue };
            let reason = format!("{}Progressing", reference.kind);
            let message =
                format!("{} {} is progressing: {unfinished}", reference.kind, quote(&key(reference)));
            tracing::info!(
                object = key(reference),
                status = "progressing",
                reason,
                message,
                "ManagedResource rollout is progressing, detected progressing object"
            );
            return Ok(CheckResult::new(Status::True, reason, message));
        }
        Ok(CheckResult::new(Status::False, "ResourcesRolledOut", "All resources have been fully rolled out."))
    }
}
