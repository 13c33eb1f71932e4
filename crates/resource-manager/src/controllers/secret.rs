//! Keeps Secrets that ManagedResources refer to (contracts/resource-manager/controllers/secret.yaml).
//!
//! A finalizer holds each Secret as long as one of our ManagedResources refers to it.

use std::sync::Arc;
use std::time::Duration;

use controller::{Controller, Event, Outcome, Reconcile, Request, Selection, Store, Watch, predicate};
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, Patch, PatchParams};
use kube::core::PartialObjectMeta;
use kube::{Client, ResourceExt as _};
use serde_json::{Value, json};

use super::Context;
use crate::managed_resource::{Class, ManagedResource};

/// Name in log and metrics.
pub const NAME: &str = "secret";
/// How long one Secret may take.
const TIMEOUT: Duration = Duration::from_mins(3);

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

struct Reconciler {
    secrets: Store<Metadata>,
    managed_resources: Store<ManagedResource>,
    class: Class,
    finalizer: String,
    client: Client,
}

/// What is known of one Secret.
struct State {
    secret: Arc<Metadata>,
    is_referred_to: bool,
}

impl Reconcile for Reconciler {
    type Error = kube::Error;

    async fn reconcile(&self, request: Request) -> Result<Outcome, kube::Error> {
        let Some(state) = self.observe(&request) else { return Ok(Outcome::Done) };
        let Some(patch) = plan(&self.finalizer, &state) else { return Ok(Outcome::Done) };
        self.execute(&request, &patch).await
    }
}

impl Reconciler {
    fn observe(&self, request: &Request) -> Option<State> {
        let secret = self.secrets.get(&request.namespace, &request.name)?;
        let refers = |object: &Arc<ManagedResource>| {
            self.class.is_responsible(object) && object.secret_names().any(|name| name == request.name)
        };
        let is_referred_to = self.managed_resources.list_in(&request.namespace).iter().any(refers);
        Some(State { secret, is_referred_to })
    }

    async fn execute(&self, request: &Request, patch: &Value) -> Result<Outcome, kube::Error> {
        let secrets: Api<Secret> = Api::namespaced(self.client.clone(), &request.namespace);
        secrets.patch_metadata(&request.name, &PatchParams::default(), &Patch::Merge(patch)).await?;
        Ok(Outcome::Done)
    }
}

/// Keeps GRM-SCT-001, GRM-SCT-002, GRM-SCT-003, GRM-SCT-004, GRM-SCT-005, GRM-SCT-006 and GRM-SCT-007: the finalizer stands on the Secret exactly as long as it is referred to.
fn plan(finalizer: &str, state: &State) -> Option<Value> {
    let mut finalizers = state.secret.finalizers().to_vec();
    let is_held = finalizers.iter().any(|held| held == finalizer);
    match (state.is_referred_to, is_held) {
        (true, false) => finalizers.push(finalizer.to_owned()),
        (false, true) => finalizers.retain(|held| held != finalizer),
        (true, true) | (false, false) => return None,
    }
    let version = state.secret.resource_version();
    Some(json!({"metadata": {"finalizers": finalizers, "resourceVersion": version}}))
}
