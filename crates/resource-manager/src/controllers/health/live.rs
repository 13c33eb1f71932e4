//! The live objects of one kind, reduced to the fields that decide about their health.

use controller::cluster::WatchedKind;
use controller::reconcile::health::apiextensions::CustomResourceDefinition;
use controller::reconcile::health::apps::{DaemonSet, Deployment, ReplicaSet, StatefulSet};
use controller::reconcile::health::batch::Job;
use controller::reconcile::health::core_v1::{Pod, ReplicationController, Service};
use controller::reconcile::health::{Check, Unhealthy};
use controller::store::UnknownNamespace;
use controller::{Cluster, Event, Store, Watch, Watches};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use kube::api::{ApiResource, DynamicObject, Object};
use kube::core::PartialObjectMeta;

use crate::controllers::checking::{CheckedKind, Origins, is_resync, is_skipped, selection};
use crate::controllers::served::ServedKind;

/// Whether an object is healthy.
type HealthResult = Result<(), Unhealthy>;

/// A kind whose objects' health, or at least existence, can be checked.
trait HealthCheckedKind: WatchedKind<DynamicType = ApiResource> + CheckedKind {
    /// Whether only existence counts.
    const ONLY_EXISTENCE: bool;

    /// Whether the object is healthy; `None` if its health is not checked.
    fn own_health(&self) -> Option<HealthResult>;
}

impl<P, U> HealthCheckedKind for Object<P, U>
where
    P: Clone,
    U: Clone,
    Self: WatchedKind<DynamicType = ApiResource> + Check,
{
    const ONLY_EXISTENCE: bool = false;

    /// GRM-HLT-030: an annotation excludes an object from health checks.
    fn own_health(&self) -> Option<HealthResult> {
        (!is_skipped(self)).then(|| self.check())
    }
}

impl HealthCheckedKind for PartialObjectMeta<DynamicObject> {
    const ONLY_EXISTENCE: bool = true;

    /// GRM-HLT-005: an object of any other kind is healthy if it exists.
    fn own_health(&self) -> Option<HealthResult> {
        None
    }
}

/// The live objects of one kind.
pub(super) struct LiveKind(Box<dyn ObjectHealth>);

trait ObjectHealth: Send + Sync {
    fn wait_until_synced(&self) -> BoxFuture<'_, ()>;
    fn health(&self, namespace: &str, name: &str) -> Result<Option<HealthResult>, UnknownNamespace>;
}

impl LiveKind {
    /// The objects of a served kind; the first call adds a watch of their changes.
    pub(super) fn of(target: &Cluster, served: &ServedKind, watches: &Watches, origins: &Origins) -> Self {
        let factory = LiveKindFactory { target, served, watches, origins };
        let ApiResource { api_version, kind, .. } = &served.resource;
        match (api_version.as_str(), kind.as_str()) {
            ("apps/v1", "Deployment") => factory.create::<Deployment>(),
            ("apps/v1", "StatefulSet") => factory.create::<StatefulSet>(),
            ("apps/v1", "DaemonSet") => factory.create::<DaemonSet>(),
            ("apps/v1", "ReplicaSet") => factory.create::<ReplicaSet>(),
            ("v1", "ReplicationController") => factory.create::<ReplicationController>(),
            ("v1", "Pod") => factory.create::<Pod>(),
            ("v1", "Service") => factory.create::<Service>(),
            ("batch/v1", "Job") => factory.create::<Job>(),
            ("apiextensions.k8s.io/v1" | "apiextensions.k8s.io/v1beta1", "CustomResourceDefinition") => {
                factory.create::<CustomResourceDefinition>()
            }
            _ => factory.create::<PartialObjectMeta<DynamicObject>>(),
        }
    }

    /// Waits until the objects have been listed once.
    pub(super) async fn wait_until_synced(&self) {
        self.0.wait_until_synced().await;
    }

    /// The health of an object; `None` if it does not exist.
    pub(super) fn health(
        &self,
        namespace: &str,
        name: &str,
    ) -> Result<Option<HealthResult>, UnknownNamespace> {
        self.0.health(namespace, name)
    }
}

impl<K: HealthCheckedKind> ObjectHealth for Store<K> {
    fn wait_until_synced(&self) -> BoxFuture<'_, ()> {
        Self::wait_until_synced(self).boxed()
    }

    fn health(&self, namespace: &str, name: &str) -> Result<Option<HealthResult>, UnknownNamespace> {
        let object = self.try_get(namespace, name)?;
        Ok(object.map(|object| object.own_health().unwrap_or(Ok(()))))
    }
}

struct LiveKindFactory<'a> {
    target: &'a Cluster,
    served: &'a ServedKind,
    watches: &'a Watches,
    origins: &'a Origins,
}

impl LiveKindFactory<'_> {
    fn create<K: HealthCheckedKind>(&self) -> LiveKind {
        let store = self.target.dynamic_store::<K>(&self.served.resource, selection(self.served));
        let ApiResource { api_version, kind, .. } = &self.served.resource;
        self.watches.ensure(format!("{api_version}/{kind}"), || {
            tracing::info!(
                groupVersionKind = format!("{api_version}, Kind={kind}"),
                metadataOnly = K::ONLY_EXISTENCE,
                "Adding new watch for GroupVersionKind"
            );
            let origins = self.origins.clone();
            Watch::of(&store).filter(health_changed).map_new(move |object| origins.request(object))
        });
        LiveKind(Box::new(store))
    }
}

/// GRM-HLT-060, GRM-HLT-061, GRM-HLT-062, GRM-HLT-065: a change counts if an object is created or deleted, or its
/// health changes.
fn health_changed<K: HealthCheckedKind>(event: &Event<K>) -> bool {
    match event {
        Event::Create(object) | Event::Delete(object) => !is_skipped(&**object),
        Event::Update { old, new } => {
            let turns = || Some(old.own_health()?.is_ok() != new.own_health()?.is_ok());
            is_resync(&**old, &**new) || turns().unwrap_or_default()
        }
        Event::Generic(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;

    /// A Pod of this version in this phase; an empty phase excludes it from health checks.
    fn pod(version: u32, phase: &str) -> Arc<Pod> {
        let skip = if phase.is_empty() { "true" } else { "false" };
        let object = json!({
            "metadata": {
                "name": "p", "resourceVersion": version.to_string(),
                "annotations": {"resources.gardener.cloud/skip-health-check": skip},
            },
            "spec": {}, "status": {"phase": phase},
        });
        Arc::new(serde_json::from_value(object).unwrap())
    }

    #[test]
    fn a_change_counts_if_the_health_changes() {
        let update = |old: &str, new: &str| Event::Update { old: pod(1, old), new: pod(2, new) };
        let table = [
            (Event::Create(pod(1, "Running")), true),
            (Event::Delete(pod(1, "Failed")), true),
            (Event::Create(pod(1, "")), false),
            (Event::Delete(pod(1, "")), false),
            (Event::Generic(pod(1, "Running")), false),
            (update("Running", "Failed"), true),
            (update("Failed", "Running"), true),
            (update("Failed", "Pending"), false),
            (update("Running", "Succeeded"), false),
            (update("", "Failed"), false),
            (update("Failed", ""), false),
            (Event::Update { old: pod(1, ""), new: pod(1, "") }, true),
        ];
        for (event, wanted) in table {
            assert_eq!(health_changed(&event), wanted, "{event:?}");
        }
    }
}
