//! Objects of the garden that are kept as long as others refer to them: CloudProfiles, ExposureClasses and Quotas.
//!
//! Who refers is looked for when one is to be deleted; the others are not watched, a request that fails comes back.

use std::fmt::Debug;
use std::sync::Arc;

use controller::cluster::WatchedKind;
use controller::events::{EventType, Recorder, recorder};
use controller::{Controller, Outcome, Reconcile, Request, Selection, Store, Watch};
use k8s_openapi::{ClusterResourceScope, NamespaceResourceScope};
use kube::api::Api;
use kube::{Client, Resource, ResourceExt as _};

use super::{Context, TIMEOUT, finalizer};

/// Reason of the event that tells that a deletion waits.
const REFERENCED: &str = "ResourceReferenced";

/// What is kept, and who keeps it.
pub(super) struct Rule<K, R> {
    /// Name in log and metrics; events come from `<name>-controller`.
    pub(super) name: &'static str,
    /// Whether an object refers to the one that is kept.
    pub(super) refers: fn(&R, &K) -> bool,
    /// What is told, up to the list of those who refer.
    pub(super) refused: &'static str,
    /// How an error begins if the finalizer cannot be set.
    pub(super) not_added: &'static str,
}

/// Why an object is not as it should be.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReferencesError {
    /// It could not be held.
    #[error("{0}")]
    Add(&'static str, #[source] kube::Error),
    /// It could not be let go.
    #[error("failed to remove finalizer")]
    Remove(#[source] kube::Error),
    /// Others refer to it.
    #[error("{0}")]
    Referenced(String),
}

/// How objects of a scope are reached.
pub(super) trait Reached<K> {
    /// The objects of a namespace, or of the cluster.
    fn objects(client: Client, namespace: &str) -> Api<K>;
}

impl<K: Resource<Scope = Self, DynamicType = ()>> Reached<K> for ClusterResourceScope {
    fn objects(client: Client, _: &str) -> Api<K> {
        Api::all(client)
    }
}

impl<K: Resource<Scope = Self, DynamicType = ()>> Reached<K> for NamespaceResourceScope {
    fn objects(client: Client, namespace: &str) -> Api<K> {
        Api::namespaced(client, namespace)
    }
}

struct Reconciler<K, R> {
    rule: Rule<K, R>,
    objects: Store<K>,
    referring: Store<R>,
    client: Client,
    recorder: Recorder,
}

/// An object, and those that may refer to it.
struct State<K, R> {
    object: Arc<K>,
    others: Vec<Arc<R>>,
}

/// What is done with an object.
#[derive(Debug, PartialEq, Eq)]
enum Action {
    Hold,
    LetGo,
    /// It is told why it stays.
    Refuse(String),
}

/// The controller that keeps objects of a kind.
pub(super) fn controller<K, R>(
    context: &Context,
    rule: Rule<K, R>,
    concurrent_syncs: Option<i64>,
) -> Controller
where
    K: Kind + Resource<DynamicType = ()>,
    R: Kind + Resource<DynamicType = ()>,
    <K as Resource>::Scope: Reached<K>,
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
    K: Kind + Resource<DynamicType = ()>,
    R: Kind + Resource<DynamicType = ()>,
    <K as Resource>::Scope: Reached<K>,
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
    K: Kind + Resource<DynamicType = ()>,
    R: Kind,
    <K as Resource>::Scope: Reached<K>,
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
        let objects = <K as Resource>::Scope::objects(self.client.clone(), &request.namespace);
        match action {
            Action::Hold => {
                tracing::info!("Adding finalizer");
                let added = finalizer::add(&objects, &*state.object).await;
                added.map_err(|error| ReferencesError::Add(self.rule.not_added, error))
            }
            Action::LetGo => {
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
fn plan<K: Resource, R: Resource>(rule: &Rule<K, R>, state: &State<K, R>) -> Vec<Action> {
    let object = &*state.object;
    match (object.meta().deletion_timestamp.is_some(), finalizer::is_held(object)) {
        (false, false) => return vec![Action::Hold],
        (false, true) | (true, false) => return Vec::new(),
        (true, true) => {}
    }
    let referring = state.others.iter().filter(|other| (rule.refers)(other, object));
    let names: Vec<String> = referring
        .map(|other| format!("{}/{}", other.namespace().unwrap_or_default(), other.name_any()))
        .collect();
    if names.is_empty() {
        return vec![Action::LetGo];
    }
    vec![Action::Refuse(format!("{}: [{}]", rule.refused, names.join(" ")))]
}
