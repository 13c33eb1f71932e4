//! One pass over a ManagedResource: guards, plan, and steps in the original's order.

use std::time::Duration;

use controller::clock::Clock;
use controller::{Outcome, Reconcile, Request, Store};
use k8s_openapi::api::core::v1::Secret;
use kube::core::PartialObjectMeta;
use kube::{Client, ResourceExt as _};

use super::api_errors::describe_error;
use super::apply::ApplyError;
use super::memory::{Memories, Memory, PassInputs, SecretsContent};
use super::own;
use super::plan::{Observed, Plan};
use super::purpose::{Purpose, purpose};
use super::scalers::{Scalers, ScalersError};
use super::settings::Settings;
use super::status;
use super::target::{Target, TargetError};
use super::trigger;
use crate::managed_resource::manifests::Manifests;
use crate::managed_resource::{ManagedResource, ObjectReference};

/// The original's text for a timeout.
pub(super) const TIMED_OUT: &str = "context deadline exceeded";
/// How much later than another one a watch may show a change.
const ECHO: Duration = Duration::from_secs(10);
/// Pause before stores that are behind are compared again.
const AGAIN: Duration = Duration::from_secs(1);

/// Why a pass failed; the condition has the details.
#[derive(Debug, thiserror::Error)]
pub(super) enum PassError {
    /// The ManagedResource could not be written.
    #[error("could not update the ManagedResource: {}", describe_error(.0))]
    Own(#[source] kube::Error),
    /// A Secret could not be read.
    #[error("could not read secret '{name}': {message}")]
    Secret {
        /// Its name.
        name: String,
        /// The reason.
        message: String,
    },
    /// Discovery of the target cluster failed.
    #[error("failed to discover kinds of the target cluster: {0}")]
    Kinds(#[source] TargetError),
    /// Objects could not be released.
    #[error("could not release all orphaned resources: {0}")]
    Release(String),
    /// The autoscaled objects are unknown.
    #[error(
        "could not apply all new resources: failed to compute all HPA and HVPA target ref object keys: {0}"
    )]
    Scalers(#[from] ScalersError),
    /// An object could not be applied.
    #[error("could not apply all new resources: {0}")]
    Apply(#[from] ApplyError),
}

/// Reconciles ManagedResources, each independently: GRM-MR-153, GRM-MR-158 and GRM-MR-176.
pub(super) struct Reconciler {
    pub(super) source: Client,
    pub(super) managed_resources: Store<ManagedResource>,
    pub(super) secrets: Store<PartialObjectMeta<Secret>>,
    pub(super) target: Target,
    pub(super) scalers: Scalers,
    pub(super) memories: Memories,
    pub(super) settings: Settings,
    pub(super) clock: Clock,
}

impl Reconcile for Reconciler {
    type Error = PassError;

    async fn reconcile(&self, request: Request) -> Result<Outcome, PassError> {
        let Some(found) = self.managed_resources.get(&request.namespace, &request.name) else {
            self.memories.forget(&request);
            return Ok(Outcome::Done); // guard: the ManagedResource is gone
        };
        let (purpose, memory) = (purpose(&self.settings.class, &found), self.memories.get(&request));
        if purpose == Purpose::Apply && memory.is_current(&self.target.namespaces, &self.inputs(&found)) {
            return Ok(Outcome::RequeueAfter(self.until_next_pass(&found))); // guard: nothing has changed
        }
        if purpose == Purpose::LeaveAlone {
            return Ok(Outcome::Done); // guard: this instance must not act
        }
        let mut object = ManagedResource::clone(&found);
        own::remove_operation(&self.source, &mut object).await.map_err(PassError::Own)?;
        if purpose == Purpose::Wait {
            return Ok(Outcome::Requeue); // guard: another class still has its finalizer on it
        }
        if purpose == Purpose::Ignore {
            self.ignore(&request, &mut object).await?;
            return Ok(Outcome::Done); // guard: a user switched it off
        }
        let Some(observed) = self.observe(&request, purpose, &memory, &mut object).await? else {
            return Ok(self.finished()); // guard: the Secrets were written and have the same content
        };
        let plan = Plan::of(&object, observed, &self.settings, |kind| self.target.kinds.scope(kind));
        plan.log_problems();
        self.begin(&mut object, &plan).await?; // step 1
        if let Some(pending) = self.remove(&object, plan.unwanted()).await {
            return self.wait(&mut object, &pending).await; // step 2: objects still exist
        }
        let Plan::Apply(application) = plan else {
            return self.finish_deletion(object).await; // step 3 of a deletion
        };
        self.release(&mut object, &application).await?; // step 3
        let (outcome, scaled) = self.apply_all(&object, &application, &memory).await; // step 4
        self.finish(&request, object, *application, outcome, scaled).await // step 5
    }
}

impl Reconciler {
    /// The inputs of a pass, whose change would require another pass.
    pub(super) fn inputs(&self, object: &ManagedResource) -> PassInputs {
        let namespace = object.namespace().unwrap_or_default();
        let secrets = object.spec.secret_refs.iter();
        let secrets = secrets.map(|of| self.secrets.get(&namespace, &of.name)?.resource_version());
        PassInputs {
            version: object.resource_version(),
            generation: object.metadata.generation,
            secrets: secrets.collect(),
            kinds: self.target.kinds.revision(),
            scaled: self.scalers.digest(),
        }
    }

    async fn ignore(&self, request: &Request, object: &mut ManagedResource) -> Result<(), PassError> {
        tracing::info!("Skipping reconciliation since ManagedResource is ignored");
        self.memories.forget(request);
        self.update_status(object, status::ignored).await
    }

    /// Reads what the plan depends on, and adds the finalizer before objects are applied. `None` if the Secrets' content
    /// and all other inputs are those of the last pass.
    async fn observe(
        &self,
        request: &Request,
        purpose: Purpose,
        memory: &Memory,
        object: &mut ManagedResource,
    ) -> Result<Option<Observed>, PassError> {
        if purpose == Purpose::Delete {
            self.memories.forget(request);
            tracing::info!("Starting to delete ManagedResource");
            return Ok(Some(Observed::Deletion));
        }
        tracing::info!("Starting to reconcile ManagedResource");
        let finalizer = &self.settings.finalizer;
        own::add_finalizer(&self.source, object, finalizer).await.map_err(PassError::Own)?;
        let secrets = self.secrets_of(object).await?;
        let content = SecretsContent::of(&secrets);
        if let Some(memory) = memory.with_secrets(&content)
            && memory.is_current(&self.target.namespaces, &self.inputs(object))
        {
            self.memories.put(request, memory);
            return Ok(None);
        }
        let manifests = self.decode(object, &secrets).await?;
        Ok(Some(Observed::Manifests { manifests, content }))
    }

    /// Reads the Secrets; writes a failure to the status.
    async fn secrets_of(&self, object: &mut ManagedResource) -> Result<Vec<Secret>, PassError> {
        match self.read_secrets(object).await {
            Ok(secrets) => Ok(secrets),
            Err((name, message)) => {
                let change = |status: &mut _, now| status::cannot_read_secret(status, now, &message);
                self.update_status(object, change).await?;
                Err(PassError::Secret { name, message })
            }
        }
    }

    /// Decodes the Secrets and discovers the kinds of their objects; writes a failure to the status.
    async fn decode(&self, object: &mut ManagedResource, secrets: &[Secret]) -> Result<Manifests, PassError> {
        let manifests = Manifests::read(secrets);
        let described: Vec<ObjectReference> = manifests.references().collect();
        let discovered = self.target.discover_kinds(described.iter().chain(&object.status.resources)).await;
        if let Err(error) = discovered.map_err(PassError::Kinds) {
            let message = error.to_string();
            self.update_status(object, |status, now| status::apply_failed(status, now, &message)).await?;
            return Err(error);
        }
        Ok(manifests)
    }

    /// The stores soon show what the health controller has seen.
    fn until_next_pass(&self, unchanged: &ManagedResource) -> Duration {
        let is_behind = trigger::is_missing_since(unchanged, self.clock.now(), ECHO);
        if is_behind { AGAIN.min(self.settings.period) } else { self.settings.period }
    }

    pub(super) fn finished(&self) -> Outcome {
        tracing::info!("Finished to reconcile ManagedResource");
        Outcome::RequeueAfter(self.settings.period)
    }
}
