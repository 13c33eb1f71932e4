//! One pass over a ManagedResource, step by step in the order of the original.

use std::time::Duration;

use controller::clock::Clock;
use controller::{Outcome, Reconcile, Request, Store};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Secret;
use kube::core::PartialObjectMeta;
use kube::{Client, ResourceExt as _};

use super::api_errors::describe_error;
use super::apply::{Applied, ApplyError};
use super::own;
use super::path::{Path, path};
use super::record;
use super::scalers::{Scalers, ScalersError};
use super::settled::{Circumstances, Key, Memories, Memory, Said};
use super::status;
use super::target::{Target, TargetError};
use crate::managed_resource::decode::decoding_failed;
use crate::managed_resource::inventory::Inventory;
use crate::managed_resource::reference::origin;
use crate::managed_resource::{Class, ManagedResource, ManagedResourceStatus, ObjectReference};

/// How long until it is looked again whether objects are gone.
const PENDING: Duration = Duration::from_secs(5);
/// What the original calls an end of its patience.
pub(super) const TIMED_OUT: &str = "context deadline exceeded";

/// What an instance is told.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    /// The class that it is responsible for.
    pub(super) class: Class,
    /// What it holds ManagedResources with.
    pub(super) finalizer: String,
    /// Identity of the source cluster; empty where it is not told.
    pub(super) cluster_id: String,
    /// Value of the label that managed objects bear.
    pub(super) managed_by: String,
    /// Whether objects are written though nothing differs.
    pub(super) always: bool,
    /// Whether the garbage collector runs.
    pub(super) collects_garbage: bool,
    /// Time between two passes.
    pub(super) period: Duration,
    /// How long one step may take.
    pub(super) timeout: Duration,
}

/// Why a pass did not go well; the condition tells more.
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
        /// Why.
        message: String,
    },
    /// The kinds of the target cluster are not known.
    #[error("failed to discover kinds of the target cluster: {0}")]
    Kinds(#[source] TargetError),
    /// Objects could not be given away.
    #[error("could not release all orphaned resources: {0}")]
    Release(String),
    /// What is scaled is not known.
    #[error(
        "could not apply all new resources: failed to compute all HPA and HVPA target ref object keys: {0}"
    )]
    Scalers(#[from] ScalersError),
    /// An object could not be applied.
    #[error("could not apply all new resources: {0}")]
    Apply(#[from] ApplyError),
}

/// Works on ManagedResources, each for itself: GRM-MR-153, GRM-MR-158 and GRM-MR-176.
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
            return Ok(Outcome::Done);
        };
        let path = path(&self.settings.class, &found);
        let memory = self.memories.get(&request);
        if path == Path::Apply && memory.holds(&self.target.namespaces, &self.circumstances(&found)) {
            return Ok(Outcome::RequeueAfter(self.settings.period));
        }
        if path == Path::LeaveAlone {
            return Ok(Outcome::Done);
        }
        let mut object = ManagedResource::clone(&found);
        own::remove_operation(&self.source, &mut object).await.map_err(PassError::Own)?;
        match path {
            Path::LeaveAlone => Ok(Outcome::Done),
            Path::Wait => Ok(Outcome::Requeue),
            Path::Ignore => {
                tracing::info!("Skipping reconciliation since ManagedResource is ignored");
                self.memories.forget(&request);
                self.tell(&mut object, status::ignored).await?;
                Ok(Outcome::Done)
            }
            Path::Delete => {
                self.memories.forget(&request);
                self.delete(object).await
            }
            Path::Apply => self.apply(&request, &memory, object).await,
        }
    }
}

impl Reconciler {
    /// What would make another pass necessary.
    fn circumstances(&self, object: &ManagedResource) -> Circumstances {
        let namespace = object.namespace().unwrap_or_default();
        let secrets = object.spec.secret_refs.iter();
        let secrets = secrets.map(|of| self.secrets.get(&namespace, &of.name)?.resource_version());
        Circumstances {
            version: object.resource_version(),
            generation: object.metadata.generation,
            secrets: secrets.collect(),
            kinds: self.target.kinds.revision(),
            scaled: self.scalers.digest(),
        }
    }

    /// GRM-MR-060, GRM-MR-061, GRM-MR-065, GRM-MR-072 and GRM-MR-073: deletes all objects, and lets the ManagedResource go.
    async fn delete(&self, mut object: ManagedResource) -> Result<Outcome, PassError> {
        tracing::info!("Starting to delete ManagedResource");
        let is_kept = object.spec.keep_objects.unwrap_or_default();
        self.tell(&mut object, |status, now| status::deleting(status, now, is_kept)).await?;
        let objects = std::mem::take(&mut object.status.resources);
        let pending = if is_kept {
            tracing::info!("Skipping deletion of objects as ManagedResource is marked to keep objects");
            None
        } else {
            self.remove(&object, &objects).await
        };
        object.status.resources = objects;
        if let Some(pending) = pending {
            return self.wait(&mut object, &pending).await;
        }
        tracing::info!("All resources have been deleted");
        let finalizer = &self.settings.finalizer;
        own::remove_finalizer(&self.source, &mut object, finalizer).await.map_err(PassError::Own)?;
        tracing::info!("Finished to delete ManagedResource");
        Ok(Outcome::Done)
    }

    async fn apply(
        &self,
        request: &Request,
        memory: &Memory,
        mut object: ManagedResource,
    ) -> Result<Outcome, PassError> {
        tracing::info!("Starting to reconcile ManagedResource");
        let finalizer = &self.settings.finalizer;
        own::add_finalizer(&self.source, &mut object, finalizer).await.map_err(PassError::Own)?;
        let secrets = self.read(&mut object).await?;
        let said = Said::by(&secrets);
        if let Some(memory) = memory.of_secrets(&said)
            && memory.holds(&self.target.namespaces, &self.circumstances(&object))
        {
            self.memories.put(request, memory);
            return Ok(self.finished());
        }
        let inventory = self.inventory(&mut object, &secrets).await?;
        let origin = origin(&self.settings.cluster_id, &object);
        let known = object.status.resources.clone();
        self.begin(&mut object, &inventory, &origin).await?;
        // A document that cannot be read may be about what seems to be unwanted: GRM-MR-132.
        if inventory.errors.is_empty()
            && let Some(pending) = self.remove(&object, &inventory.unwanted).await
        {
            return self.wait(&mut object, &pending).await;
        }
        if let Err(message) = self.release(&inventory, &origin).await {
            self.tell(&mut object, |status, now| status::release_failed(status, now, &message)).await?;
            return Err(PassError::Release(message));
        }
        let (applied, scaled) = self.apply_all(&object, &inventory, &origin, memory).await;
        let Applied { settled, doubtful, error } = applied;
        if let Some(error) = error {
            let is_applied = |of: &ObjectReference| settled.contains_key(&Key::of(of));
            let is_doubtful = |of: &ObjectReference| doubtful.contains(&Key::of(of));
            let listed = record::failed(&known, &inventory, &origin, is_applied, is_doubtful);
            self.memories.put(request, Memory { objects: settled, ..Memory::default() });
            return self.failed(&mut object, listed, error).await;
        }
        self.succeeded(&mut object, &inventory).await?;
        let Said { versions, digest } = said;
        let circumstances = Circumstances { secrets: versions, scaled, ..self.circumstances(&object) };
        let memory = Memory { objects: settled, circumstances: Some(circumstances), said: digest };
        self.memories.put(request, memory);
        Ok(self.finished())
    }

    fn finished(&self) -> Outcome {
        tracing::info!("Finished to reconcile ManagedResource");
        Outcome::RequeueAfter(self.settings.period)
    }

    /// The Secrets; what keeps us from reading them is told.
    async fn read(&self, object: &mut ManagedResource) -> Result<Vec<Secret>, PassError> {
        match self.read_secrets(object).await {
            Ok(secrets) => Ok(secrets),
            Err((name, message)) => {
                self.tell(object, |status, now| status::cannot_read_secret(status, now, &message)).await?;
                Err(PassError::Secret { name, message })
            }
        }
    }

    /// What the Secrets say; what keeps us from understanding them is told.
    async fn inventory(
        &self,
        object: &mut ManagedResource,
        secrets: &[Secret],
    ) -> Result<Inventory, PassError> {
        match self.take(object, secrets).await {
            Ok(inventory) => Ok(inventory),
            Err(error) => {
                let message = error.to_string();
                self.tell(object, |status, now| status::apply_failed(status, now, &message)).await?;
                Err(error)
            }
        }
    }
}

/// What is told on the way and in the end.
impl Reconciler {
    /// Tells that something else is to be applied, if it is.
    async fn begin(
        &self,
        object: &mut ManagedResource,
        inventory: &Inventory,
        origin: &str,
    ) -> Result<(), PassError> {
        let ManagedResourceStatus { resources, secrets_data_checksum, .. } = &object.status;
        let checksum = secrets_data_checksum.as_ref();
        if *resources == record::applied(inventory) && checksum == Some(&inventory.checksum) {
            return Ok(());
        }
        let begun = record::begun(resources, inventory, origin);
        self.tell(object, |status, now| {
            status::applying(status, now);
            status.resources = begun;
        })
        .await
    }

    async fn wait(&self, object: &mut ManagedResource, pending: &str) -> Result<Outcome, PassError> {
        tracing::info!(error = pending, "Deletion is still pending");
        self.tell(object, |status, now| status::deletion_pending(status, now, pending)).await?;
        Ok(Outcome::RequeueAfter(PENDING))
    }

    async fn failed(
        &self,
        object: &mut ManagedResource,
        listed: Vec<ObjectReference>,
        error: PassError,
    ) -> Result<Outcome, PassError> {
        let message = match &error {
            PassError::Apply(error) => error.to_string(),
            other => other.to_string().replacen("could not apply all new resources: ", "", 1),
        };
        self.tell(object, |status, now| {
            status::apply_failed(status, now, &message);
            status.resources = listed;
        })
        .await?;
        Err(error)
    }

    /// GRM-MR-006: what everything that follows is compared with.
    async fn succeeded(&self, object: &mut ManagedResource, inventory: &Inventory) -> Result<(), PassError> {
        let generation = object.metadata.generation;
        self.tell(object, |status, now| {
            if inventory.errors.is_empty() {
                status::applied(status, now);
            } else {
                status::decoding_failed(status, now, &decoding_failed(&inventory.errors));
            }
            status.secrets_data_checksum = Some(inventory.checksum.clone());
            status.resources = record::applied(inventory);
            status.observed_generation = generation;
        })
        .await
    }

    /// Writes the status when it has changed.
    async fn tell(
        &self,
        object: &mut ManagedResource,
        change: impl FnOnce(&mut ManagedResourceStatus, Timestamp),
    ) -> Result<(), PassError> {
        let mut status = object.status.clone();
        change(&mut status, self.clock.now());
        own::write_status(&self.source, object, status).await.map_err(PassError::Own)
    }
}
