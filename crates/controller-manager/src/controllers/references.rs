//! Protects CloudProfiles, ExposureClasses and Quotas from deletion while other objects refer to them.
//!
//! The controller looks for references when an object is being deleted. It does not watch the referring objects; a
//! failed request is retried.

use std::fmt::Debug;
use std::sync::Arc;

use controller::cluster::{ScopedApi, WatchedKind};
use controller::events::{EventType, Recorder, recorder};
use controller::{Controller, Outcome, Reconcile, Request, Selection, Store, Watch};
use kube::{Client, Resource, ResourceExt as _};

use super::{Context, TIMEOUT, finalizer};

/// Reason of the event that a deletion waits.
const REFERENCED: &str = "ResourceReferenced";

/// A protected kind, and the kind that refers to it.
pub(super) struct ReferenceRule<K, R> {
    /// Name in log and metrics; events come from `<name>-controller`.
    pub(super) name: &'static str,
    /// Whether an object refers to the protected one.
    pub(super) refers: fn(&R, &K) -> bool,
    /// Beginning of the event's message; the list of referring objects follows.
    pub(super) deletion_refused: &'static str,
    /// Beginning of the error if the finalizer cannot be added.
    pub(super) finalizer_not_added: &'static str,
}

/// Why a reconciliation failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReferencesError {
    /// The finalizer could not be added.
    #[error("{0}")]
    Add(&'static str, #[source] kube::Error),
    /// The finalizer could not be removed.
    #[error("failed to remove finalizer")]
    Remove(#[source] kube::Error),
    /// Others refer to the object.
    #[error("{0}")]
    Referenced(String),
}

struct Reconciler<K, R> {
    rule: ReferenceRule<K, R>,
    objects: Store<K>,
    referring: Store<R>,
    client: Client,
    recorder: Recorder,
}

/// An object, and all objects that may refer to it.
struct State<K, R> {
    object: Arc<K>,
    others: Vec<Arc<R>>,
}

/// What to do with an object.
#[derive(Debug, PartialEq, Eq)]
enum Action {
    AddFinalizer,
    RemoveFinalizer,
    /// Report why the object cannot be deleted yet.
    Refuse(String),
}

/// The controller that protects objects of one kind.
pub(super) fn controller<K, R>(
    context: &Context,
    rule: ReferenceRule<K, R>,
    concurrent_syncs: Option<i64>,
) -> Controller
where
    K: WatchedKind + Resource<DynamicType = ()>,
    R: WatchedKind + Resource<DynamicType = ()>,
    <K as Resource>::Scope: ScopedApi<K>,
{
    let garden = &context.garden;
    let name = rule.name;
    let component = format!("{name}-controller");
    let (recorder, writer) = recorder(garden.client(), &component, context.clock, context.entropy.clone());
    let objects = garden.store::<K>(Selection::all());
    let changed = Watch::of(&objects);
    let referring = garden.store::<R>(Selection::all());
    let reconciler = Reconciler { rule, objects, referring, client: garden.client(), recorder };
    Controller::new(name, reconciler)
        .workers(super::workers(concurrent_syncs))
        .timeout(TIMEOUT)
        .source(changed)
        .source(writer)
}

impl<K, R> Reconcile for Reconciler<K, R>
where
    K: WatchedKind + Resource<DynamicType = ()>,
    R: WatchedKind + Resource<DynamicType = ()>,
    <K as Resource>::Scope: ScopedApi<K>,
{
    type Error = ReferencesError;

    async fn reconcile(&self, request: Request) -> Result<Outcome, ReferencesError> {
        let Some(state) = self.observe(&request) else { return Ok(Outcome::Done) };
        for action in plan(&self.rule, &state) {
            self.execute(&request, &state, action).await?;
        }
        Ok(Outcome::Done)
    }
}

impl<K, R> Reconciler<K, R>
where
    K: WatchedKind + Resource<DynamicType = ()>,
    R: WatchedKind,
    <K as Resource>::Scope: ScopedApi<K>,
{
    fn observe(&self, request: &Request) -> Option<State<K, R>> {
        let object = self.objects.get(&request.namespace, &request.name)?;
        Some(State { object, others: self.referring.list() })
    }

    async fn execute(
        &self,
        request: &Request,
        state: &State<K, R>,
        action: Action,
    ) -> Result<(), ReferencesError> {
        let objects = <K as Resource>::Scope::api(self.client.clone(), &request.namespace);
        match action {
            Action::AddFinalizer => {
                tracing::info!("Adding finalizer");
                let added = finalizer::add(&objects, &*state.object).await;
                added.map(drop).map_err(|error| ReferencesError::Add(self.rule.finalizer_not_added, error))
            }
            Action::RemoveFinalizer => {
                tracing::info!("Nobody refers to it, removing finalizer");
                finalizer::remove(&objects, &*state.object).await.map_err(ReferencesError::Remove)
            }
            Action::Refuse(message) => {
                self.recorder.event(&*state.object, EventType::Normal, REFERENCED, &message);
                Err(ReferencesError::Referenced(message))
            }
        }
    }
}

/// GCM-CPR-001 to -005, GCM-EXC-001 to -005, GCM-QUO-001 to -005.
fn plan<K: Resource, R: Resource>(rule: &ReferenceRule<K, R>, state: &State<K, R>) -> Vec<Action> {
    let object = &*state.object;
    match (object.meta().deletion_timestamp.is_some(), finalizer::is_present(object)) {
        (false, false) => return vec![Action::AddFinalizer],
        (false, true) | (true, false) => return Vec::new(),
        (true, true) => {}
    }
    let referring = state.others.iter().filter(|other| (rule.refers)(other, object));
    let names: Vec<String> = referring
        .map(|other| format!("{}/{}", other.namespace().unwrap_or_default(), other.name_any()))
        .collect();
    if names.is_empty() {
        return vec![Action::RemoveFinalizer];
    }
    vec![Action::Refuse(format!("{}: [{}]", rule.deletion_refused, names.join(" ")))]
}
