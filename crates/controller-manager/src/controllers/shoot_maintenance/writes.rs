//! What a maintenance writes: what is about to be done, the Shoot, and that it is done.

use api::garden::Shoot;
use api::gardener::OPERATION;
use controller::describe_error;
use jiff::Timestamp;
use kube::api::{Api, Patch, PatchParams, PostParams};
use kube::{Client, ResourceExt as _};
use serde_json::{Value, json};

use super::MaintenanceError;
use super::annotations::is_to_be_maintained;
use super::plan::Plan;

const PROCESSING: &str = "Processing";
const SUCCEEDED: &str = "Succeeded";
const FAILED: &str = "Failed";

/// What became of a maintenance.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// The Shoot is maintained.
    All,
    /// The API server would not take the Shoot; that is told, and waits for the next window.
    Refused(String),
}

/// Tries the Shoot, says that it is being maintained, writes it, and says that it was: GCM-MNT-010, GCM-MNT-013.
pub(super) async fn write(
    client: &Client,
    shoot: &Shoot,
    plan: &Plan,
    now: Timestamp,
) -> Result<Written, MaintenanceError> {
    let shoots: Api<Shoot> = Api::namespaced(client.clone(), &shoot.namespace().unwrap_or_default());
    let name = shoot.name_any();
    let mut last = shoot.clone();
    if !plan.operations.is_empty() {
        let dry_run = PostParams { dry_run: true, ..PostParams::default() };
        if let Err(error) = shoots.replace(&name, &dry_run, &plan.tried).await {
            if !is_judgement(&error) {
                return Err(MaintenanceError::Try(error));
            }
            let reason = describe_error(&error);
            refused(&shoots, shoot, plan, &reason, now).await.map_err(MaintenanceError::Status)?;
            return Ok(Written::Refused(reason));
        }
        let mut status = last_maintenance(plan, PROCESSING, None, now);
        // The original tells this of whatever the Shoot has become, and then overwrites what others wrote.
        status["metadata"] = json!({"resourceVersion": shoot.metadata.resource_version});
        last = patch_status(&shoots, &name, &status).await.map_err(MaintenanceError::Status)?;
    }
    let mut written = plan.written.clone();
    // What was told has given it another version; whoever else wrote meanwhile is still noticed.
    written.metadata.resource_version = last.metadata.resource_version.clone();
    written.status = last.status.clone();
    let written =
        shoots.replace(&name, &PostParams::default(), &written).await.map_err(MaintenanceError::Update)?;
    let state = written.status.last_maintenance.as_ref().map(|last| last.state.as_str());
    if state == Some(PROCESSING) {
        let status = json!({"status": {"lastMaintenance": {"state": SUCCEEDED}}});
        patch_status(&shoots, &name, &status).await.map_err(MaintenanceError::Status)?;
    }
    Ok(Written::All)
}

/// Whether the API server would never take the Shoot as it is. The original takes every error for that, and lets a Shoot
/// wait for a day when another has just written it.
fn is_judgement(error: &kube::Error) -> bool {
    const CONFLICT: u16 = 409;
    const TOO_MANY: u16 = 429;
    matches!(error, kube::Error::Api(status)
        if (400..500).contains(&status.code) && ![CONFLICT, TOO_MANY].contains(&status.code))
}

/// Says why it failed, and takes away what asked for it, so that it can be asked for again.
async fn refused(
    shoots: &Api<Shoot>,
    shoot: &Shoot,
    plan: &Plan,
    reason: &str,
    now: Timestamp,
) -> Result<(), kube::Error> {
    let failure = format!("Maintenance failed: {reason}");
    let mut patch = last_maintenance(plan, FAILED, Some(&failure), now);
    let asked = is_to_be_maintained(shoot);
    let taken = json!({"annotations": {OPERATION: null}});
    if asked {
        patch["metadata"] = taken.clone();
    }
    let name = shoot.name_any();
    let told = patch_status(shoots, &name, &patch).await?;
    // gardener-apiserver lets a status take annotations away; a CustomResourceDefinition does not.
    if asked && is_to_be_maintained(&told) {
        shoots.patch(&name, &PatchParams::default(), &Patch::Merge(json!({"metadata": taken}))).await?;
    }
    Ok(())
}

fn last_maintenance(plan: &Plan, state: &str, failure: Option<&str>, now: Timestamp) -> Value {
    json!({"status": {"lastMaintenance": {
        "description": plan.operations.join(", "),
        "triggeredTime": now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        "state": state,
        "failureReason": failure,
    }}})
}

async fn patch_status(shoots: &Api<Shoot>, name: &str, patch: &Value) -> Result<Shoot, kube::Error> {
    shoots.patch_status(name, &PatchParams::default(), &Patch::Merge(patch)).await
}
