//! Requests of a pass: lists, finalizer, replicas, status. The stores show each write before the next pass begins.

use std::fmt::Debug;

use api::garden::managed_seed_set::ManagedSeedSetStatus;
use api::garden::{ManagedSeed, ManagedSeedSet, Seed, Shoot};
use api::gardener::{CONFIRMATION_DELETION, OPERATION, OPERATION_RETRY};
use controller::Store;
use formats::selector::LabelSelector;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::{Resource, ResourceExt as _};
use serde::Serialize;
use serde::de::DeserializeOwned;
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
        finalizer::add(&self.sets_of(set), set).await.map(drop).map_err(SetError::Add)
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
        let written = match operation {
            ReplicaWrite::CreateShoot(name) => {
                let shoot = create::shoot(set, name);
                Box::pin(create(&shoots, &self.shoots, &shoot)).await
            }
            ReplicaWrite::RetryShoot(name) => self.annotate(&shoots, name, OPERATION, OPERATION_RETRY).await,
            ReplicaWrite::DeleteShoot(name) => self.delete_shoot(&shoots, name).await,
            ReplicaWrite::CreateManagedSeed(name) => {
                create(&managed_seeds, &self.managed_seeds, &create::managed_seed(set, name)?).await
            }
            ReplicaWrite::DeleteManagedSeed(name) => delete(&managed_seeds, &self.managed_seeds, name).await,
        };
        written.map_err(|error| SetError::Replica(operation.replica().to_owned(), error))
    }

    async fn annotate(
        &self,
        shoots: &Api<Shoot>,
        name: &str,
        annotation: &str,
        value: &str,
    ) -> Result<(), kube::Error> {
        let patch = Patch::Merge(json!({"metadata": {"annotations": {annotation: value}}}));
        let annotated = shoots.patch(name, &PatchParams::default(), &patch).await?;
        self.shoots.wait_until_shows(&annotated).await;
        Ok(())
    }

    /// Confirms the deletion of a Shoot and deletes it.
    async fn delete_shoot(&self, shoots: &Api<Shoot>, name: &str) -> Result<(), kube::Error> {
        self.annotate(shoots, name, CONFIRMATION_DELETION, "true").await?;
        delete(shoots, &self.shoots, name).await
    }

    /// Writes what this controller keeps of a status, if it has changed; returns whether it has.
    pub(super) async fn write_status(
        &self,
        set: &ManagedSeedSet,
        status: &ManagedSeedSetStatus,
    ) -> Result<bool, SetError> {
        if *status == set.status {
            return Ok(false);
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
            Err(kube::Error::Api(answer)) if answer.is_not_found() => Ok(false),
            patched => {
                self.sets.wait_until_shows(&patched.map_err(SetError::Status)?).await;
                Ok(true)
            }
        }
    }

    fn sets_of(&self, set: &ManagedSeedSet) -> Api<ManagedSeedSet> {
        Api::namespaced(self.client.clone(), &set.namespace().unwrap_or_default())
    }
}

/// Creates an object of a replica; one that exists is left as it is.
async fn create<K>(objects: &Api<K>, store: &Store<K>, object: &K) -> Result<(), kube::Error>
where
    K: Resource + Clone + Debug + DeserializeOwned + Serialize,
{
    match objects.create(&PostParams::default(), object).await {
        Err(kube::Error::Api(status)) if status.is_already_exists() => {}
        created => store.wait_until_shows(&created?).await,
    }
    Ok(())
}

/// Deletes an object of a replica, which may be gone.
async fn delete<K>(objects: &Api<K>, store: &Store<K>, name: &str) -> Result<(), kube::Error>
where
    K: Resource + Clone + Debug + DeserializeOwned,
{
    let known = store.get(objects.namespace().unwrap_or_default(), name);
    let deleted = match objects.delete(name, &DeleteParams::default()).await {
        Err(kube::Error::Api(status)) if status.is_not_found() => return Ok(()),
        deleted => deleted?,
    };
    match (deleted.left(), known) {
        (Some(marked), _) => store.wait_until_shows(&marked).await,
        (None, Some(known)) => store.wait_until_gone(&known).await,
        (None, None) => {}
    }
    Ok(())
}
