//! Checks the health of Gardens (contracts/operator/controllers/care).
//!
//! Four conditions of a Garden tell about the API server of the virtual cluster, components of the runtime cluster,
//! components of the virtual cluster, and what observes them.

mod checks;
mod required;
mod threshold;
mod triggers;
mod virtual_cluster;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use api::druid::Etcd;
use api::garden::condition::Condition;
use api::gardener::{ROLE, ROLE_CONTROL_PLANE};
use api::operator::Garden;
use api::resources::ManagedResource;
use controller::bucket::TokenBucket;
use controller::clock::Clock;
use controller::queue::RateLimiter;
use controller::reconcile::health::apps::Deployment;
use controller::{Controller, Outcome, Reconcile, Request, Selection, Store};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::apps::v1;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::Client;
use kube::api::{Api, ApiResource, Patch, PatchParams};
use serde_json::json;

use self::checks::Failure;
use self::threshold::TRUE;
pub use self::virtual_cluster::{KubeconfigClient, VirtualCluster};
use super::{GARDEN_NAMESPACE, OperatorContext, TIMEOUT};
use crate::config::GardenCareController;

/// Name in log and metrics.
pub const NAME: &str = "garden-care";

/// A condition: its type, and reason and message when its check succeeds.
struct Aspect {
    type_: &'static str,
    reason: &'static str,
    message: &'static str,
}

/// The conditions in their order. OPR-CAR-001.
const ASPECTS: [Aspect; 4] = [
    Aspect {
        type_: "VirtualGardenAPIServerAvailable",
        reason: "HealthzRequestSucceeded",
        message: "API server /healthz endpoint responded with success status code.",
    },
    Aspect {
        type_: "RuntimeComponentsHealthy",
        reason: "RuntimeComponentsRunning",
        message: "All runtime components are healthy.",
    },
    Aspect {
        type_: "VirtualComponentsHealthy",
        reason: "VirtualComponentsRunning",
        message: "All virtual garden components are healthy.",
    },
    Aspect {
        type_: "ObservabilityComponentsHealthy",
        reason: "ObservabilityComponentsRunning",
        message: "All observability components are healthy.",
    },
];

/// The controller of one instance.
pub fn controller(context: &OperatorContext) -> Controller {
    let (runtime, config) = (&context.runtime, &context.config);
    let care = &config.controllers.garden_care;
    let period = super::period(care.sync_period);
    let gardens = runtime.store::<Garden>(Selection::all());
    let managed_resources =
        runtime.store::<ManagedResource>(Selection::all().reduced("status", to_status).may_be_absent());
    let label = format!("{ROLE}={ROLE_CONTROL_PLANE}");
    let etcds = Selection::all().namespaces([GARDEN_NAMESPACE]).labels(&label).may_be_absent();
    let deployments = Selection::all().namespaces([GARDEN_NAMESPACE]).labels(&label);
    let reconciler = Reconciler {
        gardens: gardens.clone(),
        managed_resources: managed_resources.clone(),
        deployments: runtime.dynamic_store(&ApiResource::erase::<v1::Deployment>(&()), deployments),
        etcds: runtime.store(etcds),
        virtual_cluster: context.virtual_cluster.clone(),
        has_hvpa: config.is_enabled("HVPA"),
        thresholds: thresholds(care),
        period,
        client: runtime.client(),
        clock: context.clock,
    };
    Controller::new(NAME, reconciler)
        .timeout(period.min(TIMEOUT))
        .rate_limiter(limiter(period))
        .source(triggers::gardens(&gardens))
        .source(triggers::managed_resources(&managed_resources, &gardens))
}

/// Of a ManagedResource only its state is read.
fn to_status(managed_resource: &mut ManagedResource) {
    managed_resource.unknown.clear();
}

/// A failed check is tried again within the period.
fn limiter(period: Duration) -> RateLimiter<Request> {
    let limiter = RateLimiter::exponential(Duration::from_millis(5), period.min(Duration::from_secs(1000)));
    limiter.with_bucket(TokenBucket::new(10.0, 100))
}

/// How long a failed check of a condition does not count, by its type; of several for one type the last counts.
fn thresholds(care: &GardenCareController) -> BTreeMap<String, SignedDuration> {
    let configured = care.condition_thresholds.iter();
    let threshold =
        configured.map(|one| (one.type_.clone(), SignedDuration::from_nanos(one.duration.nanos())));
    threshold.collect()
}

struct Reconciler {
    gardens: Store<Garden>,
    managed_resources: Store<ManagedResource>,
    deployments: Store<Deployment>,
    etcds: Store<Etcd>,
    virtual_cluster: VirtualCluster,
    has_hvpa: bool,
    thresholds: BTreeMap<String, SignedDuration>,
    period: Duration,
    client: Client,
    clock: Clock,
}

/// A Garden, and what the check of each condition has found.
struct State {
    garden: Arc<Garden>,
    found: [Result<(), Failure>; 4],
}

/// What to do with a Garden.
#[derive(Debug, PartialEq)]
enum Action {
    /// Write all conditions.
    Write(Vec<Condition>),
}

impl Reconcile for Reconciler {
    type Error = kube::Error;

    async fn reconcile(&self, request: Request) -> Result<Outcome, kube::Error> {
        let Some(state) = self.observe(&request).await else { return Ok(Outcome::Done) };
        for action in plan(&self.thresholds, self.clock.now(), &state) {
            self.execute(&request.name, action).await?;
        }
        Ok(Outcome::RequeueAfter(self.period))
    }
}

impl Reconciler {
    /// All checks are made, whatever the others find. OPR-CAR-010.
    async fn observe(&self, request: &Request) -> Option<State> {
        let garden = self.gardens.get("", &request.name)?;
        let find = |namespace: &str, name: &str| self.managed_resources.get(namespace, name);
        let virtual_components = || -> Result<(), Failure> {
            checks::deployments(&self.deployments.list())?;
            checks::etcds(&self.etcds.list())?;
            checks::managed_resources(&required::OF_VIRTUAL_CLUSTER, find)
        };
        let found = [
            self.virtual_cluster.check(self.period.min(TIMEOUT) / 2).await,
            checks::managed_resources(&required::of_runtime_cluster(&garden, self.has_hvpa), find),
            virtual_components(),
            checks::managed_resources(&required::OF_OBSERVABILITY, find),
        ];
        Some(State { garden, found })
    }

    async fn execute(&self, garden: &str, action: Action) -> Result<(), kube::Error> {
        let Action::Write(conditions) = action;
        tracing::info!("Updating garden status conditions");
        let gardens: Api<Garden> = Api::all(self.client.clone());
        let patch = Patch::Merge(json!({"status": {"conditions": conditions}}));
        let written = gardens.patch_status(garden, &PatchParams::default(), &patch).await?;
        self.gardens.wait_until_shows(&written).await;
        Ok(())
    }
}

/// OPR-CAR-001, OPR-CAR-002, OPR-CAR-011: the conditions of others, then ours, if one of ours has changed.
fn plan(thresholds: &BTreeMap<String, SignedDuration>, now: Timestamp, state: &State) -> Vec<Action> {
    let (known, operation) = (&state.garden.status.conditions, state.garden.status.last_operation.as_ref());
    let at = Time(now);
    let find = |type_: &str| known.iter().find(|condition| condition.type_ == type_);
    let updated = ASPECTS.iter().zip(&state.found).map(|(aspect, found)| {
        let old = find(aspect.type_).cloned().unwrap_or_else(|| Condition::initial(aspect.type_, &at));
        match found {
            Ok(()) => old.updated(TRUE, aspect.reason, aspect.message, &at),
            Err(Failure { reason, message }) => {
                let threshold = thresholds.get(aspect.type_).copied();
                let status = threshold::failed(&old, reason, threshold, operation, now);
                old.updated(status, reason, message, &at)
            }
        }
    });
    let updated: Vec<Condition> = updated.collect();
    if updated.iter().all(|condition| find(&condition.type_) == Some(condition)) {
        return Vec::new();
    }
    let is_foreign = |condition: &&Condition| ASPECTS.iter().all(|aspect| aspect.type_ != condition.type_);
    let foreign = known.iter().filter(is_foreign).cloned();
    vec![Action::Write(foreign.chain(updated).collect())]
}

#[cfg(test)]
mod tests;
