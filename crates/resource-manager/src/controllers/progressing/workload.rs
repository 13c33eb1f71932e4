//! Live workload, and the pods of Deployments.

use std::collections::BTreeMap;
use std::sync::Arc;

use controller::cluster::WatchedKind;
use controller::reconcile::health::apps::Deployment;
use controller::reconcile::health::{Unfinished, rollout};
use controller::{Cluster, Event, Request, Selection, Store, Watch, Watches};
use k8s_openapi::api::apps::v1::ReplicaSet;
use k8s_openapi::api::core::v1::Pod;
use kube::api::ApiResource;
use kube::core::PartialObjectMeta;
use kube::{Resource, ResourceExt as _};

use crate::controllers::checking::{
    CheckError, CheckedKind, Origins, ServedKinds, is_resync, is_skipped, selection,
};
use crate::controllers::served::ServedKind;
use crate::managed_resource::ObjectReference;

/// GRM-PRG-010: the version in which workload is read, whatever version a reference has.
const API_VERSION: &str = "apps/v1";

/// Whether workload is rolled out.
type RolloutResult = Result<(), Unfinished>;
type Pods = Store<PartialObjectMeta<Pod>>;
type ReplicaSets = Store<PartialObjectMeta<ReplicaSet>>;

/// Live workload of the target cluster; the first object of a kind starts its watch.
pub(super) struct Workload {
    target: Cluster,
    served_kinds: ServedKinds,
    watches: Watches,
    origins: Origins,
}

impl Workload {
    pub(super) fn new(target: &Cluster, watches: Watches, origins: Origins) -> Self {
        let served_kinds = ServedKinds::new(target.client());
        Self { target: target.clone(), served_kinds, watches, origins }
    }

    /// The rollout state of the object; an object that is missing or not workload counts as rolled out.
    pub(super) async fn rollout(&self, reference: &ObjectReference) -> Result<RolloutResult, CheckError> {
        let group = reference.api_version.split_once('/').map_or("", |(group, _)| group);
        if group != "apps" || !matches!(&*reference.kind, "Deployment" | "StatefulSet" | "DaemonSet") {
            return Ok(Ok(()));
        }
        let Ok(served) = self.served_kinds.find(API_VERSION, &reference.kind).await? else {
            return Ok(Ok(()));
        };
        match &*reference.kind {
            "Deployment" => self.deployment(&served, reference).await,
            "StatefulSet" => self.simple_rollout(&served, reference, rollout::stateful_set).await,
            _ => self.simple_rollout(&served, reference, rollout::daemon_set).await,
        }
    }

    async fn deployment(
        &self,
        served: &ServedKind,
        reference: &ObjectReference,
    ) -> Result<RolloutResult, CheckError> {
        let deployments = self.store::<Deployment>(served);
        let pods: Pods = self.target.store(Selection::all());
        let replica_sets: ReplicaSets = self.target.store(Selection::all());
        deployments.wait_until_synced().await;
        pods.wait_until_synced().await;
        replica_sets.wait_until_synced().await;
        self.watch(&deployments, {
            let pods = pods.clone();
            move |object| with_pods(object, &pods)
        });
        self.watch_pods(&deployments, &pods, &replica_sets);
        let object = deployments.try_get(&reference.namespace, &reference.name)?;
        Ok(checked_rollout(object.as_deref(), |object| with_pods(object, &pods)))
    }

    fn watch_pods(&self, deployments: &Store<Deployment>, pods: &Pods, replica_sets: &ReplicaSets) {
        let owners = Owners { deployments: deployments.clone(), origins: self.origins.clone() };
        self.watches.ensure("pods", || {
            let (owners, replica_sets) = (owners.clone(), replica_sets.clone());
            let came_or_went = |event: &Event<_>| matches!(event, Event::Create(_) | Event::Delete(_));
            Watch::of(pods).filter(came_or_went).map_new(move |pod| owners.of_pod(pod, &replica_sets))
        });
        // GRM-PRG-043: two watches have no common order, so a pod may arrive before its ReplicaSet.
        self.watches.ensure("replicasets", || {
            let came = |event: &Event<_>| matches!(event, Event::Create(_));
            Watch::of(replica_sets)
                .filter(came)
                .map_new(move |replica_set| owners.of_replica_set(replica_set))
        });
    }

    async fn simple_rollout<K: WatchedKind<DynamicType = ApiResource> + CheckedKind>(
        &self,
        served: &ServedKind,
        reference: &ObjectReference,
        rollout: fn(&K) -> RolloutResult,
    ) -> Result<RolloutResult, CheckError> {
        let store = self.store::<K>(served);
        store.wait_until_synced().await;
        self.watch(&store, rollout);
        let object = store.try_get(&reference.namespace, &reference.name)?;
        Ok(checked_rollout(object.as_deref(), rollout))
    }

    fn store<K: WatchedKind<DynamicType = ApiResource> + CheckedKind>(
        &self,
        served: &ServedKind,
    ) -> Store<K> {
        self.target.dynamic_store(&served.resource, selection(served))
    }

    fn watch<K: WatchedKind + CheckedKind>(
        &self,
        store: &Store<K>,
        rollout: impl Fn(&K) -> RolloutResult + Send + Sync + 'static,
    ) {
        let origins = self.origins.clone();
        self.watches.ensure(store.kind(), || {
            Watch::of(store)
                .filter(move |event| rollout_changed(event, &rollout))
                .map_new(move |object| origins.request(object))
        });
    }
}

/// Finds the owners of pods and ReplicaSets.
#[derive(Clone)]
struct Owners {
    deployments: Store<Deployment>,
    origins: Origins,
}

impl Owners {
    /// GRM-PRG-040, GRM-PRG-041, GRM-PRG-042: the ManagedResource of the Deployment of a pod.
    fn of_pod(&self, pod: &PartialObjectMeta<Pod>, replica_sets: &ReplicaSets) -> Option<Request> {
        let replica_set = owner(pod, "ReplicaSet")?;
        self.of_replica_set(&*replica_sets.get(&pod.namespace().unwrap_or_default(), replica_set)?)
    }

    fn of_replica_set(&self, replica_set: &PartialObjectMeta<ReplicaSet>) -> Option<Request> {
        let deployment = owner(replica_set, "Deployment")?;
        let namespace = replica_set.namespace().unwrap_or_default();
        self.origins.request(&*self.deployments.get(&namespace, deployment)?)
    }
}

/// Name of the last owner of a kind.
fn owner<'a>(object: &'a impl Resource, kind: &str) -> Option<&'a str> {
    let owners = object.meta().owner_references.iter().flatten();
    let owner = owners.rev().find(|owner| owner.api_version == API_VERSION && owner.kind == kind)?;
    Some(&owner.name)
}

/// GRM-PRG-003: the rollout state of a Deployment, including a count of its pods.
fn with_pods(object: &Deployment, pods: &Pods) -> RolloutResult {
    rollout::deployment(object, |labels| {
        let namespace = object.namespace().unwrap_or_default();
        pods.list_in(&namespace).iter().filter(|pod| has_labels(pod, labels)).count()
    })
}

fn has_labels(pod: &Arc<PartialObjectMeta<Pod>>, labels: &BTreeMap<String, String>) -> bool {
    labels.iter().all(|(key, value)| pod.labels().get(key) == Some(value))
}

/// GRM-PRG-009, GRM-PRG-011: a missing object is the health check's concern, and an annotation can exclude an object.
fn checked_rollout<K: Resource>(object: Option<&K>, rollout: impl Fn(&K) -> RolloutResult) -> RolloutResult {
    object.filter(|object| !is_skipped(*object)).map_or(Ok(()), rollout)
}

/// GRM-PRG-032, GRM-PRG-033: an update counts if a rollout begins or ends.
fn rollout_changed<K: Resource>(event: &Event<K>, rollout: impl Fn(&K) -> RolloutResult) -> bool {
    let Event::Update { old, new } = event else { return false };
    let is_rolled_out = |object: &K| checked_rollout(Some(object), &rollout).is_ok();
    is_resync(&**old, &**new) || is_rolled_out(old) != is_rolled_out(new)
}
