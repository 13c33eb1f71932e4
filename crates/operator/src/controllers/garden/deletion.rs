//! The steps of the flow that takes a Garden down.

use api::resources::{API_VERSION, SEED_CLASS};
use controller::clock::Clock;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use kube::Client;
use kube::api::ListParams;
use tokio::sync::Mutex;

use super::error::StepError;
use super::flow_run::FlowTasks;
use super::flow_state::FlowProgress;
use super::objects;
use super::progress_report::ProgressReport;
use super::removal::Remover;
use super::secret_store::SecretStore;
use super::teardown::{self, Removal};
use crate::flow::FlowStep;

/// What the steps of one deletion work with.
pub(super) struct Deletion<'a> {
    pub(super) client: &'a Client,
    pub(super) store: &'a Mutex<SecretStore>,
    pub(super) has_hvpa: bool,
    pub(super) clock: Clock,
    pub(super) progress: &'a ProgressReport,
}

impl FlowTasks for Deletion<'_> {
    fn run(&self, step: &'static FlowStep) -> BoxFuture<'_, Result<(), StepError>> {
        self.perform(step).boxed()
    }

    fn report(&self, progress: FlowProgress) -> BoxFuture<'_, ()> {
        self.progress.write(progress).boxed()
    }
}

impl Deletion<'_> {
    async fn perform(&self, step: &'static FlowStep) -> Result<(), StepError> {
        let Some(removals) = teardown::plan(step.name) else {
            return Err(StepError::State(format!("nothing is planned for the step {:?}", step.name)));
        };
        for removal in removals {
            self.remove(*removal).await?;
        }
        Ok(())
    }

    async fn remove(&self, removal: Removal) -> Result<(), StepError> {
        let remover = Remover { client: self.client, store: self.store, clock: self.clock };
        match removal {
            Removal::Component(component) => remover.take_down(&component.lifecycle()).await,
            Removal::ComponentWithHvpa(component) if self.has_hvpa => {
                remover.take_down(&component.lifecycle()).await
            }
            Removal::ComponentWithHvpa(component) => remover.delete(&component.lifecycle()).await,
            Removal::RefuseWhileManaged => refuse_while_managed(self.client).await,
            Removal::Secrets => self.store.lock().await.clean_up().await,
        }
    }
}

async fn refuse_while_managed(client: &Client) -> Result<(), StepError> {
    let resources = objects::api(client, API_VERSION, "ManagedResource", "");
    let found = match resources.list(&ListParams::default()).await {
        Err(kube::Error::Api(status)) if status.is_not_found() => return Ok(()),
        found => found?,
    };
    if found.items.iter().any(|resource| resource.data["spec"]["class"] == SEED_CLASS) {
        let text = "requeue in 5s due to at least one ManagedResource still exists";
        return Err(StepError::State(text.to_owned()));
    }
    Ok(())
}
