//! Copies the garden's Secrets to a namespace of each Seed (contracts/controller-manager/controllers/seed-secrets.yaml).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use api::garden::Seed;
use controller::reconcile::parallel::{self, Failures};
use controller::{Controller, Event, Outcome, Reconcile, Request, Selection, Store, Watch};
use k8s_openapi::api::core::v1::{Namespace, Secret};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use kube::core::PartialObjectMeta;
use kube::{Client, Resource as _, ResourceExt as _};
use serde_json::{Map, Value, json};

use super::{Context, GARDEN_NAMESPACE, TIMEOUT, WORKERS};

/// Name in log and metrics.
pub const NAME: &str = "seed-secrets";

/// Secrets with a role, but for those of control planes.
pub(super) const GARDEN_SECRETS: &str =
    "gardener.cloud/role,gardener.cloud/role notin (kubeconfig,monitoring,ssh-keypair)";

/// Why the Secrets of a Seed could not be copied.
#[derive(Debug, thiserror::Error)]
pub enum SecretsError {
    /// The namespace belongs to somebody else.
    #[error("namespace {namespace:?} is not controlled by seed {seed:?}")]
    Namespace {
        /// The namespace.
        namespace: String,
        /// The Seed.
        seed: String,
    },
    /// The namespace could not be created.
    #[error("failed to create the namespace")]
    Create(#[source] kube::Error),
    /// Some Secrets could not be written.
    #[error("failed to sync garden secrets")]
    Sync(#[source] Failures),
    /// Some Secrets could not be deleted.
    #[error("failed to clean up secrets in seed namespace")]
    CleanUp(#[source] Failures),
}

/// The namespace of a Seed in the garden.
pub(super) fn namespace_of(seed: &str) -> String {
    format!("seed-{seed}")
}

/// The controller of one instance.
pub fn controller(context: &Context) -> Controller {
    let garden = &context.garden;
    let seeds = garden.store::<Seed>(Selection::all());
    let created = Watch::of(&seeds).filter(|event| matches!(event, Event::Create(_)));
    let secrets = garden.store::<Secret>(Selection::all().labels(GARDEN_SECRETS));
    let all_seeds = seeds.clone();
    let changed = Watch::of(&secrets)
        .filter(is_of_garden)
        .map_new(move |_| all_seeds.list().iter().map(|seed| Request::of(&**seed)).collect::<Vec<_>>());
    let namespaces = garden.store::<PartialObjectMeta<Namespace>>(Selection::all());
    let reconciler = Reconciler { seeds, secrets, namespaces, client: garden.client() };
    Controller::new(NAME, reconciler).workers(WORKERS).timeout(TIMEOUT).source(created).source(changed)
}

/// GCM-SSE-006: each change of a Secret of the garden concerns all Seeds; a resync is no change.
fn is_of_garden(event: &Event<Secret>) -> bool {
    let secret = event.object();
    secret.namespace().as_deref() == Some(GARDEN_NAMESPACE)
        && event.old().is_none_or(|old| old.metadata.resource_version != secret.metadata.resource_version)
}

struct Reconciler {
    seeds: Store<Seed>,
    secrets: Store<Secret>,
    namespaces: Store<PartialObjectMeta<Namespace>>,
    client: Client,
}

/// A Seed, its namespace, the Secrets to copy, and the copies.
struct State {
    seed: Arc<Seed>,
    namespace: Option<Arc<PartialObjectMeta<Namespace>>>,
    wanted: Vec<Arc<Secret>>,
    copies: Vec<Arc<Secret>>,
}

/// What to do for a Seed.
#[derive(Debug, PartialEq)]
enum Action {
    CreateNamespace,
    /// Report that the namespace belongs to somebody else.
    Refuse,
    Write(Vec<SecretWrite>),
    Delete(Vec<String>),
}

/// How a copy is written.
#[derive(Debug, PartialEq)]
enum SecretWrite {
    Create(Box<Secret>),
    /// A merge patch of the Secret of this name.
    Patch(String, Value),
}

impl Reconcile for Reconciler {
    type Error = SecretsError;

    async fn reconcile(&self, request: Request) -> Result<Outcome, SecretsError> {
        let Some(state) = self.observe(&request) else { return Ok(Outcome::Done) };
        for action in plan(&state) {
            self.execute(&state.seed, action).await?;
        }
        Ok(Outcome::Done)
    }
}

impl Reconciler {
    fn observe(&self, request: &Request) -> Option<State> {
        let seed = self.seeds.get("", &request.name)?;
        let namespace = namespace_of(&request.name);
        Some(State {
            seed,
            wanted: self.secrets.list_in(GARDEN_NAMESPACE),
            copies: self.secrets.list_in(&namespace),
            namespace: self.namespaces.get("", &namespace),
        })
    }

    async fn execute(&self, seed: &Seed, action: Action) -> Result<(), SecretsError> {
        let namespace = namespace_of(&seed.name_any());
        let secrets: Api<Secret> = Api::namespaced(self.client.clone(), &namespace);
        match action {
            Action::CreateNamespace => {
                tracing::info!(namespace, "Creating Namespace in garden for Seed");
                self.create_namespace(seed, namespace).await.map_err(SecretsError::Create)
            }
            Action::Refuse => Err(SecretsError::Namespace { namespace, seed: seed.name_any() }),
            Action::Write(writes) => {
                let written = parallel::all(
                    writes.into_iter().map(|secret| write(&secrets, secret)).collect::<Vec<_>>(),
                )
                .await;
                written.map_err(SecretsError::Sync)
            }
            Action::Delete(names) => {
                let deleted =
                    parallel::all(names.iter().map(|name| delete(&secrets, name)).collect::<Vec<_>>()).await;
                deleted.map_err(SecretsError::CleanUp)
            }
        }
    }

    async fn create_namespace(&self, seed: &Seed, name: String) -> Result<(), kube::Error> {
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        let owner = seed.controller_owner_ref(&());
        let owner_references =
            owner.map(|owner| vec![OwnerReference { block_owner_deletion: Some(true), ..owner }]);
        let metadata = ObjectMeta { name: Some(name), owner_references, ..ObjectMeta::default() };
        let namespace = Namespace { metadata, ..Namespace::default() };
        namespaces.create(&PostParams::default(), &namespace).await.map(drop)
    }
}

/// GCM-SSE-001 to -005, GCM-SSE-007, GCM-SSE-008.
fn plan(state: &State) -> Vec<Action> {
    let mut actions = Vec::new();
    match &state.namespace {
        None => actions.push(Action::CreateNamespace),
        Some(namespace) if !is_controlled(namespace, &state.seed) => return vec![Action::Refuse],
        Some(_) => {}
    }
    let namespace = namespace_of(&state.seed.name_any());
    let copies: BTreeMap<String, &Secret> =
        state.copies.iter().map(|copy| (copy.name_any(), &**copy)).collect();
    let writes = state.wanted.iter().filter_map(|secret| match copies.get(&secret.name_any()) {
        None => Some(SecretWrite::Create(Box::new(copy_of(secret, &namespace)))),
        Some(copy) => difference(copy, secret).map(|patch| SecretWrite::Patch(secret.name_any(), patch)),
    });
    let writes: Vec<SecretWrite> = writes.collect();
    let wanted: BTreeSet<String> = state.wanted.iter().map(|secret| secret.name_any()).collect();
    let leftover: Vec<String> = copies.into_keys().filter(|name| !wanted.contains(name)).collect();
    if !writes.is_empty() {
        actions.push(Action::Write(writes));
    }
    if !leftover.is_empty() {
        actions.push(Action::Delete(leftover));
    }
    actions
}

fn is_controlled(namespace: &PartialObjectMeta<Namespace>, seed: &Seed) -> bool {
    let controller = namespace.owner_references().iter().find(|owner| owner.controller == Some(true));
    controller.is_some_and(|owner| Some(&owner.uid) == seed.metadata.uid.as_ref())
}

fn copy_of(secret: &Secret, namespace: &str) -> Secret {
    Secret {
        metadata: ObjectMeta {
            name: secret.metadata.name.clone(),
            namespace: Some(namespace.to_owned()),
            labels: secret.metadata.labels.clone(),
            annotations: secret.metadata.annotations.clone(),
            ..ObjectMeta::default()
        },
        type_: secret.type_.clone(),
        data: secret.data.clone(),
        ..Secret::default()
    }
}

/// The merge patch that gives a copy annotations, labels, type and data of the Secret; `None` if it has them.
fn difference(copy: &Secret, secret: &Secret) -> Option<Value> {
    let mut metadata = Map::new();
    for (field, old, new) in [
        ("annotations", copy.annotations(), secret.annotations()),
        ("labels", copy.labels(), secret.labels()),
    ] {
        if old != new {
            metadata.insert(field.to_owned(), replacement(old, new));
        }
    }
    let mut patch = Map::new();
    if !metadata.is_empty() {
        patch.insert("metadata".to_owned(), Value::Object(metadata));
    }
    if copy.type_ != secret.type_ {
        patch.insert("type".to_owned(), json!(secret.type_));
    }
    let [old, new] = [copy, secret].map(|secret| secret.data.clone().unwrap_or_default());
    if old != new {
        patch.insert("data".to_owned(), replacement(&old, &new));
    }
    (!patch.is_empty()).then_some(Value::Object(patch))
}

/// The merge patch that replaces a map.
fn replacement<V: serde::Serialize>(old: &BTreeMap<String, V>, new: &BTreeMap<String, V>) -> Value {
    let removed = old.keys().filter(|key| !new.contains_key(*key)).map(|key| (key.clone(), Value::Null));
    removed.chain(new.iter().map(|(key, value)| (key.clone(), json!(value)))).collect()
}

async fn write(secrets: &Api<Secret>, write: SecretWrite) -> Result<(), kube::Error> {
    match write {
        SecretWrite::Create(secret) => create(secrets, &secret).await,
        SecretWrite::Patch(name, patch) => {
            secrets.patch(&name, &PatchParams::default(), &Patch::Merge(patch)).await.map(drop)
        }
    }
}

/// GCM-SSE-008: creates a Secret that the store does not show, or overwrites it: it may have no role, or be too new.
async fn create(secrets: &Api<Secret>, wanted: &Secret) -> Result<(), kube::Error> {
    if let Some(found) = secrets.get_opt(&wanted.name_any()).await? {
        return adopt(secrets, &found, wanted).await;
    }
    match secrets.create(&PostParams::default(), wanted).await {
        Err(kube::Error::Api(status)) if status.is_already_exists() => {
            adopt(secrets, &secrets.get(&wanted.name_any()).await?, wanted).await
        }
        created => created.map(drop),
    }
}

async fn adopt(secrets: &Api<Secret>, found: &Secret, wanted: &Secret) -> Result<(), kube::Error> {
    let Some(patch) = difference(found, wanted) else { return Ok(()) };
    secrets.patch(&wanted.name_any(), &PatchParams::default(), &Patch::Merge(patch)).await.map(drop)
}

/// Deletes a Secret; it may be gone.
pub(super) async fn delete(secrets: &Api<Secret>, name: &str) -> Result<(), kube::Error> {
    match secrets.delete(name, &DeleteParams::default()).await {
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
        deleted => deleted.map(drop),
    }
}
