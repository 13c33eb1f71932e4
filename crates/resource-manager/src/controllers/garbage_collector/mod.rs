//! Deletes ConfigMaps and Secrets to which no object refers any longer
//! (contracts/resource-manager/controllers/garbage-collector.yaml).

use std::collections::BTreeSet;
use std::time::Duration;

use controller::clock::Clock;
use controller::source::Ticker;
use controller::{Controller, Outcome, Reconcile, Request};
use formats::duration::GoDuration;
use futures::future::join_all;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Client;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams};

use super::failures::Failures;
use super::version::KubernetesVersion;
use super::{Context, TIMEOUT};
use crate::references::{self, ReferencedKind};

/// Name in log and metrics.
pub const NAME: &str = "garbage-collector";
/// Minimum age of an object.
const LEAST_AGE: SignedDuration = SignedDuration::from_mins(10);
/// Default time between two runs.
const PERIOD: Duration = Duration::from_hours(1);
/// Since this version, CronJobs are batch/v1 only.
const CRONJOB_V1_ONLY: KubernetesVersion = KubernetesVersion { major: 1, minor: 25 };

/// The controller of one instance; GRM-GCO-008: it runs at the start, and a period after each run.
pub fn controller(context: &Context) -> Controller {
    let configured = context.config.controllers.garbage_collector.sync_period;
    let period = configured.and_then(GoDuration::to_std).unwrap_or(PERIOD);
    let (client, referring) = (context.target.client(), referring(context.target_version));
    let reconciler = Reconciler { client, referring, clock: context.clock, period };
    Controller::new(NAME, reconciler).timeout(period.min(TIMEOUT)).source(Ticker::once(Request::default()))
}

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
pub enum CollectError {
    /// A kind could not be listed, so the references are incomplete.
    #[error("failed to list {kind}")]
    List {
        /// Plural name.
        kind: String,
        /// The API server's error.
        source: kube::Error,
    },
    /// Some objects could not be deleted; the others were.
    #[error("Could not delete all unused resources: {0}")]
    Delete(#[from] Failures),
}

/// One ConfigMap or Secret: its kind, its namespace and name.
type Collectable = (ReferencedKind, String, String);

/// The state of the target cluster.
#[derive(Clone, Debug, Default)]
struct State {
    /// Objects with the label for garbage collection, and their creation times.
    collectable: Vec<(Collectable, Option<Timestamp>)>,
    /// Objects to which others refer.
    used: BTreeSet<Collectable>,
}

#[derive(Debug, PartialEq, Eq)]
enum Action {
    Delete(Collectable),
}

/// A kind whose annotations refer to ConfigMaps and Secrets.
#[derive(Clone, Debug, PartialEq)]
struct ReferringKind {
    resource: ApiResource,
    /// Clusters may lack the kind; for the others, "not found" is a failure.
    is_optional: bool,
}

struct Reconciler {
    client: Client,
    referring: Vec<ReferringKind>,
    clock: Clock,
    period: Duration,
}

impl Reconcile for Reconciler {
    type Error = CollectError;

    async fn reconcile(&self, _: Request) -> Result<Outcome, CollectError> {
        tracing::info!("Starting garbage collection");
        let collected = self.collect().await;
        tracing::info!("Garbage collection finished");
        collected.map(|()| Outcome::RequeueAfter(self.period))
    }
}

impl Reconciler {
    async fn collect(&self) -> Result<(), CollectError> {
        let state = self.observe().await?;
        self.execute(plan(self.clock.now(), state)).await
    }

    /// A failed list is an error, because its objects might refer to anything.
    async fn observe(&self) -> Result<State, CollectError> {
        let label = format!("{}=true", api::resources::GARBAGE_COLLECTABLE);
        let labelled = ListParams::default().labels(&label);
        let mut state = State::default();
        for kind in [ReferencedKind::Secret, ReferencedKind::ConfigMap] {
            let resource = resource_of(kind);
            for object in self.list(&resource, &labelled).await.map_err(failed(&resource))? {
                let name = object.name.unwrap_or_default();
                let key = (kind, object.namespace.unwrap_or_default(), name);
                state.collectable.push((key, object.creation_timestamp.map(|time| time.0)));
            }
        }
        for kind in &self.referring {
            state.used.extend(self.list_referring(kind).await?.iter().flat_map(used));
        }
        Ok(state)
    }

    /// GRM-GCO-010: the objects of a kind; empty if the cluster does not serve it.
    async fn list_referring(&self, kind: &ReferringKind) -> Result<Vec<ObjectMeta>, CollectError> {
        match self.list(&kind.resource, &ListParams::default()).await {
            Ok(objects) => Ok(objects),
            Err(error)
                if kind.is_optional && is_not_found(&error) && !self.serves(&kind.resource).await? =>
            {
                Ok(Vec::new())
            }
            Err(source) => Err(failed(&kind.resource)(source)),
        }
    }

    async fn list(&self, kind: &ApiResource, params: &ListParams) -> Result<Vec<ObjectMeta>, kube::Error> {
        let objects: Api<DynamicObject> = Api::all_with(self.client.clone(), kind);
        let list = objects.list_metadata(params).await?;
        Ok(list.items.into_iter().map(|object| object.metadata).collect())
    }

    /// Whether the cluster serves the kind, according to discovery.
    async fn serves(&self, kind: &ApiResource) -> Result<bool, CollectError> {
        match self.client.list_api_group_resources(&kind.api_version).await {
            Ok(served) => Ok(served.resources.iter().any(|resource| resource.name == kind.plural)),
            Err(error) if is_not_found(&error) => Ok(false),
            Err(source) => Err(failed(kind)(source)),
        }
    }

    /// Deletes all concurrently; an object that is already gone counts as deleted.
    async fn execute(&self, actions: Vec<Action>) -> Result<(), CollectError> {
        let deletions = actions.iter().map(|Action::Delete(object)| self.delete(object));
        Ok(Failures::among(join_all(deletions).await)?)
    }

    async fn delete(&self, (kind, namespace, name): &Collectable) -> Result<(), kube::Error> {
        tracing::info!(kind = kind.as_str(), namespace, name, "Delete resource");
        let resource = resource_of(*kind);
        let objects: Api<DynamicObject> = Api::namespaced_with(self.client.clone(), namespace, &resource);
        match objects.delete(name, &DeleteParams::default()).await {
            Err(error) if is_not_found(&error) => Ok(()),
            deleted => deleted.map(drop),
        }
    }
}

/// GRM-GCO-001, GRM-GCO-002, GRM-GCO-004, GRM-GCO-005 and GRM-GCO-011: deletes objects that are old enough and
/// unused.
fn plan(now: Timestamp, state: State) -> Vec<Action> {
    let old = |made: Option<Timestamp>| made.is_none_or(|made| now.duration_since(made) >= LEAST_AGE);
    let unused = state.collectable.into_iter().filter(|(key, made)| old(*made) && !state.used.contains(key));
    unused.map(|(key, _)| Action::Delete(key)).collect()
}

/// GRM-GCO-003, GRM-GCO-006 and GRM-GCO-007: the objects in its own namespace to which an object's annotations refer.
fn used(object: &ObjectMeta) -> Vec<Collectable> {
    let namespace = object.namespace.clone().unwrap_or_default();
    let annotations = object.annotations.iter().flatten().filter(|(_, name)| !name.is_empty());
    let named = annotations.filter_map(|(key, name)| {
        Some((references::kind_of_annotation(key)?, namespace.clone(), name.clone()))
    });
    named.collect()
}

/// Kinds whose annotations refer to ConfigMaps and Secrets, in a target of this version.
fn referring(target: Option<KubernetesVersion>) -> Vec<ReferringKind> {
    let always = |resource| ReferringKind { resource, is_optional: false };
    let optional = |resource| ReferringKind { resource, is_optional: true };
    let mut kinds = vec![
        always(resource("apps", "v1", "Deployment", "deployments")),
        always(resource("apps", "v1", "StatefulSet", "statefulsets")),
        always(resource("apps", "v1", "DaemonSet", "daemonsets")),
        always(resource("batch", "v1", "Job", "jobs")),
        always(resource("", "v1", "Pod", "pods")),
        optional(resource("batch", "v1", "CronJob", "cronjobs")),
        optional(resource(api::resources::GROUP, "v1alpha1", "ManagedResource", "managedresources")),
    ];
    if target.is_some_and(|version| version < CRONJOB_V1_ONLY) {
        kinds.push(optional(resource("batch", "v1beta1", "CronJob", "cronjobs")));
    }
    kinds
}

fn resource_of(kind: ReferencedKind) -> ApiResource {
    match kind {
        ReferencedKind::Secret => resource("", "v1", "Secret", "secrets"),
        ReferencedKind::ConfigMap => resource("", "v1", "ConfigMap", "configmaps"),
    }
}

fn resource(group: &str, version: &str, kind: &str, plural: &str) -> ApiResource {
    ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(group, version, kind), plural)
}

fn failed(kind: &ApiResource) -> impl FnOnce(kube::Error) -> CollectError {
    let kind = kind.plural.clone();
    move |source| CollectError::List { kind, source }
}

fn is_not_found(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 404)
}

#[cfg(test)]
mod tests;
