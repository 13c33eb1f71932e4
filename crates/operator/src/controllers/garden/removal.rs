//! Takes components down.

use api::gardener::CONFIRMATION_DELETION;
use controller::clock::Clock;
use kube::Client;
use serde_json::json;
use tokio::sync::Mutex;

use super::error::StepError;
use super::managed::{self, DeletedSecrets};
use super::secret_store::SecretStore;
use super::{objects, waits};
use crate::components::lifecycle::{RemovalStep, RequiredAbsence};
use crate::components::rendering::ObjectName;
use crate::components::{Lifecycle, NAMESPACE};

/// Annotation with the time of the last change.
const TIMESTAMP: &str = "gardener.cloud/timestamp";

/// Takes the components of one Garden down.
#[derive(Clone, Copy)]
pub(super) struct Remover<'a> {
    pub(super) client: &'a Client,
    pub(super) store: &'a Mutex<SecretStore>,
    pub(super) clock: Clock,
}

impl Remover<'_> {
    /// Deletes what a component consists of, and waits until it is gone.
    ///
    /// # Errors
    /// If the API server refuses, something must not be deleted yet, or is not gone in time.
    pub(super) async fn take_down(&self, lifecycle: &Lifecycle) -> Result<(), StepError> {
        self.delete(lifecycle).await?;
        for wait in &lifecycle.removed {
            waits::managed_gone(self.client, wait).await?;
        }
        waits::each_object(self.client, &lifecycle.gone).await
    }

    /// Deletes what a component consists of.
    ///
    /// # Errors
    /// If the API server refuses, something must not be deleted yet, or what must be gone in between is not gone in time.
    pub(super) async fn delete(&self, lifecycle: &Lifecycle) -> Result<(), StepError> {
        for step in &lifecycle.removal {
            self.perform(step).await?;
        }
        Ok(())
    }

    async fn perform(&self, step: &RemovalStep) -> Result<(), StepError> {
        let client = self.client;
        match step {
            RemovalStep::Managed(name) => {
                managed::delete(client, (NAMESPACE, name.as_str()), DeletedSecrets::All).await
            }
            RemovalStep::ManagedIn { namespace, name } => {
                managed::delete(client, (namespace.as_str(), name.as_str()), DeletedSecrets::All).await
            }
            RemovalStep::ManagedAlone(name) => {
                managed::delete(client, (NAMESPACE, name.as_str()), DeletedSecrets::Former).await
            }
            RemovalStep::AwaitGone(wait) => waits::managed_gone(client, wait).await,
            RemovalStep::Confirm(name) => self.confirm(name).await,
            RemovalStep::Object(name) => objects::delete(client, name).await,
            RemovalStep::Generated(request) => self.store.lock().await.delete(request).await,
            RemovalStep::RequireNone(absence) => self.require_none(absence).await,
        }
    }

    /// Confirms the deletion of an object; an absent one is no failure.
    async fn confirm(&self, name: &ObjectName) -> Result<(), StepError> {
        let Some(live) = objects::read(self.client, name).await? else { return Ok(()) };
        if live["metadata"]["annotations"][CONFIRMATION_DELETION] == "true" {
            return Ok(());
        }
        let time = self.clock.now().to_string();
        let patch = json!({"metadata": {"annotations": {CONFIRMATION_DELETION: "true", TIMESTAMP: time}}});
        objects::patch(self.client, name, &patch).await
    }

    /// Fails while there is an object of a kind.
    async fn require_none(&self, absence: &RequiredAbsence) -> Result<(), StepError> {
        let RequiredAbsence { api_version, kind, refusal } = absence;
        if objects::any_exists(self.client, api_version, kind).await? {
            return Err(StepError::State((*refusal).to_owned()));
        }
        Ok(())
    }
}
