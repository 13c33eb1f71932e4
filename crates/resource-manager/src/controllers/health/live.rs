//! The live objects of one kind, reduced to the fields that decide about their health.

use controller::cluster::WatchedKind;
use controller::store::UnknownNamespace;
use controller::{Cluster, Event, Store, Watch, Watches};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use kube::api::{ApiResource, DynamicObject, Object};
use kube::core::PartialObjectMeta;

use crate::controllers::checking::{Checked, Origins, is_resync, is_skipped, selection};
use crate::controllers::served::Served;
use crate::health::apiextensions::CustomResourceDefinition;
use crate::health::apps::{DaemonSet, Deployment, ReplicaSet, StatefulSet};
use crate::health::batch::Job;
use crate::health::core_v1::{Pod, ReplicationController, Service};
use crate::health::{Check, Unhealthy};

/// Whether an object is healthy.
type Healthy = Result<(), Unhealthy>;

/// A kind whose objects' health, or at least existence, can be checked.
trait Judged: Kind<DynamicType = ApiResource> + Checked {
    /// Whether only existence counts.
    const PRESENCE: bool;

    /// Whether the object is healthy; `None` if its health is not checked.
    fn judge(&self) -> Option<Healthy>;
}

impl<P, U> Judged for Object<P, U>
where
    P: Clone,
    U: Clone,
    Self: Kind<DynamicType = ApiResource> + Check,
{
    const PRESENCE: bool = false;

    /// GRM-HLT-030: an annotation excludes an object from health checks.
    fn judge(&self) -> Option<Healthy> {
        (!is_skipped(self)).then(|| self.check())
    }
}

impl Judged for PartialObjectMeta<DynamicObject> {
    const PRESENCE: bool = true;

    /// GRM-HLT-005: an object of any other kind is healthy if it exists.
    fn judge(&self) -> Option<Healthy> {
        None
    }
}

/// The live objects of one kind.
pub(super) struct LiveKind(Box<dyn Objects>);

trait Objects: Send + Sync {
    fn synced(&self) -> BoxFuture<'_, ()>;
    fn health(&self, namespace: &str, name: &str) -> Result<Option<Healthy>, UnknownNamespace>;
}

impl LiveKind {
    /// The objects of a served kind; the first call adds a watch of their changes.
    pub(super) fn of(target: &Cluster, served: &Served, watches: &Watches, origins: &Origins) -> Self {
        let look = Looking { target, served, watches, origins };
        let ApiResource { api_version, kind, .. } = &served.resource;
        match (api_version.as_str(), kind.as_str()) {
            ("apps/v1", "Deployment") => look.at::<Deployment>(),
            ("apps/v1", "StatefulSet") => look.at::<StatefulSet>(),
            ("apps/v1", "DaemonSet") => look.at::<DaemonSet>(),
            ("apps/v1", "ReplicaSet") => look.at::<ReplicaSet>(),
            ("v1", "ReplicationController") => look.at::<ReplicationController>(),
            ("v1", "Pod") => look.at::<Pod>(),
            ("v1", "Service") => look.at::<Service>(),
            ("batch/v1", "Job") => look.at::<Job>(),
            ("apiextensions.k8s.io/v1" | "apiextensions.k8s.io/v1beta1", "CustomResourceDefinition") => {
                look.at::<CustomResourceDefinition>()
            }
            _ => look.at::<PartialObjectMeta<DynamicObject>>(),
        }
    }

    /// Waits until the objects have been listed once.
    pub(super) async fn synced(&self) {
        self.0.synced().await;
    }

    /// The health of an object; `None` if it does not exist.
    pub(super) fn health(&self, namespace: &str, name: &str) -> Result<Option<Healthy>, UnknownNamespace> {
        self.0.health(namespace, name)
    }
}

impl<K: Judged> Objects for Store<K> {
    fn synced(&self) -> BoxFuture<'_, ()> {
        Self::synced(self).boxed()
    }

    fn health(&self, namespace: &str, name: &str) -> Result<Option<Healthy>, UnknownNamespace> {
        let object = self.try_get(namespace, name)?;
        Ok(object.map(|object| object.judge().unwrap_or(Ok(()))))
    }
}

struct Looking<'a> {
    target: &'a Cluster,
    served: &'a Served,
    watches: &'a Watches,
    origins: &'a Origins,
}

impl Looking<'_> {
    fn at<K: Judged>(&self) -> LiveKind {
        let store = self.target.dynamic_store::<K>(&self.served.resource, selection(self.served));
        let ApiResource { api_version, kind, .. } = &self.served.resource;
        self.watches.ensure(format!("{api_version}/{kind}"), || {
            tracing::info!(
                groupVersionKind = format!("{api_version}, Kind={kind}"),
                metadataOnly = K::PRESENCE,
                "Adding new watch for GroupVersionKind"
            );
            let origins = self.origins.clone();
            Watch::of(&store).filter(turned).map_new(move |object| origins.request(object))
        });
        LiveKind(Box::new(store))
    }
}

/// GRM-HLT-060, GRM-HLT-061, GRM-HLT-062, GRM-HLT-065: a change counts if an object is created or deleted, or its
/// health changes.
fn turned<K: Judged>(event: &Event<K>) -> bool {
    match event {
        Event::Create(object) | Event::Delete(object) => !is_skipped(&**object),
        Event::Update { old, new } => {
            let turns = || Some(old.judge()?.is_ok() != new.judge()?.is_ok());
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
            assert_eq!(turned(&event), wanted, "{event:?}");
        }
    }
}
