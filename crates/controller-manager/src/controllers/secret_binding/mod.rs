//! Protects SecretBindings that Shoots name, and labels and protects what they refer to
//! (contracts/controller-manager/controllers/secret-binding).

mod plan;

use std::sync::Arc;

use api::garden::reference::ObjectReference;
use api::garden::{Quota, SecretBinding, Shoot};
use controller::events::{EventType, Recorder, recorder};
use controller::{Controller, Index, Outcome, Reconcile, Request, Selection, Store, Watch};
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, Patch, PatchParams};
use kube::core::PartialObjectMeta;
use kube::{Client, Resource, ResourceExt as _};
use serde_json::{Value, json};
use tokio::sync::Mutex;

use self::plan::{Action, plan};
use super::labels::SECRET_BINDING_REFERENCE;
use super::{Context, TIMEOUT, finalizer, keys};

/// Name in log and metrics.
pub const NAME: &str = "secretbinding";
/// Finalizer of objects that are not Gardener's own.
const EXTERNAL_FINALIZER: &str = "gardener.cloud/gardener";
/// Reason of the event that a deletion waits.
const REFERENCED: &str = "ResourceReferenced";

/// Secrets without their data.
type SecretMetadata = PartialObjectMeta<Secret>;

/// The controller of one instance.
pub fn controller(context: &Context) -> Controller {
    let garden = &context.garden;
    let component = format!("{NAME}-controller");
    let (recorder, writer) = recorder(garden.client(), &component, context.clock, context.entropy.clone());
    let bindings = garden.store::<SecretBinding>(Selection::all());
    let shoots = garden.store::<Shoot>(Selection::all());
    let changed = Watch::of(&bindings);
    let reconciler = Reconciler {
        of_secret: bindings.index(|binding| vec![secret_key(binding)]),
        of_quota: bindings.index(|binding| binding.quotas.iter().map(quota_key).collect()),
        of_binding: shoots.index(|shoot| {
            let binding = shoot.spec.secret_binding_name.as_deref();
            let namespace = shoot.metadata.namespace.as_deref();
            binding.map(|name| keys::of_reference(namespace, Some(name))).into_iter().collect()
        }),
        bindings,
        secrets: garden.store::<SecretMetadata>(Selection::all()),
        quotas: garden.store::<Quota>(Selection::all()),
        deletion: Mutex::new(()),
        client: garden.client(),
        recorder,
    };
    Controller::new(NAME, reconciler)
        .workers(super::workers(context.config.controllers.secret_binding.concurrent_syncs))
        .timeout(TIMEOUT)
        .source(changed)
        .source(writer)
}

fn secret_key(binding: &SecretBinding) -> String {
    keys::of_reference(binding.secret_ref.namespace.as_deref(), binding.secret_ref.name.as_deref())
}

fn quota_key(quota: &ObjectReference) -> String {
    keys::of_reference(quota.namespace.as_deref(), quota.name.as_deref())
}

/// Why a reconciliation failed.
#[derive(Debug, thiserror::Error)]
pub enum SecretBindingError {
    /// The finalizer could not be added.
    #[error("could not add finalizer")]
    AddFinalizer(#[source] kube::Error),
    /// The finalizer could not be added to the Secret.
    #[error("could not add finalizer to secret")]
    AddSecretFinalizer(#[source] kube::Error),
    /// An object to which the SecretBinding refers does not exist.
    #[error("{kind} {name:?} not found")]
    Missing {
        /// Kind and group of the object.
        kind: &'static str,
        /// Its name.
        name: String,
    },
    /// The Secret could not be labelled with a type of provider.
    #[error("failed to add provider type label to Secret referenced in SecretBinding")]
    LabelProvider(#[source] kube::Error),
    /// A Quota could not be labelled.
    #[error(
        "failed to add referred label to the quota referenced in SecretBinding, quota: {name} , namespace: {namespace} "
    )]
    LabelQuota {
        /// Name of the Quota.
        name: String,
        /// Its namespace.
        namespace: String,
        /// The answer of the server.
        #[source]
        source: kube::Error,
    },
    /// The Secret could not be labelled.
    #[error("failed to add referred label to Secret referenced in SecretBinding")]
    LabelSecret(#[source] kube::Error),
    /// Shoots refer to the SecretBinding.
    #[error("{0}")]
    Referenced(String),
    /// It is unknown whether another SecretBinding exists.
    #[error("failed to get another SecretBinding")]
    Other(#[source] kube::Error),
    /// The labels of the Secret could not be removed.
    #[error("failed to remove referred label from Secret")]
    UnlabelSecret(#[source] kube::Error),
    /// The finalizer of the Secret could not be removed.
    #[error("failed to remove finalizer from secret")]
    RemoveSecretFinalizer(#[source] kube::Error),
    /// The label of a Quota could not be removed.
    #[error("failed to remove referred label from Quota")]
    UnlabelQuota(#[source] kube::Error),
    /// The finalizer could not be removed.
    #[error("failed to remove finalizer")]
    RemoveFinalizer(#[source] kube::Error),
}

struct Reconciler {
    bindings: Store<SecretBinding>,
    of_secret: Index<SecretBinding>,
    of_quota: Index<SecretBinding>,
    of_binding: Index<Shoot>,
    secrets: Store<SecretMetadata>,
    quotas: Store<Quota>,
    /// GCM-SBD-013: of SecretBindings that are deleted together, the last must see that it is the last.
    deletion: Mutex<()>,
    client: Client,
    recorder: Recorder,
}

/// A SecretBinding, what it refers to, and what refers to the same objects or to it.
struct State {
    binding: Arc<SecretBinding>,
    secret: Option<SecretMetadata>,
    quotas: Vec<QuotaState>,
    /// Whether other SecretBindings refer to the Secret.
    is_secret_shared: bool,
    /// Shoots that refer to the SecretBinding, as `namespace/name`.
    shoots: Vec<String>,
}

/// A Quota to which a SecretBinding refers.
struct QuotaState {
    reference: ObjectReference,
    quota: Option<Arc<Quota>>,
    /// Whether other SecretBindings refer to it.
    is_shared: bool,
}

impl Reconcile for Reconciler {
    type Error = SecretBindingError;

    async fn reconcile(&self, request: Request) -> Result<Outcome, SecretBindingError> {
        let Some(binding) = self.bindings.get(&request.namespace, &request.name) else {
            return Ok(Outcome::Done); // guard: the SecretBinding is gone
        };
        // Only deletions wait for each other.
        let deletion = match binding.metadata.deletion_timestamp {
            Some(_) => Some(self.deletion.lock().await),
            None => None,
        };
        let mut state = self.observe(binding).await?; // step 1
        for action in plan(&state) {
            self.execute(&mut state, action).await?; // step 2
        }
        drop(deletion);
        Ok(Outcome::Done)
    }
}

impl Reconciler {
    async fn observe(&self, binding: Arc<SecretBinding>) -> Result<State, SecretBindingError> {
        let reference = &binding.secret_ref;
        let [namespace, name] = [&reference.namespace, &reference.name].map(|text| text.as_deref());
        let secret = self.secrets.get(namespace.unwrap_or_default(), name.unwrap_or_default());
        let is_secret_shared = self.is_shared(&binding, &self.of_secret.get(&secret_key(&binding))).await?;
        let mut quotas = Vec::new();
        for reference in &binding.quotas {
            let [namespace, name] = [&reference.namespace, &reference.name].map(|text| text.as_deref());
            let quota = self.quotas.get(namespace.unwrap_or_default(), name.unwrap_or_default());
            let is_shared = self.is_shared(&binding, &self.of_quota.get(&quota_key(reference))).await?;
            quotas.push(QuotaState { reference: reference.clone(), quota, is_shared });
        }
        let shoots = self.of_binding.get(&keys::of(&*binding));
        let shoots = shoots.iter().map(|shoot| keys::of(&**shoot));
        let (secret, shoots) = (secret.map(|secret| (*secret).clone()), shoots.collect());
        Ok(State { binding, secret, quotas, is_secret_shared, shoots })
    }

    /// Whether one of the SecretBindings is another one. Only a deletion depends on it, and then the cache may still
    /// have others that were deleted a moment ago.
    async fn is_shared(
        &self,
        binding: &SecretBinding,
        referring: &[Arc<SecretBinding>],
    ) -> Result<bool, SecretBindingError> {
        let is_deleted = |binding: &SecretBinding| binding.metadata.deletion_timestamp.is_some();
        for other in referring.iter().filter(|other| Request::of(&***other) != Request::of(binding)) {
            if !is_deleted(binding) || !is_deleted(other) {
                return Ok(true);
            }
            let bindings: Api<SecretBinding> = self.in_namespace(other.namespace().as_deref());
            let found = bindings.get_metadata_opt(&other.name_any()).await;
            if found.map_err(SecretBindingError::Other)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn execute(&self, state: &mut State, action: Action) -> Result<(), SecretBindingError> {
        let bindings: Api<SecretBinding> = self.in_namespace(state.binding.namespace().as_deref());
        match action {
            Action::AddFinalizer => {
                tracing::info!("Adding finalizer");
                let added = finalizer::add(&bindings, &*state.binding).await;
                added.map(drop).map_err(SecretBindingError::AddFinalizer)
            }
            Action::RemoveFinalizer => {
                tracing::info!("Removing finalizer");
                let removed = finalizer::remove(&bindings, &*state.binding).await;
                removed.map_err(SecretBindingError::RemoveFinalizer)
            }
            Action::Refuse(message) => {
                self.recorder.event(&*state.binding, EventType::Normal, REFERENCED, &message);
                Err(SecretBindingError::Referenced(message))
            }
            Action::Missing { kind, name } => Err(SecretBindingError::Missing { kind, name }),
            Action::LabelQuota(quota) => self.label_quota(&quota).await,
            Action::UnlabelQuota(quota) => {
                let version = quota.metadata.resource_version.as_deref();
                let patch = json!({"labels": {SECRET_BINDING_REFERENCE: null}, "resourceVersion": version});
                self.patch(&quota, patch).await.map(drop).map_err(SecretBindingError::UnlabelQuota)
            }
            Action::Secret(change) => self.change_secret(state, change).await,
        }
    }

    async fn label_quota(&self, quota: &Quota) -> Result<(), SecretBindingError> {
        let patched = self.patch(quota, json!({"labels": {SECRET_BINDING_REFERENCE: "true"}})).await;
        let labelled = patched.map_err(|source| {
            let (name, namespace) = (quota.name_any(), quota.namespace().unwrap_or_default());
            SecretBindingError::LabelQuota { name, namespace, source }
        })?;
        self.quotas.wait_until_shows(&labelled).await;
        Ok(())
    }

    /// Changes the Secret; later changes see the result.
    async fn change_secret(
        &self,
        state: &mut State,
        change: plan::SecretChange,
    ) -> Result<(), SecretBindingError> {
        let Some(secret) = &state.secret else { return Ok(()) };
        let secrets: Api<Secret> = self.in_namespace(secret.metadata.namespace.as_deref());
        match change {
            plan::SecretChange::AddFinalizer => {
                tracing::info!("Adding finalizer to secret");
                let added = finalizer::add_named(&secrets, secret, EXTERNAL_FINALIZER).await;
                self.wait_until_shows(added.map_err(SecretBindingError::AddSecretFinalizer)).await
            }
            plan::SecretChange::RemoveFinalizer => {
                tracing::info!("Removing finalizer from secret");
                let removed = finalizer::remove_named(&secrets, secret, EXTERNAL_FINALIZER).await;
                removed.map_err(SecretBindingError::RemoveSecretFinalizer)
            }
            plan::SecretChange::LabelProvider(label) => {
                let patched = self.patch_secret(secret, json!({"labels": {label: "true"}})).await;
                self.wait_until_shows(patched.map_err(SecretBindingError::LabelProvider)).await
            }
            plan::SecretChange::LabelReference => {
                let patch = json!({"labels": {SECRET_BINDING_REFERENCE: "true"}});
                let patched = self.patch_secret(secret, patch).await;
                self.wait_until_shows(patched.map_err(SecretBindingError::LabelSecret)).await
            }
            plan::SecretChange::Unlabel(labels) => {
                let labels: Value = labels.into_iter().map(|label| (label, Value::Null)).collect();
                let patched = self.patch_secret(secret, json!({"labels": labels})).await;
                state.secret = Some(patched.map_err(SecretBindingError::UnlabelSecret)?);
                Ok(())
            }
        }
    }

    /// Waits until the store shows an addition to a Secret: a deletion of the SecretBinding removes what the store has.
    async fn wait_until_shows(
        &self,
        added: Result<impl Resource, SecretBindingError>,
    ) -> Result<(), SecretBindingError> {
        self.secrets.wait_until_shows(&added?).await;
        Ok(())
    }

    async fn patch_secret(
        &self,
        secret: &SecretMetadata,
        metadata: Value,
    ) -> Result<SecretMetadata, kube::Error> {
        let secrets: Api<Secret> = self.in_namespace(secret.metadata.namespace.as_deref());
        let patch = Patch::Merge(json!({"metadata": metadata}));
        secrets.patch_metadata(&secret.name_any(), &PatchParams::default(), &patch).await
    }

    async fn patch(&self, quota: &Quota, metadata: Value) -> Result<PartialObjectMeta<Quota>, kube::Error> {
        let quotas: Api<Quota> = self.in_namespace(quota.metadata.namespace.as_deref());
        let patch = Patch::Merge(json!({"metadata": metadata}));
        quotas.patch_metadata(&quota.name_any(), &PatchParams::default(), &patch).await
    }

    fn in_namespace<K>(&self, namespace: Option<&str>) -> Api<K>
    where
        K: Resource<Scope = k8s_openapi::NamespaceResourceScope, DynamicType = ()>,
    {
        Api::namespaced(self.client.clone(), namespace.unwrap_or_default())
    }
}
