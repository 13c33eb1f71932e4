//! The reads and steps of a pass.

use std::time::Duration;

use controller::{Outcome, Request};
use futures::future::join_all;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt as _;
use kube::api::Api;
use tokio::time::{Instant, timeout};

use super::api_errors::{describe_error, is_not_found};
use super::apply::{ApplyOutcome, ApplyRun};
use super::memory::{Memory, ObjectKey, PassInputs, SecretsContent};
use super::pass::{PassError, Reconciler, TIMED_OUT};
use super::plan::{Application, Plan};
use super::release::release;
use super::removal::Removal;
use super::{own, record, status};
use crate::managed_resource::decode::decoding_failed;
use crate::managed_resource::equivalence::Equivalences;
use crate::managed_resource::inject::labels_to_inject;
use crate::managed_resource::inventory::Inventory;
use crate::managed_resource::merge::{Overwrite, is_typed};
use crate::managed_resource::reference::origin;
use crate::managed_resource::scaled::Scaled;
use crate::managed_resource::{ManagedResource, ManagedResourceStatus, ObjectReference};

/// Time before a pass that looks again whether deleted objects are gone.
const PENDING: Duration = Duration::from_secs(5);

impl Reconciler {
    /// GRM-MR-004: the Secrets in the order of their references, or the name of one that could not be read, and why.
    pub(super) async fn read_secrets(
        &self,
        object: &ManagedResource,
    ) -> Result<Vec<Secret>, (String, String)> {
        let namespace = object.namespace().unwrap_or_default();
        let secrets: Api<Secret> = Api::namespaced(self.source.clone(), &namespace);
        let reads = object.spec.secret_refs.iter().map(|reference| {
            let (secrets, name) = (&secrets, &reference.name);
            let is_there = self.secrets.get(&namespace, name).is_some();
            async move {
                let absent = || format!("Secret {name:?} not found");
                if !is_there {
                    return Err((name.clone(), absent()));
                }
                secrets.get(name).await.map_err(|error| {
                    let message = if is_not_found(&error) { absent() } else { describe_error(&error) };
                    (name.clone(), message)
                })
            }
        });
        let read = timeout(self.settings.timeout, join_all(reads)).await;
        read.map_err(|_elapsed| (String::new(), TIMED_OUT.to_owned()))?.into_iter().collect()
    }

    /// Writes to the status what the pass begins to do.
    pub(super) async fn begin(&self, object: &mut ManagedResource, plan: &Plan) -> Result<(), PassError> {
        match plan {
            Plan::Delete(_) => {
                let is_kept = object.spec.keep_objects.unwrap_or_default();
                self.update_status(object, |status, now| status::deleting(status, now, is_kept)).await?;
                if is_kept {
                    tracing::info!(
                        "Skipping deletion of objects as ManagedResource is marked to keep objects"
                    );
                }
                Ok(())
            }
            Plan::Apply(application) => self.begin_to_apply(object, application).await,
        }
    }

    /// Writes the objects that may be created, unless the last pass applied the same ones.
    async fn begin_to_apply(
        &self,
        object: &mut ManagedResource,
        Application { inventory, origin, .. }: &Application,
    ) -> Result<(), PassError> {
        let ManagedResourceStatus { resources, secrets_data_checksum, .. } = &object.status;
        let checksum = secrets_data_checksum.as_ref();
        if *resources == record::after_success(inventory) && checksum == Some(&inventory.checksum) {
            return Ok(());
        }
        let listed = record::before_apply(resources, inventory, origin);
        self.update_status(object, |status, now| {
            status::applying(status, now);
            status.resources = listed;
        })
        .await
    }

    /// Deletes objects; returns a message about those that still exist.
    pub(super) async fn remove(
        &self,
        object: &ManagedResource,
        unwanted: &[ObjectReference],
    ) -> Option<String> {
        if let Err(error) = self.target.discover_kinds(unwanted).await {
            return Some(format!("Could not clean all old resources: {error}"));
        }
        let removal = Removal {
            target: &self.target,
            origin: &origin(&self.settings.cluster_id, object),
            now: self.clock.now(),
            collects_garbage: self.settings.collects_garbage,
            deletes_claims: object.spec.delete_persistent_volume_claims.unwrap_or_default(),
            deadline: Instant::now() + self.settings.timeout,
        };
        removal.remove_all(unwanted).await
    }

    /// Ends a pass in which deleted objects still exist.
    pub(super) async fn wait(
        &self,
        object: &mut ManagedResource,
        pending: &str,
    ) -> Result<Outcome, PassError> {
        tracing::info!(error = pending, "Deletion is still pending");
        self.update_status(object, |status, now| status::deletion_pending(status, now, pending)).await?;
        Ok(Outcome::RequeueAfter(PENDING))
    }

    /// GRM-MR-060, GRM-MR-061, GRM-MR-065, GRM-MR-072 and GRM-MR-073: removes the finalizer once all objects are deleted.
    pub(super) async fn finish_deletion(&self, mut object: ManagedResource) -> Result<Outcome, PassError> {
        tracing::info!("All resources have been deleted");
        let finalizer = &self.settings.finalizer;
        own::remove_finalizer(&self.source, &mut object, finalizer).await.map_err(PassError::Own)?;
        tracing::info!("Finished to delete ManagedResource");
        Ok(Outcome::Done)
    }

    /// Releases objects of mode `Ignore`; writes a failure to the status.
    pub(super) async fn release(
        &self,
        object: &mut ManagedResource,
        Application { inventory, origin, .. }: &Application,
    ) -> Result<(), PassError> {
        let released =
            timeout(self.settings.timeout, release(&self.target, &inventory.orphans, origin)).await;
        let Err(message) = released.unwrap_or_else(|_elapsed| Err(TIMED_OUT.to_owned())) else {
            return Ok(());
        };
        self.update_status(object, |status, now| status::release_failed(status, now, &message)).await?;
        Err(PassError::Release(message))
    }

    /// Applies the wanted objects until the first failure; also returns the digest of the autoscalers that were read.
    pub(super) async fn apply_all(
        &self,
        object: &ManagedResource,
        Application { inventory, origin, .. }: &Application,
        memory: &Memory,
    ) -> (ApplyOutcome<PassError>, u64) {
        self.target.namespaces.wait_until_listed().await;
        // Only typed kinds can be scaled, so other passes need no autoscalers.
        let may_be_scaled = inventory.wanted.iter().any(|wanted| is_typed(&wanted.object));
        let unscaled = || Ok((Scaled::default(), self.scalers.digest()));
        let scaled = if may_be_scaled { self.scalers.scaled().await } else { unscaled() };
        let (scaled, digest) = match scaled {
            Ok(scaled) => scaled,
            Err(error) => return (ApplyOutcome::failed(error.into()), 0),
        };
        let run = ApplyRun {
            target: &self.target,
            origin,
            inject: &labels_to_inject(object.spec.inject_labels.as_ref(), &self.settings.managed_by),
            force_overwrite: Overwrite {
                labels: object.spec.force_overwrite_labels.unwrap_or_default(),
                annotations: object.spec.force_overwrite_annotations.unwrap_or_default(),
            },
            scaled: &scaled,
            equivalences: &Equivalences::new(&object.spec.equivalences),
            always_update: self.settings.always_update,
            memory,
            deadline: Instant::now() + self.settings.timeout,
        };
        let ApplyOutcome { in_sync, uncertain, error } = run.apply_all(&inventory.wanted).await;
        (ApplyOutcome { in_sync, uncertain, error: error.map(PassError::Apply) }, digest)
    }

    /// Writes the result to the status, and remembers the objects that are in sync.
    pub(super) async fn finish(
        &self,
        request: &Request,
        mut object: ManagedResource,
        Application { inventory, origin, listed, content }: Application,
        ApplyOutcome { in_sync, uncertain, error }: ApplyOutcome<PassError>,
        scaled: u64,
    ) -> Result<Outcome, PassError> {
        if let Some(error) = error {
            let is_applied = |of: &ObjectReference| in_sync.contains_key(&ObjectKey::of(of));
            let is_uncertain = |of: &ObjectReference| uncertain.contains(&ObjectKey::of(of));
            let listed = record::after_failure(&listed, &inventory, &origin, is_applied, is_uncertain);
            self.memories.put(request, Memory { objects: in_sync, ..Memory::default() });
            return self.fail(&mut object, listed, error).await;
        }
        self.succeed(&mut object, &inventory).await?;
        let SecretsContent { versions, digest } = content;
        let inputs = PassInputs { secrets: versions, scaled, ..self.inputs(&object) };
        let memory = Memory { objects: in_sync, inputs: Some(inputs), secrets_digest: digest };
        self.memories.put(request, memory);
        Ok(self.finished())
    }

    async fn fail(
        &self,
        object: &mut ManagedResource,
        listed: Vec<ObjectReference>,
        error: PassError,
    ) -> Result<Outcome, PassError> {
        let message = match &error {
            PassError::Apply(error) => error.to_string(),
            other => other.to_string().replacen("could not apply all new resources: ", "", 1),
        };
        self.update_status(object, |status, now| {
            status::apply_failed(status, now, &message);
            status.resources = listed;
        })
        .await?;
        Err(error)
    }

    /// GRM-MR-006: writes the state with which later passes compare.
    async fn succeed(&self, object: &mut ManagedResource, inventory: &Inventory) -> Result<(), PassError> {
        let generation = object.metadata.generation;
        self.update_status(object, |status, now| {
            if inventory.errors.is_empty() {
                status::applied(status, now);
            } else {
                status::decoding_failed(status, now, &decoding_failed(&inventory.errors));
            }
            status.secrets_data_checksum = Some(inventory.checksum.clone());
            status.resources = record::after_success(inventory);
            status.observed_generation = generation;
        })
        .await
    }

    /// Writes the status if it has changed.
    pub(super) async fn update_status(
        &self,
        object: &mut ManagedResource,
        change: impl FnOnce(&mut ManagedResourceStatus, Timestamp),
    ) -> Result<(), PassError> {
        let mut status = object.status.clone();
        change(&mut status, self.clock.now());
        own::write_status(&self.source, object, status).await.map_err(PassError::Own)
    }
}
