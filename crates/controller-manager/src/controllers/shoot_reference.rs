//! Protects Secrets and ConfigMaps that Shoots refer to from deletion
//! (contracts/controller-manager/controllers/shoot-reference.yaml).

use std::collections::BTreeSet;
use std::sync::Arc;

use api::garden::Shoot;
use controller::{Controller, Event, Outcome, Reconcile, Request, Selection, Store, Watch};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::Api;
use kube::core::PartialObjectMeta;
use kube::{Client, ResourceExt as _};

use super::parallel::{self, Failures};
use super::{Context, TIMEOUT, finalizer};

/// Name in log and metrics.
pub const NAME: &str = "reference";

/// Finalizer of a Shoot that refers to objects, and of those.
const PROTECTION: &str = "gardener.cloud/reference-protection";
/// Label of objects that Gardener manages itself.
const ROLE: &str = "gardener.cloud/role";

/// Why the references of a Shoot could not be protected.
#[derive(Debug, thiserror::Error)]
pub enum ReferenceError {
    /// Finalizers could not be removed from objects.
    #[error("failed to remove finalizers from objects")]
    Release(#[source] Failures),
    /// Finalizers could not be added to objects.
    #[error("failed to add finalizers to objects")]
    Protect(#[source] Failures),
    /// Some objects do not exist.
    #[error("not found: {0}")]
    Missing(String),
    /// The Shoot's own finalizer could not be added.
    #[error("failed to add finalizer")]
    Add(#[source] kube::Error),
    /// The Shoot's own finalizer could not be removed.
    #[error("failed to remove finalizer")]
    Remove(#[source] kube::Error),
}

/// The controller of one instance.
pub fn controller(context: &Context) -> Controller {
    let garden = &context.garden;
    let shoots = garden.store::<Shoot>(Selection::all());
    let changed = Watch::of(&shoots).filter(matters);
    let reconciler = Reconciler {
        shoots,
        secrets: garden.store(Selection::all()),
        config_maps: garden.store(Selection::all()),
        client: garden.client(),
    };
    Controller::new(NAME, reconciler)
        .workers(super::workers(context.config.controllers.shoot_reference.concurrent_syncs))
        .timeout(TIMEOUT)
        .source(changed)
}

/// GCM-SRF-008.
fn matters(event: &Event<Shoot>) -> bool {
    let Event::Update { old, new } = event else { return matches!(event, Event::Create(_)) };
    old.spec.dns != new.spec.dns
        || audit_config(old) != audit_config(new)
        || resources(old) != resources(new)
        || is_released(new)
}

fn audit_config(shoot: &Shoot) -> Option<&api::garden::shoot::api_server::AuditConfig> {
    shoot.spec.kubernetes.kube_api_server.as_ref()?.audit_config.as_ref()
}

/// Whether Gardener has nothing more to do for a Shoot that is being deleted.
fn is_released(shoot: &Shoot) -> bool {
    shoot.metadata.deletion_timestamp.is_some() && !finalizer::is_present(shoot)
}

/// The kinds that are protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ReferenceKind {
    Secret,
    ConfigMap,
}

/// The objects that a Shoot refers to. GCM-SRF-001, GCM-SRF-002.
fn references(shoot: &Shoot) -> BTreeSet<(ReferenceKind, &str)> {
    let providers = shoot.spec.dns.iter().flat_map(|dns| &dns.providers);
    let secrets =
        providers.filter_map(|provider| Some((ReferenceKind::Secret, provider.secret_name.as_deref()?)));
    let policy = audit_config(shoot).and_then(|config| config.audit_policy.as_ref()?.config_map_ref.as_ref());
    let policy =
        policy.map(|reference| (ReferenceKind::ConfigMap, reference.name.as_deref().unwrap_or_default()));
    secrets.chain(policy).chain(resources(shoot)).collect()
}

fn resources(shoot: &Shoot) -> BTreeSet<(ReferenceKind, &str)> {
    let references = shoot.spec.resources.iter().map(|resource| &resource.resource_ref);
    let known = references.filter(|reference| reference.api_version.as_deref() == Some("v1"));
    let known = known.filter_map(|reference| match &*reference.kind {
        "Secret" => Some((ReferenceKind::Secret, &*reference.name)),
        "ConfigMap" => Some((ReferenceKind::ConfigMap, &*reference.name)),
        _ => None,
    });
    known.collect()
}

struct Reconciler {
    shoots: Store<Shoot>,
    secrets: Store<PartialObjectMeta<Secret>>,
    config_maps: Store<PartialObjectMeta<ConfigMap>>,
    client: Client,
}

/// A Secret or ConfigMap.
#[derive(Clone, Debug)]
enum Object {
    Secret(Arc<PartialObjectMeta<Secret>>),
    ConfigMap(Arc<PartialObjectMeta<ConfigMap>>),
}

/// A Shoot with its namespace.
struct State {
    shoot: Arc<Shoot>,
    neighbours: Vec<Arc<Shoot>>,
    objects: Vec<Object>,
}

/// What to do with a Shoot and the objects of its namespace.
enum Action {
    Release(Vec<Object>),
    Protect(Vec<Object>),
    /// Report which objects do not exist.
    Refuse(String),
    AddFinalizer,
    RemoveFinalizer,
}

impl Reconcile for Reconciler {
    type Error = ReferenceError;

    async fn reconcile(&self, request: Request) -> Result<Outcome, ReferenceError> {
        let Some(state) = self.observe(&request) else { return Ok(Outcome::Done) };
        for action in plan(&state) {
            self.execute(&state.shoot, action).await?;
        }
        Ok(Outcome::Done)
    }
}

impl Reconciler {
    fn observe(&self, request: &Request) -> Option<State> {
        let shoot = self.shoots.get(&request.namespace, &request.name)?;
        let secrets = self.secrets.list_in(&request.namespace).into_iter().map(Object::Secret);
        let config_maps = self.config_maps.list_in(&request.namespace).into_iter().map(Object::ConfigMap);
        let neighbours = self.shoots.list_in(&request.namespace);
        Some(State { shoot, neighbours, objects: secrets.chain(config_maps).collect() })
    }

    async fn execute(&self, shoot: &Shoot, action: Action) -> Result<(), ReferenceError> {
        let namespace = shoot.namespace().unwrap_or_default();
        let shoots: Api<Shoot> = Api::namespaced(self.client.clone(), &namespace);
        match action {
            Action::Release(objects) => {
                let released = objects.iter().map(|object| object.release(self.client.clone(), &namespace));
                parallel::all(released.collect::<Vec<_>>()).await.map_err(ReferenceError::Release)
            }
            Action::Protect(objects) => {
                let protected = objects.iter().map(|object| self.protect(object, &namespace));
                parallel::all(protected.collect::<Vec<_>>()).await.map_err(ReferenceError::Protect)
            }
            Action::Refuse(missing) => Err(ReferenceError::Missing(missing)),
            Action::AddFinalizer => {
                tracing::info!("Adding finalizer");
                let added = finalizer::add_named(&shoots, shoot, PROTECTION).await;
                added.map(drop).map_err(ReferenceError::Add)
            }
            Action::RemoveFinalizer => {
                tracing::info!("Removing finalizer");
                finalizer::remove_named(&shoots, shoot, PROTECTION).await.map_err(ReferenceError::Remove)
            }
        }
    }

    /// Waits until the store shows the finalizer: a later reconciliation removes it from objects that have it there.
    async fn protect(&self, object: &Object, namespace: &str) -> Result<(), kube::Error> {
        match object {
            Object::Secret(object) => {
                let secrets: Api<Secret> = Api::namespaced(self.client.clone(), namespace);
                let protected = finalizer::add_named(&secrets, &**object, PROTECTION).await?;
                self.secrets.wait_until_shows(&protected).await;
            }
            Object::ConfigMap(object) => {
                let config_maps: Api<ConfigMap> = Api::namespaced(self.client.clone(), namespace);
                let protected = finalizer::add_named(&config_maps, &**object, PROTECTION).await?;
                self.config_maps.wait_until_shows(&protected).await;
            }
        }
        Ok(())
    }
}

impl Object {
    fn id(&self) -> (ReferenceKind, &str) {
        match self {
            Self::Secret(object) => {
                (ReferenceKind::Secret, object.metadata.name.as_deref().unwrap_or_default())
            }
            Self::ConfigMap(object) => {
                (ReferenceKind::ConfigMap, object.metadata.name.as_deref().unwrap_or_default())
            }
        }
    }

    fn role(&self) -> Option<&String> {
        match self {
            Self::Secret(object) => object.labels().get(ROLE),
            Self::ConfigMap(object) => object.labels().get(ROLE),
        }
    }

    fn is_protected(&self) -> bool {
        match self {
            Self::Secret(object) => finalizer::has(&**object, PROTECTION),
            Self::ConfigMap(object) => finalizer::has(&**object, PROTECTION),
        }
    }

    /// Whether references to it count: Gardener protects its own Secrets otherwise. GCM-SRF-006.
    fn counts(&self) -> bool {
        matches!(self, Self::ConfigMap(_)) || self.role().is_none_or(String::is_empty)
    }

    async fn release(&self, client: Client, namespace: &str) -> Result<(), kube::Error> {
        match self {
            Self::Secret(object) => {
                let secrets: Api<Secret> = Api::namespaced(client, namespace);
                finalizer::remove_named(&secrets, &**object, PROTECTION).await
            }
            Self::ConfigMap(object) => {
                let config_maps: Api<ConfigMap> = Api::namespaced(client, namespace);
                finalizer::remove_named(&config_maps, &**object, PROTECTION).await
            }
        }
    }
}

/// GCM-SRF-001 to -007.
fn plan(state: &State) -> Vec<Action> {
    let State { shoot, objects, .. } = state;
    let mut actions = Vec::new();
    let unreferenced = unreferenced(state);
    if !unreferenced.is_empty() {
        actions.push(Action::Release(unreferenced));
    }
    let has_finalizer = finalizer::has(&**shoot, PROTECTION);
    if is_released(shoot) {
        actions.extend(has_finalizer.then_some(Action::RemoveFinalizer));
        return actions;
    }
    let references = references(shoot);
    let found: Vec<&Object> = objects.iter().filter(|object| references.contains(&object.id())).collect();
    let counting: Vec<&Object> = found.iter().copied().filter(|object| object.counts()).collect();
    let unprotected: Vec<Object> =
        counting.iter().copied().filter(|object| !object.is_protected()).cloned().collect();
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

/// The users' protected objects of the namespace that no Shoot refers to. A Shoot that Gardener has released does not
/// hold its own references.
fn unreferenced(state: &State) -> Vec<Object> {
    let name = state.shoot.name_any();
    let holders = state.neighbours.iter().filter(|shoot| shoot.name_any() != name || !is_released(shoot));
    let held: BTreeSet<(ReferenceKind, &str)> = holders.flat_map(|shoot| references(shoot)).collect();
    let objects = state.objects.iter();
    let free = objects
        .filter(|object| object.role().is_none() && object.is_protected() && !held.contains(&object.id()));
    free.cloned().collect()
}
