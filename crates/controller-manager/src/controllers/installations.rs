//! Protects Seeds and ControllerRegistrations from deletion while ControllerInstallations refer to them.

use std::fmt::Debug;
use std::sync::Arc;

use api::garden::ControllerInstallation;
use controller::cluster::WatchedKind;
use controller::store::Index;
use controller::{Controller, Outcome, Reconcile, Request, Selection, Store, Watch, predicate};
use kube::api::Api;
use kube::{Client, Resource, ResourceExt as _};

use super::{Context, TIMEOUT, WORKERS, finalizer};

/// Finalizer of a Seed or ControllerRegistration with installations.
pub(super) const FINALIZER: &str = "core.gardener.cloud/controllerregistration";

/// A protected kind.
pub(super) struct InstallationRule {
    /// Name in log and metrics.
    pub(super) name: &'static str,
    /// The name of the protected object that an installation refers to.
    pub(super) refers: fn(&ControllerInstallation) -> Option<&String>,
}

/// Why a reconciliation failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum InstallationsError {
    /// The finalizer could not be added.
    #[error("failed to add finalizer")]
    Add(#[source] kube::Error),
    /// The finalizer could not be removed.
    #[error("failed to remove finalizer")]
    Remove(#[source] kube::Error),
    /// There are installations.
    #[error(
        "cannot remove finalizer of {kind} {name:?} because still found ControllerInstallations: [{found}]"
    )]
    Found {
        /// The protected kind.
        kind: String,
        /// The protected object.
        name: String,
        /// The installations.
        found: String,
    },
}

/// The controller that protects objects of one kind.
pub(super) fn controller<K>(context: &Context, rule: &InstallationRule) -> Controller
where
    K: WatchedKind + Resource<DynamicType = (), Scope = k8s_openapi::ClusterResourceScope>,
{
    let garden = &context.garden;
    let objects = garden.store::<K>(Selection::all());
    let changed = Watch::of(&objects).filter(predicate::generation_changed);
    let refers = rule.refers;
    let installations = garden.store::<ControllerInstallation>(Selection::all());
    let installations = installations.index(move |object| refers(object).cloned().into_iter().collect());
    let reconciler = Reconciler { objects, installations, client: garden.client() };
    Controller::new(rule.name, reconciler).workers(WORKERS).timeout(TIMEOUT).source(changed)
}

struct Reconciler<K> {
    objects: Store<K>,
    installations: Index<ControllerInstallation>,
    client: Client,
}

/// An object, and the installations that refer to it.
struct State<K> {
    object: Arc<K>,
    installations: Vec<String>,
}

/// What to do with an object.
#[derive(Debug, PartialEq, Eq)]
enum Action {
    AddFinalizer,
    RemoveFinalizer,
    /// Report which installations hold it.
    Refuse(Vec<String>),
}

impl<K> Reconcile for Reconciler<K>
where
    K: WatchedKind + Resource<DynamicType = (), Scope = k8s_openapi::ClusterResourceScope>,
{
    type Error = InstallationsError;

    async fn reconcile(&self, request: Request) -> Result<Outcome, InstallationsError> {
        let Some(state) = self.observe(&request) else { return Ok(Outcome::Done) };
        for action in plan(&state) {
            self.execute(&state.object, action).await?;
        }
        Ok(Outcome::Done)
    }
}

impl<K> Reconciler<K>
where
    K: WatchedKind + Resource<DynamicType = (), Scope = k8s_openapi::ClusterResourceScope>,
{
    fn observe(&self, request: &Request) -> Option<State<K>> {
        let object = self.objects.get("", &request.name)?;
        let installations = self.installations.get(&request.name);
        Some(State { object, installations: installations.iter().map(|found| found.name_any()).collect() })
    }

    async fn execute(&self, object: &K, action: Action) -> Result<(), InstallationsError> {
        let objects: Api<K> = Api::all(self.client.clone());
        match action {
            Action::AddFinalizer => {
                tracing::info!("Adding finalizer");
                let added = finalizer::add_named(&objects, object, FINALIZER).await;
                added.map(drop).map_err(InstallationsError::Add)
            }
            Action::RemoveFinalizer => {
                tracing::info!("Removing finalizer");
                finalizer::remove_named(&objects, object, FINALIZER).await.map_err(InstallationsError::Remove)
            }
            Action::Refuse(installations) => Err(InstallationsError::Found {
                kind: K::kind(&()).into_owned(),
                name: object.name_any(),
                found: installations.join(" "),
            }),
        }
    }
}

/// GCM-CRF-001 to -004, GCM-CSF-001 to -004.
fn plan<K: Resource>(state: &State<K>) -> Vec<Action> {
    let object = &*state.object;
    let is_protected = finalizer::has(object, FINALIZER);
    match (object.meta().deletion_timestamp.is_some(), is_protected) {
        (false, false) => vec![Action::AddFinalizer],
        (false, true) | (true, false) => Vec::new(),
        (true, true) if state.installations.is_empty() => vec![Action::RemoveFinalizer],
        (true, true) => vec![Action::Refuse(state.installations.clone())],
    }
}
