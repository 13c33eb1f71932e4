//! The steps of a pass that ask the clusters.

use futures::future::join_all;
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt as _;
use kube::api::Api;
use tokio::time::{Instant, timeout};

use super::api_errors::{describe_error, is_not_found};
use super::apply::{Applied, Applying};
use super::pass::{PassError, Reconciler, TIMED_OUT};
use super::release::release;
use super::removal::Removing;
use super::settled::Memory;
use crate::managed_resource::equivalence::Equivalences;
use crate::managed_resource::inject::labels_to_inject;
use crate::managed_resource::inventory::Inventory;
use crate::managed_resource::manifests::Manifests;
use crate::managed_resource::merge::{Overwrite, is_typed};
use crate::managed_resource::reference::origin;
use crate::managed_resource::scaled::Scaled;
use crate::managed_resource::{ManagedResource, ObjectReference};

impl Reconciler {
    /// GRM-MR-004: the Secrets in the order of their references, or which of them could not be read, and why.
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

    /// What the Secrets say, once the kinds are known that they speak of.
    pub(super) async fn take(
        &self,
        object: &ManagedResource,
        secrets: &[Secret],
    ) -> Result<Inventory, PassError> {
        let manifests = Manifests::read(secrets);
        let described: Vec<ObjectReference> = manifests.references().collect();
        let learned = self.target.learn(described.iter().chain(&object.status.resources)).await;
        learned.map_err(PassError::Kinds)?;
        let inventory = Inventory::take(object, manifests, &self.settings.managed_by, |kind| {
            let api_version = kind.api_version();
            self.target.kinds.get(&api_version, &kind.kind).map(|kind| kind.scope)
        });
        for error in &inventory.errors {
            tracing::error!(%error, "Could not decode resource");
        }
        for duplicate in &inventory.duplicates {
            tracing::warn!(%duplicate, "an object is described more than once; the last description counts");
        }
        Ok(inventory)
    }

    /// Deletes objects; tells which are still there.
    pub(super) async fn remove(
        &self,
        object: &ManagedResource,
        unwanted: &[ObjectReference],
    ) -> Option<String> {
        if let Err(error) = self.target.learn(unwanted).await {
            return Some(format!("Could not clean all old resources: {error}"));
        }
        let removing = Removing {
            target: &self.target,
            origin: &origin(&self.settings.cluster_id, object),
            now: self.clock.now(),
            collects_garbage: self.settings.collects_garbage,
            deletes_claims: object.spec.delete_persistent_volume_claims.unwrap_or_default(),
            deadline: Instant::now() + self.settings.timeout,
        };
        removing.all(unwanted).await
    }

    /// Gives away what took mode `Ignore`; tells what keeps us from it.
    pub(super) async fn release(&self, inventory: &Inventory, origin: &str) -> Result<(), String> {
        let released =
            timeout(self.settings.timeout, release(&self.target, &inventory.orphans, origin)).await;
        released.unwrap_or_else(|_elapsed| Err(TIMED_OUT.to_owned()))
    }

    /// Applies what is wanted, as far as it goes; with it the digest of the autoscalers that were read.
    pub(super) async fn apply_all(
        &self,
        object: &ManagedResource,
        inventory: &Inventory,
        origin: &str,
        memory: &Memory,
    ) -> (Applied<PassError>, u64) {
        self.target.namespaces.listed().await;
        // Nothing else is scaled, so autoscalers are not asked for without need.
        let may_be_scaled = inventory.wanted.iter().any(|wanted| is_typed(&wanted.object));
        let unscaled = || Ok((Scaled::default(), self.scalers.digest()));
        let scaled = if may_be_scaled { self.scalers.scaled().await } else { unscaled() };
        let (scaled, digest) = match scaled {
            Ok(scaled) => scaled,
            Err(error) => return (Applied::failed(error.into()), 0),
        };
        let applying = Applying {
            target: &self.target,
            origin,
            inject: &labels_to_inject(object.spec.inject_labels.as_ref(), &self.settings.managed_by),
            force_overwrite: Overwrite {
                labels: object.spec.force_overwrite_labels.unwrap_or_default(),
                annotations: object.spec.force_overwrite_annotations.unwrap_or_default(),
            },
            scaled: &scaled,
            equivalences: &Equivalences::new(&object.spec.equivalences),
            always: self.settings.always,
            memory,
            deadline: Instant::now() + self.settings.timeout,
        };
        let Applied { settled, doubtful, error } = applying.all(&inventory.wanted).await;
        (Applied { settled, doubtful, error: error.map(PassError::Apply) }, digest)
    }
}
