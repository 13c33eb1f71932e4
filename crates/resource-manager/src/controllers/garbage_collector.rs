//! Deletes ConfigMaps and Secrets that nothing refers to any more
//! (contracts/resource-manager/controllers/garbage-collector.yaml).

use std::collections::BTreeSet;
use std::time::Duration;

use controller::clock::Clock;
use controller::source::Ticker;
use controller::{Controller, Outcome, Reconcile, Request};
use futures::future::join_all;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Client;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, ListParams};

use super::Context;

/// Name in log and metrics.
pub const NAME: &str = "garbage-collector";
/// How old an object must be.
const LEAST_AGE: SignedDuration = SignedDuration::from_mins(10);
/// How long a run may take at most.
const TIMEOUT: Duration = Duration::from_mins(3);
/// How often it runs where nobody says.
const PERIOD: Duration = Duration::from_hours(1);
/// Since this minor version, CronJobs are batch/v1 only.
const CRONJOB_V1_ONLY: u32 = 25;

/// The controller of one instance.
pub fn controller(context: &Context) -> Controller {
    let configured = context.config.controllers.garbage_collector.sync_period;
    let period = configured.and_then(formats::duration::GoDuration::to_std).unwrap_or(PERIOD);
    let reconciler = Reconciler { client: context.target.client(), clock: context.clock, period };
    Controller::new(NAME, reconciler).timeout(period.min(TIMEOUT)).source(Ticker::once(Request::default()))
}

/// Why a run did not go well.
#[derive(Debug, thiserror::Error)]
pub enum CollectError {
    /// The version of the target is unknown.
    #[error("failed to ask for the target's version: {0}")]
    Version(#[source] kube::Error),
    /// A kind could not be listed.
    #[error("failed to list {kind}: {source}")]
    List {
        /// Plural name.
        kind: String,
        /// The API server's reason.
        source: kube::Error,
    },
    /// Objects could not be deleted; the others were.
    #[error("Could not delete all unused resources: {0}")]
    Delete(String),
}

/// One ConfigMap or Secret: its kind in lower case, its namespace and name.
type Collectable = (String, String, String);

/// What the target cluster holds.
struct State {
    /// Objects that say they may be collected, and when they were made.
    collectable: Vec<(Collectable, Option<Timestamp>)>,
    /// What others say they use.
    used: BTreeSet<Collectable>,
}

struct Reconciler {
    client: Client,
    clock: Clock,
    period: Duration,
}

impl Reconcile for Reconciler {
    type Error = CollectError;

    async fn reconcile(&self, _: Request) -> Result<Outcome, CollectError> {
        let state = self.observe().await?;
        self.execute(plan(self.clock.now(), state)).await?;
        Ok(Outcome::RequeueAfter(self.period))
    }
}

impl Reconciler {
    async fn observe(&self) -> Result<State, CollectError> {
        let label = format!("{}=true", api::resources::GARBAGE_COLLECTABLE);
        let labelled = ListParams::default().labels(&label);
        let mut collectable = Vec::new();
        for (kind, plural) in [("Secret", "secrets"), ("ConfigMap", "configmaps")] {
            for object in self.list(&resource("", "v1", kind, plural), &labelled).await? {
                let name = object.name.unwrap_or_default();
                let key = (kind.to_lowercase(), object.namespace.unwrap_or_default(), name);
                collectable.push((key, object.creation_timestamp.map(|time| time.0)));
            }
        }
        let mut used = BTreeSet::new();
        for kind in self.referring().await? {
            let objects = self.list(&kind, &ListParams::default()).await?;
            used.extend(objects.iter().flat_map(references));
        }
        Ok(State { collectable, used })
    }

    /// Kinds whose annotations refer to what they use.
    async fn referring(&self) -> Result<Vec<ApiResource>, CollectError> {
        let mut kinds = vec![
            resource("apps", "v1", "Deployment", "deployments"),
            resource("apps", "v1", "StatefulSet", "statefulsets"),
            resource("apps", "v1", "DaemonSet", "daemonsets"),
            resource("batch", "v1", "Job", "jobs"),
            resource("batch", "v1", "CronJob", "cronjobs"),
            resource("", "v1", "Pod", "pods"),
            resource(api::resources::GROUP, "v1alpha1", "ManagedResource", "managedresources"),
        ];
        let version = self.client.apiserver_version().await.map_err(CollectError::Version)?;
        // Vendors write `24+`.
        let minor = version.minor.trim_end_matches(|sign: char| !sign.is_ascii_digit()).parse::<u32>();
        if minor.is_ok_and(|minor| minor < CRONJOB_V1_ONLY) {
            kinds.push(resource("batch", "v1beta1", "CronJob", "cronjobs"));
        }
        Ok(kinds)
    }

    /// Metadata of all objects of a kind; none where it is not served.
    async fn list(&self, kind: &ApiResource, params: &ListParams) -> Result<Vec<ObjectMeta>, CollectError> {
        let objects: Api<DynamicObject> = Api::all_with(self.client.clone(), kind);
        match objects.list_metadata(params).await {
            Ok(list) => Ok(list.items.into_iter().map(|object| object.metadata).collect()),
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(Vec::new()),
            Err(source) => Err(CollectError::List { kind: kind.plural.clone(), source }),
        }
    }

    /// Deletes at once; what is gone already is deleted.
    async fn execute(&self, unused: Vec<Collectable>) -> Result<(), CollectError> {
        let deleted = join_all(unused.iter().map(|object| self.delete(object))).await;
        let errors: Vec<String> =
            deleted.into_iter().filter_map(Result::err).map(|error| error.to_string()).collect();
        if errors.is_empty() { Ok(()) } else { Err(CollectError::Delete(errors.join("; "))) }
    }

    async fn delete(&self, (kind, namespace, name): &Collectable) -> Result<(), kube::Error> {
        let kind = if kind == "secret" {
            resource("", "v1", "Secret", "secrets")
        } else {
            resource("", "v1", "ConfigMap", "configmaps")
        };
        let objects: Api<DynamicObject> = Api::namespaced_with(self.client.clone(), namespace, &kind);
        match objects.delete(name, &DeleteParams::default()).await {
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
            deleted => deleted.map(drop),
        }
    }
}

/// GRM-GCO-001, GRM-GCO-002, GRM-GCO-004, GRM-GCO-005 and GRM-GCO-008: what is old enough and used by nobody.
fn plan(now: Timestamp, state: State) -> Vec<Collectable> {
    let old = |made: Option<Timestamp>| made.is_none_or(|made| now.duration_since(made) >= LEAST_AGE);
    let unused = state.collectable.into_iter().filter(|(key, made)| old(*made) && !state.used.contains(key));
    unused.map(|(key, _)| key).collect()
}

/// GRM-GCO-003, GRM-GCO-006 and GRM-GCO-007: what an object's annotations refer to, in its own namespace.
fn references(object: &ObjectMeta) -> Vec<Collectable> {
    let namespace = object.namespace.clone().unwrap_or_default();
    let annotations = object.annotations.iter().flatten();
    let named = annotations.filter_map(|(key, name)| {
        let rest = key.strip_prefix(api::resources::REFERENCE_PREFIX)?;
        let parts: Vec<&str> = rest.split('-').collect();
        let [kind, _hash] = parts.as_slice() else { return None };
        (!name.is_empty()).then(|| ((*kind).to_owned(), namespace.clone(), name.clone()))
    });
    named.collect()
}

fn resource(group: &str, version: &str, kind: &str, plural: &str) -> ApiResource {
    let own = |text: &str| text.to_owned();
    let api_version = if group.is_empty() { own(version) } else { format!("{group}/{version}") };
    ApiResource {
        group: own(group),
        version: own(version),
        api_version,
        kind: own(kind),
        plural: own(plural),
    }
}
