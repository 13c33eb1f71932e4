//! The steps of a maintenance: dry run, state `Processing`, the Shoot, state `Succeeded`, events.

use api::garden::Shoot;
use api::gardener::OPERATION;
use controller::describe_error;
use controller::events::EventType;
use kube::ResourceExt as _;
use kube::api::{Api, Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use super::annotations::is_to_be_maintained;
use super::plan::Plan;
use super::{MaintenanceError, Reconciler};

const PROCESSING: &str = "Processing";
const SUCCEEDED: &str = "Succeeded";
const FAILED: &str = "Failed";

const MAINTENANCE_FAILED: &str = "MaintenanceFailed";
const IMAGE: &str = "MachineImageVersionMaintenance";
const KUBERNETES: &str = "KubernetesVersionMaintenance";

impl Reconciler {
    /// Tests the Shoot in a dry run if the plan has operations. If the API server refuses it, writes that to the
    /// status and returns the reason; the next window retries. GCM-MNT-013.
    pub(super) async fn test_update(
        &self,
        shoot: &Shoot,
        plan: &Plan,
    ) -> Result<Option<String>, MaintenanceError> {
        if plan.operations.is_empty() {
            return Ok(None);
        }
        let shoots = self.shoots_of(shoot);
        let dry_run = PostParams { dry_run: true, ..PostParams::default() };
        let Err(error) = shoots.replace(&shoot.name_any(), &dry_run, &plan.candidate).await else {
            return Ok(None);
        };
        if !is_permanent(&error) {
            return Err(MaintenanceError::Try(error));
        }
        let reason = describe_error(&error);
        report_failure(&shoots, shoot, plan, &reason).await.map_err(MaintenanceError::Status)?;
        Ok(Some(reason))
    }

    /// Writes the state `Processing` if the plan has operations; returns the current Shoot. GCM-MNT-010.
    pub(super) async fn announce(&self, shoot: &Shoot, plan: &Plan) -> Result<Shoot, MaintenanceError> {
        if plan.operations.is_empty() {
            return Ok(shoot.clone());
        }
        let mut status = last_maintenance(plan, PROCESSING, None);
        // The original writes this without a resource version, and then overwrites the changes of others.
        status["metadata"] = json!({"resourceVersion": shoot.metadata.resource_version});
        let shoots = self.shoots_of(shoot);
        patch_status(&shoots, &shoot.name_any(), &status).await.map_err(MaintenanceError::Status)
    }

    /// Writes the planned Shoot over `current`; returns the written one.
    pub(super) async fn update(
        &self,
        shoot: &Shoot,
        plan: &Plan,
        current: &Shoot,
    ) -> Result<Shoot, MaintenanceError> {
        let mut wanted = plan.wanted.clone();
        // `announce` changed the resource version; changes by others still lead to a conflict.
        wanted.metadata.resource_version = current.metadata.resource_version.clone();
        wanted.status = current.status.clone();
        let shoots = self.shoots_of(shoot);
        let error = match shoots.replace(&shoot.name_any(), &PostParams::default(), &wanted).await {
            Ok(updated) => return Ok(updated),
            Err(error) => error,
        };
        if let Some(updated) = written_nevertheless(&shoots, &wanted, &error).await {
            return Ok(updated);
        }
        self.recorder.event(shoot, EventType::Warning, MAINTENANCE_FAILED, &describe_error(&error));
        Err(MaintenanceError::Update(error))
    }

    /// Writes the state `Succeeded` if the state is `Processing`.
    pub(super) async fn complete(&self, updated: &Shoot) -> Result<(), MaintenanceError> {
        let state = updated.status.last_maintenance.as_ref().map(|last| last.state.as_str());
        if state != Some(PROCESSING) {
            return Ok(());
        }
        let status = json!({"status": {"lastMaintenance": {"state": SUCCEEDED}}});
        let patched = patch_status(&self.shoots_of(updated), &updated.name_any(), &status).await;
        patched.map(drop).map_err(MaintenanceError::Status)
    }

    /// GCM-MNT-040 to -042.
    pub(super) fn record_events(&self, shoot: &Shoot, plan: &Plan) {
        for image in &plan.images {
            self.recorder.event(shoot, EventType::Normal, IMAGE, &format!("Updated {image}."));
        }
        for version in &plan.kubernetes {
            self.recorder.event(shoot, EventType::Normal, KUBERNETES, version);
        }
        tracing::info!(shoot = shoot.name_any(), "Shoot maintenance completed");
    }

    fn shoots_of(&self, shoot: &Shoot) -> Api<Shoot> {
        Api::namespaced(self.client.clone(), &shoot.namespace().unwrap_or_default())
    }
}

/// GCM-MNT-014: the Shoot, if it was written although the answer is an error: an API server that runs out of time may
/// have finished the request. A retry would not know that, because the Shoot no longer requests a maintenance.
async fn written_nevertheless(shoots: &Api<Shoot>, wanted: &Shoot, error: &kube::Error) -> Option<Shoot> {
    const FAILED_SERVER: u16 = 500;
    if matches!(error, kube::Error::Api(status) if status.code < FAILED_SERVER) {
        return None;
    }
    let found = shoots.get(&wanted.name_any()).await.ok()?;
    (found.spec == wanted.spec && found.annotations() == wanted.annotations()).then_some(found)
}

/// GCM-MNT-015: whether the API server would never accept the Shoot as it is. The original treats every error as permanent, and
/// lets a Shoot wait for a day after a conflict.
fn is_permanent(error: &kube::Error) -> bool {
    const CONFLICT: u16 = 409;
    const TOO_MANY: u16 = 429;
    matches!(error, kube::Error::Api(status)
        if (400..500).contains(&status.code) && ![CONFLICT, TOO_MANY].contains(&status.code))
}

/// Writes the reason of a failure to the status, and removes the annotation that requested the maintenance, so that
/// it can be requested again.
async fn report_failure(
    shoots: &Api<Shoot>,
    shoot: &Shoot,
    plan: &Plan,
    reason: &str,
) -> Result<(), kube::Error> {
    let failure = format!("Maintenance failed: {reason}");
    let mut patch = last_maintenance(plan, FAILED, Some(&failure));
    let is_requested = is_to_be_maintained(shoot);
    let without_operation = json!({"annotations": {OPERATION: null}});
    if is_requested {
        patch["metadata"] = without_operation.clone();
    }
    let name = shoot.name_any();
    let patched = patch_status(shoots, &name, &patch).await?;
    // gardener-apiserver removes annotations by a status update; a CustomResourceDefinition does not.
    if is_requested && is_to_be_maintained(&patched) {
        let patch = Patch::Merge(json!({"metadata": without_operation}));
        shoots.patch(&name, &PatchParams::default(), &patch).await?;
    }
    Ok(())
}

fn last_maintenance(plan: &Plan, state: &str, failure: Option<&str>) -> Value {
    json!({"status": {"lastMaintenance": {
        "description": plan.operations.join(", "),
        "triggeredTime": plan.now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        "state": state,
        "failureReason": failure,
    }}})
}

async fn patch_status(shoots: &Api<Shoot>, name: &str, patch: &Value) -> Result<Shoot, kube::Error> {
    shoots.patch_status(name, &PatchParams::default(), &Patch::Merge(patch)).await
}
