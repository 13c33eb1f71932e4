//! The steps of the flow that takes a Garden down.

use api::druid;
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
use super::progress_report::ProgressReport;
use super::secret_store::SecretStore;
use super::teardown::{self, Removal};
use super::{objects, removal};
use crate::flow::FlowStep;

/// Kinds of etcd-druid, of which nothing may be left.
const DRUID_KINDS: [&str; 2] = ["Etcd", "EtcdCopyBackupsTask"];

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
        let (client, clock) = (self.client, self.clock);
        match removal {
            Removal::Component(component) => removal::take_down(client, &component.lifecycle(), clock).await,
            Removal::ComponentWithHvpa(component) if self.has_hvpa => {
                removal::take_down(client, &component.lifecycle(), clock).await
            }
            Removal::ComponentWithHvpa(component) => {
                removal::delete(client, &component.lifecycle(), clock).await
            }
            Removal::RefuseWhileEtcds(text) => refuse_while_etcds(client, text).await,
            Removal::RefuseWhileManaged => refuse_while_managed(client).await,
            Removal::Secrets => self.store.lock().await.clean_up().await,
        }
    }
}

async fn refuse_while_etcds(client: &Client, text: &str) -> Result<(), StepError> {
    for kind in DRUID_KINDS {
        if exists(client, druid::API_VERSION, kind).await? {
            let text = format!("{text} there are still druidv1alpha1.{kind} resources left in the cluster");
            return Err(StepError::State(text));
        }
    }
    Ok(())
}

/// Whether there is any object of a kind; of a kind that is not served there is none.
async fn exists(client: &Client, api_version: &str, kind: &str) -> Result<bool, StepError> {
    let found =
        objects::api(client, api_version, kind, "").list_metadata(&ListParams::default().limit(1)).await;
    match found {
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(false),
        found => Ok(!found?.items.is_empty()),
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
