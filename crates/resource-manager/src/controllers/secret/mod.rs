//! Protects Secrets that ManagedResources refer to (contracts/resource-manager/controllers/secret.yaml).
//!
//! A finalizer protects each Secret as long as one of our ManagedResources refers to it.

use std::sync::Arc;

use controller::{Controller, Event, Outcome, Reconcile, Request, Selection, Store, Watch, predicate};
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, Patch, PatchParams};
use kube::core::PartialObjectMeta;
use kube::{Client, ResourceExt as _};
use serde_json::{Value, json};

use super::{Context, TIMEOUT};
use crate::managed_resource::{Class, ManagedResource};

/// Name in log and metrics.
pub const NAME: &str = "secret";

type Metadata = PartialObjectMeta<Secret>;

/// The controller of one instance.
pub fn controller(context: &Context) -> Controller {
    let (source, class) = (&context.source, context.class());
    let secrets = source.store::<Metadata>(Selection::all());
    let managed_resources = source.store::<ManagedResource>(Selection::all());
    let finalizer = class.finalizer();
    let held = {
        let finalizer = finalizer.clone();
        Watch::of(&secrets).filter(move |event| {
            !matches!(event, Event::Delete(_)) && event.object().finalizers().contains(&finalizer)
        })
    };
    let referring = Watch::of(&managed_resources).filter(predicate::generation_changed).map(referred);
    let reconciler = Reconciler { secrets, managed_resources, class, finalizer, client: source.client() };
    Controller::new(NAME, reconciler)
        .workers(super::workers(context.config.controllers.secret.concurrent_syncs))
        .timeout(TIMEOUT)
        .source(held)
        .source(referring)
}

/// The Secrets that a ManagedResource refers to.
fn referred(object: &ManagedResource) -> Vec<Request> {
    let namespace = object.namespace().unwrap_or_default();
    object.secret_names().map(|name| Request::new(namespace.clone(), name)).collect()
}

/// Why a Secret could not be reconciled.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// The finalizer could not be added.
    #[error("failed to add finalizer")]
    Add(#[source] kube::Error),
    /// The finalizer could not be removed.
    #[error("failed to remove finalizer")]
    Remove(#[source] kube::Error),
}

/// The state of one Secret.
struct State {
    /// `None` if it is gone.
    secret: Option<Arc<Metadata>>,
    is_referred_to: bool,
}

/// A change of the finalizers; each variant has the complete new list.
#[derive(Debug, PartialEq)]
enum Action {
    AddFinalizer(Vec<String>),
    RemoveFinalizer(Vec<String>),
}

struct Reconciler {
    secrets: Store<Metadata>,
    managed_resources: Store<ManagedResource>,
    class: Class,
    finalizer: String,
    client: Client,
}

impl Reconcile for Reconciler {
    type Error = SecretError;

    async fn reconcile(&self, request: Request) -> Result<Outcome, SecretError> {
        let state = self.observe(&request);
        for action in plan(&self.finalizer, &state) {
            self.execute(&request, &state, action).await?;
        }
        Ok(Outcome::Done)
    }
}

impl Reconciler {
    fn observe(&self, request: &Request) -> State {
        let secret = self.secrets.get(&request.namespace, &request.name);
        let refers = |object: &Arc<ManagedResource>| {
            self.class.is_responsible(object) && object.secret_names().any(|name| name == request.name)
        };
        let is_referred_to = self.managed_resources.list_in(&request.namespace).iter().any(refers);
        State { secret, is_referred_to }
    }

    /// Fails if the Secret has changed in the meantime; removal succeeds if it is gone.
    async fn execute(&self, request: &Request, state: &State, action: Action) -> Result<(), SecretError> {
        let secrets: Api<Secret> = Api::namespaced(self.client.clone(), &request.namespace);
        let patch = |finalizers: Vec<String>| {
            let version = state.secret.as_ref().and_then(|secret| secret.resource_version());
            let patch: Patch<Value> =
                Patch::Merge(json!({"metadata": {"finalizers": finalizers, "resourceVersion": version}}));
            async move { secrets.patch_metadata(&request.name, &PatchParams::default(), &patch).await }
        };
        match action {
            Action::AddFinalizer(finalizers) => {
                tracing::info!("Adding finalizer");
                let protected = patch(finalizers).await.map_err(SecretError::Add)?;
                // A later reconciliation removes the finalizer only if the store has it.
                self.secrets.wait_until_shows(&protected).await;
                Ok(())
            }
            Action::RemoveFinalizer(finalizers) => {
                tracing::info!("Removing finalizer");
                match patch(finalizers).await {
                    Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
                    removed => removed.map(drop).map_err(SecretError::Remove),
                }
            }
        }
    }
}

/// GRM-SCT-001, GRM-SCT-002, GRM-SCT-003, GRM-SCT-004, GRM-SCT-005, GRM-SCT-006 and GRM-SCT-007: the Secret has the
/// finalizer exactly as long as a ManagedResource refers to it. GRM-SCT-008: the API server adds no finalizer to an
/// object that is being deleted.
fn plan(finalizer: &str, state: &State) -> Vec<Action> {
    let Some(secret) = &state.secret else { return Vec::new() };
    let mut finalizers = secret.finalizers().to_vec();
    let is_held = finalizers.iter().any(|held| held == finalizer);
    match (state.is_referred_to, is_held) {
        (true, false) if secret.metadata.deletion_timestamp.is_some() => Vec::new(),
        (true, false) => {
            finalizers.push(finalizer.to_owned());
            vec![Action::AddFinalizer(finalizers)]
        }
        (false, true) => {
            finalizers.retain(|held| held != finalizer);
            vec![Action::RemoveFinalizer(finalizers)]
        }
        (true, true) | (false, false) => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
