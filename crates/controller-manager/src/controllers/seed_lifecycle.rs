//! Notices Seeds whose gardenlet is silent (contracts/controller-manager/controllers/seed-lifecycle.yaml).
//!
//! No event reports that a gardenlet stops renewing its Lease, so the controller reconciles each Seed periodically.

use std::sync::Arc;
use std::time::Duration;

use api::garden::condition::Condition;
use api::garden::{ManagedSeed, Seed, Shoot};
use api::gardener::{OPERATION, OPERATION_RECONCILE};
use controller::clock::Clock;
use controller::reconcile::parallel::{self, Failures};
use controller::store::Index;
use controller::{Controller, Event, Outcome, Reconcile, Request, Selection, Store, Watch};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::coordination::v1::Lease;
use kube::api::{Api, Patch, PatchParams};
use kube::{Client, ResourceExt as _};
use serde_json::json;

use super::conditions::{self, Finding, GARDENLET_READY, UNKNOWN};
use super::{Context, GARDEN_NAMESPACE, duration, later, period, seed_checks};

/// Name in log and metrics.
pub const NAME: &str = "seed-lifecycle";

/// Namespace of the Leases that gardenlets renew.
const LEASES: &str = "gardener-system-seed-lease";
/// Conditions and constraints of a Shoot that only a gardenlet checks.
const CONDITIONS: [&str; 5] = [
    "APIServerAvailable",
    "ControlPlaneHealthy",
    "ObservabilityComponentsHealthy",
    "EveryNodeReady",
    "SystemComponentsHealthy",
];
const CONSTRAINTS: [&str; 2] = ["HibernationPossible", "MaintenancePreconditionsSatisfied"];

/// Why a Seed could not be processed.
#[derive(Debug, thiserror::Error)]
pub enum LifecycleError {
    /// The condition of the Seed could not be written.
    #[error("failed to write the status of the Seed")]
    Seed(#[source] kube::Error),
    /// The ManagedSeed could not be annotated.
    #[error("failed to annotate the ManagedSeed")]
    ManagedSeed(#[source] kube::Error),
    /// Conditions of some Shoots could not be written.
    #[error("failed to write the status of Shoots")]
    Shoots(#[source] Failures),
}

/// The controller of one instance.
pub fn controller(context: &Context) -> Controller {
    let garden = &context.garden;
    let config = &context.config.controllers.seed;
    let seeds = garden.store::<Seed>(Selection::all());
    let created = Watch::of(&seeds).filter(|event| matches!(event, Event::Create(_)));
    let shoots = garden.store::<Shoot>(Selection::all());
    let reconciler = Reconciler {
        seeds,
        leases: garden.store::<Lease>(Selection::all().namespaces([LEASES])),
        managed_seeds: garden.store::<ManagedSeed>(Selection::all()),
        of_seed: shoots.index(|shoot| shoot.spec.seed_name.clone().into_iter().collect()),
        settings: Settings {
            monitor_period: duration(config.monitor_period),
            shoot_monitor_period: duration(config.shoot_monitor_period),
        },
        period: period(config.sync_period),
        client: garden.client(),
        clock: context.clock,
    };
    let timeout = super::timeout(reconciler.period);
    Controller::new(NAME, reconciler)
        .workers(super::workers(config.concurrent_syncs))
        .timeout(timeout)
        .source(created)
}

struct Reconciler {
    seeds: Store<Seed>,
    leases: Store<Lease>,
    managed_seeds: Store<ManagedSeed>,
    of_seed: Index<Shoot>,
    settings: Settings,
    period: Duration,
    client: Client,
    clock: Clock,
}

/// How long a gardenlet may be silent: before its Seed is unknown, and before its Shoots are.
#[derive(Clone, Copy)]
struct Settings {
    monitor_period: SignedDuration,
    shoot_monitor_period: SignedDuration,
}

/// A Seed and what belongs to it.
struct State {
    seed: Arc<Seed>,
    /// When its gardenlet renewed the Lease last.
    renewed: Option<Timestamp>,
    managed_seed: Option<Arc<ManagedSeed>>,
    shoots: Vec<Arc<Shoot>>,
}

/// What to do with a silent Seed.
enum Action {
    /// Write all conditions of the Seed.
    MarkSeed(Vec<Condition>),
    /// Make the ManagedSeed redeploy the gardenlet.
    ReconcileManagedSeed(Arc<ManagedSeed>),
    /// Write all conditions and constraints of these Shoots.
    MarkShoots(Vec<ShootMark>),
}

struct ShootMark {
    shoot: Arc<Shoot>,
    conditions: Vec<Condition>,
    constraints: Vec<Condition>,
}

impl Reconcile for Reconciler {
    type Error = LifecycleError;

    async fn reconcile(&self, request: Request) -> Result<Outcome, LifecycleError> {
        let Some(state) = self.observe(&request) else { return Ok(Outcome::Done) };
        for action in plan(self.settings, self.clock.now(), &state) {
            self.execute(&state, action).await?;
        }
        Ok(Outcome::RequeueAfter(self.period))
    }
}

impl Reconciler {
    fn observe(&self, request: &Request) -> Option<State> {
        let seed = self.seeds.get("", &request.name)?;
        let lease = self.leases.get(LEASES, &request.name);
        let renewed = lease.and_then(|lease| Some(lease.spec.as_ref()?.renew_time.as_ref()?.0));
        let managed_seed = self.managed_seeds.get(GARDEN_NAMESPACE, &request.name);
        Some(State { seed, renewed, managed_seed, shoots: self.of_seed.get(&request.name) })
    }

    async fn execute(&self, state: &State, action: Action) -> Result<(), LifecycleError> {
        match action {
            Action::MarkSeed(conditions) => {
                tracing::info!("Setting Seed status to 'Unknown' as gardenlet stopped reporting seed status");
                let written = seed_checks::write_conditions(&self.client, &state.seed, &conditions).await;
                written.map_err(LifecycleError::Seed)
            }
            Action::ReconcileManagedSeed(managed_seed) => {
                tracing::info!(
                    "Reconciling ManagedSeed because the gardenlet's client certificate is expired"
                );
                self.annotate(&managed_seed).await.map_err(LifecycleError::ManagedSeed)
            }
            Action::MarkShoots(marks) => {
                tracing::info!("Setting conditions and constraints of Shoots to 'Unknown'");
                let written =
                    parallel::all(marks.iter().map(|mark| self.mark(mark)).collect::<Vec<_>>()).await;
                written.map_err(LifecycleError::Shoots)
            }
        }
    }

    async fn annotate(&self, managed_seed: &ManagedSeed) -> Result<(), kube::Error> {
        let managed_seeds: Api<ManagedSeed> = Api::namespaced(self.client.clone(), GARDEN_NAMESPACE);
        let patch = Patch::Merge(json!({"metadata": {"annotations": {OPERATION: OPERATION_RECONCILE}}}));
        managed_seeds.patch(&managed_seed.name_any(), &PatchParams::default(), &patch).await.map(drop)
    }

    /// Fails if the Shoot has changed in the meantime.
    async fn mark(&self, mark: &ShootMark) -> Result<(), kube::Error> {
        let ShootMark { shoot, conditions, constraints } = mark;
        let namespace = shoot.namespace().unwrap_or_default();
        let shoots: Api<Shoot> = Api::namespaced(self.client.clone(), &namespace);
        let patch = Patch::Merge(json!({
            "metadata": {"resourceVersion": shoot.metadata.resource_version},
            "status": {"conditions": conditions, "constraints": constraints},
        }));
        shoots.patch_status(&shoot.name_any(), &PatchParams::default(), &patch).await.map(drop)
    }
}

/// GCM-SLC-001 to -009.
fn plan(settings: Settings, now: Timestamp, state: &State) -> Vec<Action> {
    let known = &state.seed.status.conditions;
    let is_alive = state.renewed.is_some_and(|renewed| later(renewed, settings.monitor_period) > now);
    if known.is_empty() || is_alive {
        return Vec::new();
    }
    let mut actions = Vec::new();
    let old = conditions::find(known, GARDENLET_READY).cloned();
    let old = old.unwrap_or_else(|| Condition { type_: GARDENLET_READY.to_owned(), ..Condition::default() });
    let unknown = conditions::updated(&old, &silent(), now);
    let silent_since = unknown.last_transition_time.clone().map_or(now, |time| time.0);
    if unknown != old {
        actions.push(Action::MarkSeed(conditions::merged(known, [unknown])));
    }
    actions.extend(expired(now, state).map(Action::ReconcileManagedSeed));
    if later(silent_since, settings.shoot_monitor_period) > now {
        return actions;
    }
    let marks: Vec<ShootMark> = state.shoots.iter().filter_map(|shoot| mark(shoot, now)).collect();
    if !marks.is_empty() {
        actions.push(Action::MarkShoots(marks));
    }
    actions
}

fn silent() -> Finding {
    let message = "Gardenlet stopped posting seed status.".to_owned();
    Finding { status: UNKNOWN, reason: "SeedStatusUnknown", message }
}

/// The ManagedSeed of a gardenlet whose certificate has expired, unless its reconciliation is requested already.
fn expired(now: Timestamp, state: &State) -> Option<Arc<ManagedSeed>> {
    let expiry = state.seed.status.client_certificate_expiration_timestamp.as_ref()?;
    let managed_seed = state.managed_seed.as_ref().filter(|_| expiry.0 < now)?;
    let operation = managed_seed.annotations().get(OPERATION).map(String::as_str);
    (operation != Some(OPERATION_RECONCILE)).then(|| managed_seed.clone())
}

/// A Shoot whose conditions are Unknown; `None` if they are already.
fn mark(shoot: &Arc<Shoot>, now: Timestamp) -> Option<ShootMark> {
    let status = &shoot.status;
    let conditions = unknown(&status.conditions, &CONDITIONS, now);
    let constraints = unknown(&status.constraints, &CONSTRAINTS, now);
    let is_marked = conditions == status.conditions && constraints == status.constraints;
    (!is_marked).then(|| ShootMark { shoot: shoot.clone(), conditions, constraints })
}

fn unknown(known: &[Condition], types: &[&str], now: Timestamp) -> Vec<Condition> {
    let message = "Gardenlet stopped sending heartbeats.".to_owned();
    let finding = Finding { status: UNKNOWN, reason: "StatusUnknown", message };
    let unknown = types
        .iter()
        .map(|type_| conditions::updated(&conditions::find_or_init(known, type_, now), &finding, now));
    conditions::merged(known, unknown)
}
