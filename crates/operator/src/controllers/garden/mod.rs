//! Brings Gardens to their specification, and takes them down.
//!
//! A pass has the shape guards, plan, steps: the plan is a [`Flow`](crate::flow::Flow), and its steps are what `step_plan` and
//! `teardown` say by their names.
//!
//! - `triggers`, `operation`, `status` — when a Garden is reconciled, what its annotation requests, what its status tells;
//! - `requirements`, `authorities`, `observation`, `secret_store` — what precedes the flow;
//! - `flow_state`, `flow_run`, `retry`, `progress_report` — the flow in execution;
//! - [`identity`] — who the operator is;
//! - [`component_table`], `lifecycles`, `deployment`, `etcds`, `bootstrap`, `step_plan`, `reconciliation` — what is deployed;
//! - `renewal`, `encryption` — what is renewed during a rotation;
//! - `teardown`, `definitions`, `removal`, `deletion` — what is removed;
//! - `objects`, `merge`, `direct`, `managed`, `waits`, `side_by_side`, `readiness`, `newest_pod` — objects in the cluster.
//!
//! No pass is limited as a whole: the waits of its steps are, and the original does the same.
//!
//! The controller is not among those that the operator runs as long as components are missing in its table: definitions of kinds.
//! It deploys and takes down all others as [`components`](crate::components) says.

mod authorities;
mod bootstrap;
pub mod component_table;
mod definitions;
mod deletion;
mod deployment;
mod direct;
mod encryption;
pub mod error;
mod etcds;
mod flow_run;
mod flow_state;
pub mod identity;
mod lifecycles;
mod managed;
mod merge;
mod newest_pod;
mod objects;
mod observation;
mod operation;
mod progress_report;
mod readiness;
mod reconciliation;
mod removal;
mod renewal;
mod requirements;
mod retry;
mod secret_store;
mod side_by_side;
mod status;
mod step_plan;
mod teardown;
mod triggers;
mod waits;

use std::collections::BTreeMap;
use std::sync::Arc;

use api::garden::condition::Gardener;
use api::gardener::OPERATION;
use api::operator::{FINALIZER, Garden};
use controller::clock::Clock;
use controller::reconcile::finalizer;
use controller::{
    CancellationToken, Controller, Outcome, Reconcile, Request, Selection, Store, describe_error,
};
use formats::version::Version;
use kube::Client;
use kube::api::{Api, Patch, PatchParams};
use secrets::Material;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use self::component_table::ComponentTable;
use self::deletion::Deletion;
use self::deployment::Deployer;
use self::error::{FlowError, GardenError, StepError};
use self::flow_state::FlowState;
use self::progress_report::ProgressReport;
use self::reconciliation::Reconciliation;
use self::secret_store::SecretStore;
use self::status::OperationType;
use super::OperatorContext;
use super::care::VirtualCluster;
use crate::components::image_vector::ImageVector;
use crate::components::{GeneratedSecrets, ObservedState, ReferencedObjects};
use crate::config::OperatorConfiguration;
use crate::flow::{DELETION, RECONCILIATION};

/// Name in log and metrics.
pub const NAME: &str = "garden";

/// The feature gate with which Hvpa objects scale components.
const HVPA: &str = "HVPA";

/// What the controller knows of its process and the runtime cluster.
#[derive(Clone, Debug)]
pub struct GardenSettings {
    /// The operator, as the status of a Garden names it.
    pub identity: Gardener,
    /// The version of the runtime cluster.
    pub runtime_version: Version,
    /// The images.
    pub images: ImageVector,
    /// Image vectors for components that deploy others, as text, by the name of the component.
    pub component_images: BTreeMap<String, String>,
    /// Who renders the components.
    pub components: ComponentTable,
    /// Whether the runtime cluster is one of a developer, in which kube-apiserver has a fixed address.
    pub is_local: bool,
    /// Makes the values of new Secrets.
    pub material: fn() -> Box<dyn Material + Send>,
    /// Cancelled when the operator stops; a flow that runs then ends at once.
    pub stop: CancellationToken,
}

/// The controller of one instance.
pub fn controller(context: &OperatorContext, settings: GardenSettings) -> Controller {
    let config = context.config.clone();
    let gardens = context.runtime.store::<Garden>(Selection::all());
    let triggers = triggers::gardens(&gardens);
    let workers = super::workers(config.controllers.garden.concurrent_syncs);
    let reconciler = Reconciler {
        gardens,
        client: context.runtime.client(),
        virtual_cluster: context.virtual_cluster.clone(),
        has_hvpa: config.is_enabled(HVPA),
        clock: context.clock,
        config,
        settings,
    };
    Controller::new(NAME, reconciler).workers(workers).source(triggers)
}

struct Reconciler {
    gardens: Store<Garden>,
    client: Client,
    virtual_cluster: VirtualCluster,
    has_hvpa: bool,
    clock: Clock,
    config: Arc<OperatorConfiguration>,
    settings: GardenSettings,
}

/// What precedes the flow.
struct Prepared {
    secrets: GeneratedSecrets,
    referenced: ReferencedObjects,
    observed: ObservedState,
}

impl Reconcile for Reconciler {
    type Error = GardenError;

    async fn reconcile(&self, request: Request) -> Result<Outcome, GardenError> {
        let Some(garden) = self.gardens.get("", &request.name) else { return Ok(Outcome::Done) };
        if self.gardens.list().len() > 1 {
            let text = "there can be at most one operator.gardener.cloud/v1alpha1.Garden resource in the system at a time";
            tracing::error!(error = text, "Reconciliation prevented without automatic requeue");
            return Ok(Outcome::Done);
        }
        if OperationType::of(&garden) == OperationType::Delete && !finalizer::has(&*garden, FINALIZER) {
            return Ok(Outcome::Done);
        }
        let progress = ProgressReport::new(&self.client, &request.name, self.clock);
        match Box::pin(self.operate(&garden, &progress)).await {
            Err(GardenError::Flow(FlowError::Stopped)) => Ok(Outcome::Done),
            Err(error) => Err(self.failed(&garden, progress.percent().await, error).await),
            outcome => outcome,
        }
    }
}

impl Reconciler {
    /// Step 1 begins the operation, step 2 runs its flow, step 3 ends it.
    async fn operate(&self, garden: &Garden, progress: &ProgressReport) -> Result<Outcome, GardenError> {
        let garden = self.begin(garden).await?;
        let open = SecretStore::open(
            &self.client,
            authorities::setup(&garden),
            (self.settings.material)(),
            self.clock,
        );
        let store = Mutex::new(open.await?);
        match OperationType::of(&garden) {
            OperationType::Delete => {
                self.delete(&garden, &store, progress).await?;
                Ok(Outcome::Done)
            }
            OperationType::Reconcile => Box::pin(self.bring_up(garden, &store, progress)).await,
        }
    }

    /// Writes that the operation begins, and removes the annotation that requested it.
    async fn begin(&self, garden: &Garden) -> Result<Garden, GardenError> {
        let begun = status::begun(garden, &self.settings.identity, self.clock.now());
        let mut written = self.write_status(garden, begun).await?;
        if operation::requested(garden).is_some() {
            let patch = json!({"metadata": {"annotations": {OPERATION: null}}});
            written =
                self.gardens_api().patch(name(garden), &PatchParams::default(), &Patch::Merge(patch)).await?;
        }
        self.gardens.wait_until_shows(&written).await;
        Ok(written)
    }

    async fn bring_up(
        &self,
        garden: Garden,
        store: &Mutex<SecretStore>,
        progress: &ProgressReport,
    ) -> Result<Outcome, GardenError> {
        requirements::check(&garden)?;
        let garden = if finalizer::has(&garden, FINALIZER) {
            garden
        } else {
            tracing::info!("Adding finalizer");
            finalizer::add(&self.gardens_api(), &garden, FINALIZER).await?
        };
        requirements::autoscaler(&self.client, &garden).await?;
        requirements::namespace(&self.client, &garden).await?;
        let prepared = self.prepare(&garden, store).await?;
        self.deploy(&garden, store, &prepared, progress).await?;
        if !prepared.observed.has_seed_authorizer {
            tracing::info!("Triggering a second reconciliation to enable seed authorizer feature");
            return Ok(Outcome::Requeue);
        }
        store.lock().await.clean_up().await?;
        let succeeded = status::succeeded(&garden, self.clock.now());
        let written = self.write_status(&garden, succeeded).await?;
        self.gardens.wait_until_shows(&written).await;
        Ok(Outcome::RequeueAfter(super::period(self.config.controllers.garden.sync_period)))
    }

    /// Generates all Secrets, authorities first, and reads what components are rendered from.
    async fn prepare(&self, garden: &Garden, store: &Mutex<SecretStore>) -> Result<Prepared, GardenError> {
        let mut store = store.lock().await;
        for requested in authorities::requests(garden) {
            store.generate(&requested).await?;
        }
        let observed = observation::observe(&self.client, self.clock.now(), self.settings.is_local).await?;
        let authorities = store.generated();
        for requested in self.settings.components.requests(garden, &authorities, &observed)? {
            store.generate(&requested).await?;
        }
        let referenced = observation::referenced(&self.client, garden).await?;
        Ok(Prepared { secrets: store.generated(), referenced, observed })
    }

    async fn deploy(
        &self,
        garden: &Garden,
        store: &Mutex<SecretStore>,
        prepared: &Prepared,
        progress: &ProgressReport,
    ) -> Result<(), GardenError> {
        let tasks = Reconciliation {
            deployer: Deployer {
                client: &self.client,
                components: &self.settings.components,
                garden,
                config: &self.config,
                runtime_version: &self.settings.runtime_version,
                operator_version: &self.settings.identity.version,
                images: &self.settings.images,
                component_images: &self.settings.component_images,
                secrets: &prepared.secrets,
                referenced: &prepared.referenced,
                observed: &prepared.observed,
            },
            store,
            virtual_cluster: &self.virtual_cluster,
            has_hvpa: self.has_hvpa,
            clock: self.clock,
            progress,
        };
        let state = FlowState::new(&RECONCILIATION, garden, self.has_hvpa);
        Ok(flow_run::run(state, &tasks, &self.settings.stop).await?)
    }

    async fn delete(
        &self,
        garden: &Garden,
        store: &Mutex<SecretStore>,
        progress: &ProgressReport,
    ) -> Result<(), GardenError> {
        let (client, has_hvpa, clock) = (&self.client, self.has_hvpa, self.clock);
        let tasks = Deletion { client, store, has_hvpa, clock, progress };
        let state = FlowState::new(&DELETION, garden, has_hvpa);
        flow_run::run(state, &tasks, &self.settings.stop).await?;
        let gardens = self.gardens_api();
        let current = gardens.get_opt(name(garden)).await?;
        if let Some(current) = current {
            finalizer::remove(&gardens, &current, FINALIZER)
                .await
                .map_err(|error| StepError::from(error).within("failed to remove finalizer"))?;
        }
        Ok(())
    }

    /// Writes an error to the status, and returns it.
    async fn failed(&self, garden: &Garden, percent: i32, error: GardenError) -> GardenError {
        let cause = describe_error(&error);
        let failed = status::failed(garden, percent, &cause, &self.settings.identity, self.clock.now());
        match self.write_status(garden, failed).await {
            Ok(_) => error,
            Err(source) => GardenError::Status { cause, source },
        }
    }

    async fn write_status(&self, garden: &Garden, patch: Value) -> Result<Garden, kube::Error> {
        self.gardens_api().patch_status(name(garden), &PatchParams::default(), &Patch::Merge(patch)).await
    }

    fn gardens_api(&self) -> Api<Garden> {
        Api::all(self.client.clone())
    }
}

fn name(garden: &Garden) -> &str {
    garden.metadata.name.as_deref().unwrap_or_default()
}

#[cfg(test)]
mod tests;
