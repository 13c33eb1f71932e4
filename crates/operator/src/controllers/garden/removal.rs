//! Takes components down.

use api::gardener::CONFIRMATION_DELETION;
use controller::clock::Clock;
use kube::Client;
use serde_json::json;

use super::error::StepError;
use super::managed::{self, DeletedSecrets};
use super::{objects, waits};
use crate::components::lifecycle::RemovalStep;
use crate::components::rendering::ObjectName;
use crate::components::{Lifecycle, NAMESPACE};

/// Annotation with the time of the last change.
const TIMESTAMP: &str = "gardener.cloud/timestamp";

/// Deletes what a component consists of, and waits until it is gone.
///
/// # Errors
/// If the API server refuses, or something is not gone in time.
pub(super) async fn take_down(client: &Client, lifecycle: &Lifecycle, clock: Clock) -> Result<(), StepError> {
    delete(client, lifecycle, clock).await?;
    for wait in &lifecycle.removed {
        waits::managed_gone(client, wait).await?;
    }
    waits::each_object(client, &lifecycle.gone).await
}

/// Deletes what a component consists of.
///
/// # Errors
/// If the API server refuses, or what must be gone in between is not gone in time.
pub(super) async fn delete(client: &Client, lifecycle: &Lifecycle, clock: Clock) -> Result<(), StepError> {
    for step in &lifecycle.removal {
        match step {
            RemovalStep::Managed(name) => {
                managed::delete(client, (NAMESPACE, name.as_str()), DeletedSecrets::All).await?;
            }
            RemovalStep::ManagedIn(namespace, name) => {
                managed::delete(client, (namespace.as_str(), name.as_str()), DeletedSecrets::All).await?;
            }
            RemovalStep::ManagedAlone(name) => {
                managed::delete(client, (NAMESPACE, name.as_str()), DeletedSecrets::Former).await?;
            }
            RemovalStep::AwaitGone(wait) => waits::managed_gone(client, wait).await?,
            RemovalStep::Confirm(name) => confirm(client, name, clock).await?,
            RemovalStep::Object(name) => objects::delete(client, name).await?,
        }
    }
    Ok(())
}

/// Confirms the deletion of an object; an absent one is no failure.
async fn confirm(client: &Client, name: &ObjectName, clock: Clock) -> Result<(), StepError> {
    let Some(live) = objects::read(client, name).await? else { return Ok(()) };
    if live["metadata"]["annotations"][CONFIRMATION_DELETION] == "true" {
        return Ok(());
    }
    let time = clock.now().to_string();
    let patch = json!({"metadata": {"annotations": {CONFIRMATION_DELETION: "true", TIMESTAMP: time}}});
    objects::patch(client, name, &patch).await
}
