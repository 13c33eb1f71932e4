//! Requests of a pass: lists, finalizer, replicas, status.

use api::garden::managed_seed_set::ManagedSeedSetStatus;
use api::garden::{ManagedSeed, ManagedSeedSet, Seed, Shoot};
use api::gardener::{CONFIRMATION_DELETION, OPERATION, OPERATION_RETRY};
use formats::selector::LabelSelector;
use kube::ResourceExt as _;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use serde_json::json;

use super::plan::ReplicaWrite;
use super::{Reconciler, SetError, create};
use crate::controllers::finalizer;

impl Reconciler {
    /// How many Shoots the server has.
    pub(super) async fn count_shoots(
        &self,
        namespace: &str,
        selector: &LabelSelector,
    ) -> Result<usize, SetError> {
        let shoots: Api<Shoot> = Api::namespaced(self.client.clone(), namespace);
        let listed = shoots.list_metadata(&ListParams::default().labels(&selector.to_string())).await;
        listed.map(|listed| listed.items.len()).map_err(SetError::List)
    }

    /// Whether the server has Shoots whose control planes are in the Seed.
    pub(super) async fn has_scheduled_shoots(&self, seed: Option<&Seed>) -> Result<bool, SetError> {
        let Some(seed) = seed else { return Ok(false) };
        let shoots: Api<Shoot> = Api::all(self.client.clone());
        let scheduled = ListParams::default().fields(&format!("spec.seedName={}", seed.name_any())).limit(1);
        let listed = shoots.list_metadata(&scheduled).await;
        listed.map(|listed| !listed.items.is_empty()).map_err(SetError::List)
    }

    pub(super) async fn protect(&self, set: &ManagedSeedSet) -> Result<(), SetError> {
        finalizer::add(&self.sets_of(set), set).await.map_err(SetError::Add)
    }

    pub(super) async fn release(&self, set: &ManagedSeedSet) -> Result<(), SetError> {
        finalizer::remove(&self.sets_of(set), set).await.map_err(SetError::Remove)
    }

    pub(super) async fn execute(
        &self,
        set: &ManagedSeedSet,
        operation: &ReplicaWrite,
    ) -> Result<(), SetError> {
        let namespace = set.namespace().unwrap_or_default();
        let shoots: Api<Shoot> = Api::namespaced(self.client.clone(), &namespace);
        let managed_seeds: Api<ManagedSeed> = Api::namespaced(self.client.clone(), &namespace);
        let (name, written) = match operation {
            ReplicaWrite::CreateShoot(name) => {
                let shoot = create::shoot(set, name);
                (name, existing(shoots.create(&PostParams::default(), &shoot).await))
            }
            ReplicaWrite::RetryShoot(name) => {
                (name, annotate(&shoots, name, OPERATION, OPERATION_RETRY).await)
            }
            ReplicaWrite::DeleteShoot(name) => (name, delete_shoot(&shoots, name).await),
            ReplicaWrite::CreateManagedSeed(name) => {
                let managed_seed = create::managed_seed(set, name)?;
                (name, existing(managed_seeds.create(&PostParams::default(), &managed_seed).await))
            }
            ReplicaWrite::DeleteManagedSeed(name) => {
                (name, absent(managed_seeds.delete(name, &DeleteParams::default()).await))
            }
        };
        written.map_err(|error| SetError::Replica(name.clone(), error))
    }

    /// Writes what this controller keeps of a status, if it has changed.
    pub(super) async fn write_status(
        &self,
        set: &ManagedSeedSet,
        status: &ManagedSeedSetStatus,
    ) -> Result<(), SetError> {
        if *status == set.status {
            return Ok(());
        }
        let pending = status.pending_replica.as_ref().map(|pending| {
            json!({"name": pending.name, "reason": pending.reason, "since": pending.since, "retries": pending.retries})
        });
        let patch = Patch::Merge(json!({"status": {
            "observedGeneration": status.observed_generation,
            "replicas": status.replicas,
            "readyReplicas": status.ready_replicas,
            "nextReplicaNumber": status.next_replica_number,
            "pendingReplica": pending,
        }}));
        let sets = self.sets_of(set);
        match sets.patch_status(&set.name_any(), &PatchParams::default(), &patch).await {
            Err(kube::Error::Api(answer)) if answer.is_not_found() => Ok(()),
            patched => patched.map(drop).map_err(SetError::Status),
        }
    }

    fn sets_of(&self, set: &ManagedSeedSet) -> Api<ManagedSeedSet> {
        Api::namespaced(self.client.clone(), &set.namespace().unwrap_or_default())
    }
}

async fn annotate(shoots: &Api<Shoot>, name: &str, annotation: &str, value: &str) -> Result<(), kube::Error> {
    let patch = Patch::Merge(json!({"metadata": {"annotations": {annotation: value}}}));
    shoots.patch(name, &PatchParams::default(), &patch).await.map(drop)
}

/// Confirms the deletion of a Shoot and deletes it.
async fn delete_shoot(shoots: &Api<Shoot>, name: &str) -> Result<(), kube::Error> {
    annotate(shoots, name, CONFIRMATION_DELETION, "true").await?;
    absent(shoots.delete(name, &DeleteParams::default()).await)
}

/// Creating an object that exists succeeds.
fn existing<T>(created: Result<T, kube::Error>) -> Result<(), kube::Error> {
    match created {
        Err(kube::Error::Api(status)) if status.is_already_exists() => Ok(()),
        created => created.map(drop),
    }
}

/// Deleting an object that is gone succeeds.
fn absent<T>(deleted: Result<T, kube::Error>) -> Result<(), kube::Error> {
    match deleted {
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
        deleted => deleted.map(drop),
    }
}
