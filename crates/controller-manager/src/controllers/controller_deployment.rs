//! Protects ControllerDeployments that ControllerRegistrations name from deletion
//! (contracts/controller-manager/controllers/controller-deployment.yaml).

use std::sync::Arc;

use api::garden::{ControllerDeployment, ControllerRegistration};
use controller::source::predicate;
use controller::{Controller, Outcome, Reconcile, Request, Selection, Store, Watch};
use kube::api::Api;
use kube::{Client, ResourceExt as _};

use super::{Context, TIMEOUT, finalizer};

/// Name in log and metrics.
pub const NAME: &str = "controllerdeployment";
/// The finalizer.
const FINALIZER: &str = "core.gardener.cloud/controllerdeployment";

/// The controller of one instance.
pub fn controller(context: &Context) -> Controller {
    let garden = &context.garden;
    let deployments = garden.store::<ControllerDeployment>(Selection::all());
    let changed = Watch::of(&deployments).filter(predicate::generation_changed);
    let registrations = garden.store::<ControllerRegistration>(Selection::all());
    let reconciler = Reconciler { deployments, registrations, client: garden.client() };
    Controller::new(NAME, reconciler)
        .workers(super::workers(context.config.controllers.controller_deployment.concurrent_syncs))
        .timeout(TIMEOUT)
        .source(changed)
}

/// Why a reconciliation failed.
#[derive(Debug, thiserror::Error)]
pub enum ControllerDeploymentError {
    /// The finalizer could not be added.
    #[error("failed to add finalizer")]
    Add(#[source] kube::Error),
    /// The finalizer could not be removed.
    #[error("failed to remove finalizer")]
    Remove(#[source] kube::Error),
    /// A ControllerRegistration, whose name the original prints, refers to the ControllerDeployment.
    #[error(
        "cannot remove finalizer of ControllerDeployment {0:?} because still found one ControllerRegistration"
    )]
    Referenced(String),
}

struct Reconciler {
    deployments: Store<ControllerDeployment>,
    registrations: Store<ControllerRegistration>,
    client: Client,
}

/// A ControllerDeployment, and the first ControllerRegistration that refers to it.
struct State {
    deployment: Arc<ControllerDeployment>,
    registration: Option<String>,
}

/// What to do with a ControllerDeployment.
#[derive(Debug, PartialEq, Eq)]
enum Action {
    AddFinalizer,
    RemoveFinalizer,
    /// Report that this ControllerRegistration refers to it.
    Refuse(String),
}

impl Reconcile for Reconciler {
    type Error = ControllerDeploymentError;

    async fn reconcile(&self, request: Request) -> Result<Outcome, ControllerDeploymentError> {
        let Some(state) = self.observe(&request) else { return Ok(Outcome::Done) };
        for action in plan(&state) {
            self.execute(&state, action).await?;
        }
        Ok(Outcome::Done)
    }
}

impl Reconciler {
    fn observe(&self, request: &Request) -> Option<State> {
        let deployment = self.deployments.get("", &request.name)?;
        let registrations = self.registrations.list();
        let registration = registrations.iter().find(|registration| refers(registration, &request.name));
        Some(State { deployment, registration: registration.map(|registration| registration.name_any()) })
    }

    async fn execute(&self, state: &State, action: Action) -> Result<(), ControllerDeploymentError> {
        let deployments: Api<ControllerDeployment> = Api::all(self.client.clone());
        match action {
            Action::AddFinalizer => {
                tracing::info!("Adding finalizer");
                let added = finalizer::add_named(&deployments, &*state.deployment, FINALIZER).await;
                added.map(drop).map_err(ControllerDeploymentError::Add)
            }
            Action::RemoveFinalizer => {
                tracing::info!("Removing finalizer");
                let removed = finalizer::remove_named(&deployments, &*state.deployment, FINALIZER).await;
                removed.map_err(ControllerDeploymentError::Remove)
            }
            Action::Refuse(registration) => Err(ControllerDeploymentError::Referenced(registration)),
        }
    }
}

/// GCM-CTD-001 to -004.
fn plan(state: &State) -> Vec<Action> {
    let State { deployment, registration } = state;
    let is_deleted = deployment.metadata.deletion_timestamp.is_some();
    match (is_deleted, finalizer::has(&**deployment, FINALIZER), registration) {
        (false, false, _) => vec![Action::AddFinalizer],
        (true, true, Some(registration)) => vec![Action::Refuse(registration.clone())],
        (true, true, None) => vec![Action::RemoveFinalizer],
        (false, true, _) | (true, false, _) => Vec::new(),
    }
}

fn refers(registration: &ControllerRegistration, name: &str) -> bool {
    let deployment = registration.spec.deployment.iter();
    deployment.flat_map(|deployment| &deployment.deployment_refs).any(|deployment| deployment.name == name)
}
