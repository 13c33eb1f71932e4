//! Protects Secrets and ConfigMaps that objects refer to from deletion: these get a finalizer, and so does the object
//! that refers to them.
//!
//! The controller reconciles an object when it changes. It does not watch Secrets and ConfigMaps; a missing one is an
//! error, which is retried.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::Api;
use kube::core::PartialObjectMeta;
use kube::{Client, Resource, ResourceExt as _};

use super::finalizer;
use super::parallel::{self, Failures};
use crate::cluster::{Cluster, ScopedApi, WatchedKind};
use crate::controller::Controller;
use crate::reconcile::{Outcome, Reconcile};
use crate::request::Request;
use crate::source::Watch;
use crate::store::{Selection, Store};

/// The kinds that are protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReferenceKind {
    /// A Secret.
    Secret,
    /// A ConfigMap.
    ConfigMap,
}

/// Kind and name of a referenced object.
pub type Reference<'a> = (ReferenceKind, &'a str);

/// How the references of a kind are protected.
#[derive(Clone, Copy, Debug)]
pub struct ReferenceRule<K> {
    /// Name in log and metrics.
    pub name: &'static str,
    /// How many objects are processed at once.
    pub workers: usize,
    /// Maximum time of one reconciliation.
    pub timeout: Duration,
    /// Finalizer of an object that refers to others, and of those.
    pub finalizer: &'static str,
    /// Label of Secrets that are protected otherwise.
    pub managed: &'static str,
    /// Namespace of the referenced objects; `None`: that of the object that refers to them.
    pub namespace: Option<&'static str>,
    /// The objects that an object refers to.
    pub references: fn(&K) -> BTreeSet<Reference<'_>>,
    /// Whether an object that is being deleted needs its references no longer.
    pub is_released: fn(&K) -> bool,
}

/// Why the references of an object could not be protected.
#[derive(Debug, thiserror::Error)]
pub enum ReferenceError {
    /// Finalizers could not be removed from objects.
    #[error(transparent)]
    Release(Failures),
    /// Finalizers could not be added to objects.
    #[error(transparent)]
    Protect(Failures),
    /// Some objects do not exist.
    #[error("not found: {0}")]
    Missing(String),
    /// The object's own finalizer could not be added.
    #[error("failed to add finalizer")]
    Add(#[source] kube::Error),
    /// The object's own finalizer could not be removed.
    #[error("failed to remove finalizer")]
    Remove(#[source] kube::Error),
}

/// Why the finalizer of one Secret or ConfigMap could not be changed.
#[derive(Debug, thiserror::Error)]
enum FinalizerError {
    #[error("failed to add finalizer to {0}")]
    Add(String, #[source] kube::Error),
    #[error("failed to remove finalizer from {0}")]
    Remove(String, #[source] kube::Error),
}

/// The controller that protects what objects of a kind refer to; `changed` selects the updates that start it.
pub fn controller<K>(
    cluster: &Cluster,
    rule: ReferenceRule<K>,
    objects: Store<K>,
    changed: Watch<K>,
) -> Controller
where
    K: WatchedKind + Resource<DynamicType = ()>,
    <K as Resource>::Scope: ScopedApi<K>,
{
    let (name, workers, timeout) = (rule.name, rule.workers, rule.timeout);
    let reconciler = Reconciler {
        objects,
        secrets: cluster.store(selection(rule.namespace)),
        config_maps: cluster.store(selection(rule.namespace)),
        client: cluster.client(),
        rule,
    };
    Controller::new(name, reconciler).workers(workers).timeout(timeout).source(changed)
}

fn selection<K>(namespace: Option<&str>) -> Selection<K> {
    match namespace {
        Some(namespace) => Selection::all().namespaces([namespace]),
        None => Selection::all(),
    }
}

struct Reconciler<K> {
    rule: ReferenceRule<K>,
    objects: Store<K>,
    secrets: Store<PartialObjectMeta<Secret>>,
    config_maps: Store<PartialObjectMeta<ConfigMap>>,
    client: Client,
}

/// A Secret or ConfigMap.
#[derive(Clone, Debug)]
enum Referenced {
    Secret(Arc<PartialObjectMeta<Secret>>),
    ConfigMap(Arc<PartialObjectMeta<ConfigMap>>),
}

/// An object with all others of its kind that may refer to the same objects, and these.
struct State<K> {
    object: Arc<K>,
    neighbours: Vec<Arc<K>>,
    referenced: Vec<Referenced>,
}

/// What to do with an object and those that it refers to.
enum Action {
    Release(Vec<Referenced>),
    Protect(Vec<Referenced>),
    /// Report which objects do not exist.
    Refuse(String),
    AddFinalizer,
    RemoveFinalizer,
}

impl<K> Reconcile for Reconciler<K>
where
    K: WatchedKind + Resource<DynamicType = ()>,
    <K as Resource>::Scope: ScopedApi<K>,
{
    type Error = ReferenceError;

    async fn reconcile(&self, request: Request) -> Result<Outcome, ReferenceError> {
        let Some(state) = self.observe(&request) else { return Ok(Outcome::Done) };
        for action in plan(&self.rule, &state) {
            self.execute(&state.object, action).await?;
        }
        Ok(Outcome::Done)
    }
}

impl<K> Reconciler<K>
where
    K: WatchedKind + Resource<DynamicType = ()>,
    <K as Resource>::Scope: ScopedApi<K>,
{
    fn observe(&self, request: &Request) -> Option<State<K>> {
        let object = self.objects.get(&request.namespace, &request.name)?;
        let namespace = self.rule.namespace.unwrap_or(&request.namespace);
        let secrets = self.secrets.list_in(namespace).into_iter().map(Referenced::Secret);
        let config_maps = self.config_maps.list_in(namespace).into_iter().map(Referenced::ConfigMap);
        let neighbours = self.objects.list_in(&request.namespace);
        Some(State { object, neighbours, referenced: secrets.chain(config_maps).collect() })
    }

    async fn execute(&self, object: &K, action: Action) -> Result<(), ReferenceError> {
        let name = self.rule.finalizer;
        let own =
            || <K as Resource>::Scope::api(self.client.clone(), &object.namespace().unwrap_or_default());
        match action {
            Action::Release(referenced) => {
                let released = referenced.iter().map(|object| object.release(self.client.clone(), name));
                parallel::all(released.collect::<Vec<_>>()).await.map_err(ReferenceError::Release)
            }
            Action::Protect(referenced) => {
                let protected = referenced.iter().map(|object| self.protect(object, name));
                parallel::all(protected.collect::<Vec<_>>()).await.map_err(ReferenceError::Protect)
            }
            Action::Refuse(missing) => Err(ReferenceError::Missing(missing)),
            Action::AddFinalizer => {
                tracing::info!("Adding finalizer");
                finalizer::add(&own(), object, name).await.map(drop).map_err(ReferenceError::Add)
            }
            Action::RemoveFinalizer => {
                tracing::info!("Removing finalizer");
                finalizer::remove(&own(), object, name).await.map_err(ReferenceError::Remove)
            }
        }
    }
}

impl<K> Reconciler<K> {
    /// Adds the finalizer, and waits until the store shows it, so that a later release finds it there.
    async fn protect(&self, referenced: &Referenced, name: &str) -> Result<(), FinalizerError> {
        tracing::info!(object = %referenced, "Adding finalizer to object");
        let refused = |error| FinalizerError::Add(referenced.to_string(), error);
        match referenced {
            Referenced::Secret(object) => {
                let secrets: Api<Secret> = Api::namespaced(self.client.clone(), &referenced.namespace());
                let added = finalizer::add(&secrets, &**object, name).await.map_err(refused)?;
                self.secrets.wait_until_shows(&added).await;
            }
            Referenced::ConfigMap(object) => {
                let config_maps: Api<ConfigMap> =
                    Api::namespaced(self.client.clone(), &referenced.namespace());
                let added = finalizer::add(&config_maps, &**object, name).await.map_err(refused)?;
                self.config_maps.wait_until_shows(&added).await;
            }
        }
        Ok(())
    }
}

impl Referenced {
    fn id(&self) -> Reference<'_> {
        match self {
            Self::Secret(object) => {
                (ReferenceKind::Secret, object.metadata.name.as_deref().unwrap_or_default())
            }
            Self::ConfigMap(object) => {
                (ReferenceKind::ConfigMap, object.metadata.name.as_deref().unwrap_or_default())
            }
        }
    }

    fn label(&self, key: &str) -> Option<&String> {
        match self {
            Self::Secret(object) => object.labels().get(key),
            Self::ConfigMap(object) => object.labels().get(key),
        }
    }

    fn has(&self, name: &str) -> bool {
        match self {
            Self::Secret(object) => finalizer::has(&**object, name),
            Self::ConfigMap(object) => finalizer::has(&**object, name),
        }
    }

    fn namespace(&self) -> String {
        match self {
            Self::Secret(object) => object.namespace(),
            Self::ConfigMap(object) => object.namespace(),
        }
        .unwrap_or_default()
    }

    /// Whether references to it count: Secrets with the label are protected otherwise.
    fn counts(&self, managed: &str) -> bool {
        matches!(self, Self::ConfigMap(_)) || self.label(managed).is_none_or(String::is_empty)
    }

    async fn release(&self, client: Client, name: &str) -> Result<(), FinalizerError> {
        tracing::info!(object = %self, "Removing finalizer from object");
        let removed = match self {
            Self::Secret(object) => {
                let secrets: Api<Secret> = Api::namespaced(client, &self.namespace());
                finalizer::remove(&secrets, &**object, name).await
            }
            Self::ConfigMap(object) => {
                let config_maps: Api<ConfigMap> = Api::namespaced(client, &self.namespace());
                finalizer::remove(&config_maps, &**object, name).await
            }
        };
        removed.map_err(|error| FinalizerError::Remove(self.to_string(), error))
    }
}

impl fmt::Display for Referenced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, name) = self.id();
        write!(f, "{kind:?} {}/{name}", self.namespace())
    }
}

/// Releases unreferenced objects, then protects what the object refers to, then the object itself.
fn plan<K: Resource>(rule: &ReferenceRule<K>, state: &State<K>) -> Vec<Action> {
    let State { object, referenced, .. } = state;
    let mut actions = Vec::new();
    let unreferenced = unreferenced(rule, state);
    if !unreferenced.is_empty() {
        actions.push(Action::Release(unreferenced));
    }
    let has_finalizer = finalizer::has(&**object, rule.finalizer);
    if (rule.is_released)(object) {
        actions.extend(has_finalizer.then_some(Action::RemoveFinalizer));
        return actions;
    }
    let references = (rule.references)(object);
    let found: Vec<_> = referenced.iter().filter(|object| references.contains(&object.id())).collect();
    let counting: Vec<_> = found.iter().copied().filter(|object| object.counts(rule.managed)).collect();
    let unprotected: Vec<Referenced> =
        counting.iter().copied().filter(|object| !object.has(rule.finalizer)).cloned().collect();
    if !unprotected.is_empty() {
        actions.push(Action::Protect(unprotected));
    }
    let missing = references.iter().filter(|id| !found.iter().any(|object| object.id() == **id));
    let missing: Vec<String> = missing.map(|(kind, name)| format!("{kind:?} {name:?}")).collect();
    if !missing.is_empty() {
        actions.push(Action::Refuse(missing.join(", ")));
        return actions;
    }
    match (counting.is_empty(), has_finalizer) {
        (false, false) => actions.push(Action::AddFinalizer),
        (true, true) => actions.push(Action::RemoveFinalizer),
        (false, true) | (true, false) => {}
    }
    actions
}

/// The users' protected objects without references. An object that is released does not hold its own references.
fn unreferenced<K: Resource>(rule: &ReferenceRule<K>, state: &State<K>) -> Vec<Referenced> {
    let name = state.object.name_any();
    let holders =
        state.neighbours.iter().filter(|other| other.name_any() != name || !(rule.is_released)(other));
    let held: BTreeSet<Reference<'_>> = holders.flat_map(|holder| (rule.references)(holder)).collect();
    let referenced = state.referenced.iter();
    let free = referenced.filter(|object| {
        object.label(rule.managed).is_none() && object.has(rule.finalizer) && !held.contains(&object.id())
    });
    free.cloned().collect()
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::Pod;
    use serde_json::json;

    use super::*;

    const FINALIZER: &str = "example.com/protection";

    /// A Pod refers to the Secret of each of its node selector's values.
    fn rule() -> ReferenceRule<Pod> {
        ReferenceRule {
            name: "reference",
            workers: 1,
            timeout: Duration::from_mins(3),
            finalizer: FINALIZER,
            managed: "role",
            namespace: None,
            references: |pod| {
                let names = pod.spec.iter().flat_map(|spec| spec.node_selector.iter().flatten());
                names.map(|(_, name)| (ReferenceKind::Secret, name.as_str())).collect()
            },
            is_released: |pod| pod.metadata.deletion_timestamp.is_some(),
        }
    }

    fn pod(name: &str, secrets: &[&str], finalizers: &[&str]) -> Arc<Pod> {
        let selector: serde_json::Value =
            secrets.iter().map(|name| ((*name).to_owned(), json!(name))).collect();
        let metadata = json!({"name": name, "namespace": "a", "finalizers": finalizers});
        Arc::new(
            serde_json::from_value(
                json!({"metadata": metadata, "spec": {"nodeSelector": selector, "containers": []}}),
            )
            .unwrap(),
        )
    }

    fn secret(name: &str, finalizers: &[&str]) -> Referenced {
        let metadata = json!({"name": name, "namespace": "a", "finalizers": finalizers});
        Referenced::Secret(Arc::new(serde_json::from_value(json!({"metadata": metadata})).unwrap()))
    }

    fn planned(object: &Arc<Pod>, others: &[Arc<Pod>], referenced: Vec<Referenced>) -> Vec<String> {
        let neighbours = others.iter().cloned().chain([object.clone()]).collect();
        let state = State { object: object.clone(), neighbours, referenced };
        let names = |all: &[Referenced]| all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let actions = plan(&rule(), &state);
        let text = |action: &Action| match action {
            Action::Release(all) => format!("release {}", names(all)),
            Action::Protect(all) => format!("protect {}", names(all)),
            Action::Refuse(missing) => format!("refuse {missing}"),
            Action::AddFinalizer => "add".to_owned(),
            Action::RemoveFinalizer => "remove".to_owned(),
        };
        actions.iter().map(text).collect()
    }

    #[test]
    fn what_is_referred_to_is_protected_and_the_rest_released() {
        let object = pod("p", &["s"], &[]);
        let secrets = || vec![secret("s", &[]), secret("t", &[FINALIZER]), secret("u", &[])];
        assert_eq!(planned(&object, &[], secrets()), ["release Secret a/t", "protect Secret a/s", "add"]);
        let other = pod("q", &["t"], &[]);
        assert_eq!(planned(&object, &[other], secrets()), ["protect Secret a/s", "add"]);
        let protected = pod("p", &["s"], &[FINALIZER]);
        assert_eq!(planned(&protected, &[], vec![secret("s", &[FINALIZER])]), Vec::<String>::new());
        let nothing = pod("p", &[], &[FINALIZER]);
        assert_eq!(planned(&nothing, &[], vec![secret("s", &[FINALIZER])]), ["release Secret a/s", "remove"]);
    }

    #[test]
    fn a_missing_object_is_named_after_the_others_are_protected() {
        let object = pod("p", &["s", "t"], &[]);
        assert_eq!(
            planned(&object, &[], vec![secret("s", &[])]),
            ["protect Secret a/s", "refuse Secret \"t\""]
        );
    }
}
