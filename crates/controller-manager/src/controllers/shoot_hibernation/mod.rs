//! Hibernates Shoots and wakes them by their schedules
//! (contracts/controller-manager/controllers/shoot-hibernation).

mod schedule;

use std::time::Duration;

use api::garden::Shoot;
use api::garden::shoot::maintenance::HibernationSchedule;
use controller::clock::Clock;
use controller::events::{EventType, Recorder, recorder};
use controller::{Controller, Event, Outcome, Reconcile, Request, Selection, Store, Watch};
use jiff::{SignedDuration, Timestamp};
use kube::Client;
use kube::api::{Api, Patch, PatchParams};
use serde_json::json;

use self::schedule::{Activations, Operation};
use super::shoot_retry::is_observed;
use super::{Context, TIMEOUT};

/// Name in log and metrics.
pub const NAME: &str = "shoot-hibernation";

/// How far back a missed activation may be, whatever is configured.
const HORIZON: SignedDuration = SignedDuration::from_hours(7 * 24);
/// Clocks of machines differ; so much later an activation has come on each.
const DELTA: Duration = Duration::from_millis(100);

/// Why a Shoot could not be hibernated or woken.
#[derive(Debug, thiserror::Error)]
pub enum HibernationError {
    /// The specification could not be written: for example, the garden refuses a hibernation that is not possible.
    #[error("failed to write the Shoot")]
    Update(#[source] kube::Error),
    /// The status could not be written.
    #[error("failed to write the status of the Shoot")]
    Status(#[source] kube::Error),
}

/// The controller of one instance.
pub fn controller(context: &Context) -> Controller {
    let garden = &context.garden;
    let config = &context.config.controllers.shoot_hibernation;
    let component = format!("{NAME}-controller");
    let (recorder, writer) = recorder(garden.client(), &component, context.clock, context.entropy.clone());
    let shoots = garden.store::<Shoot>(Selection::all());
    let scheduled = Watch::of(&shoots).filter(is_scheduled);
    let deadline = config.trigger_deadline_duration;
    let reconciler = Reconciler {
        shoots,
        deadline: deadline.map(|deadline| SignedDuration::from_nanos(deadline.nanos())),
        client: garden.client(),
        recorder,
        clock: context.clock,
    };
    Controller::new(NAME, reconciler)
        .workers(super::workers(config.concurrent_syncs))
        .timeout(TIMEOUT)
        .source(scheduled)
        .source(writer)
}

/// A Shoot is processed when it has schedules and is new, or they have changed. GCM-HIB-006.
fn is_scheduled(event: &Event<Shoot>) -> bool {
    let new = schedules(event.object());
    match event {
        Event::Create(_) => !new.is_empty(),
        Event::Update { old, .. } => !new.is_empty() && schedules(old) != new,
        Event::Delete(_) | Event::Generic(_) => true,
    }
}

fn schedules(shoot: &Shoot) -> &[HibernationSchedule] {
    shoot.spec.hibernation.as_ref().map_or(&[], |hibernation| &hibernation.schedules)
}

struct Reconciler {
    shoots: Store<Shoot>,
    /// How late a missed activation still happens.
    deadline: Option<SignedDuration>,
    client: Client,
    recorder: Recorder,
    clock: Clock,
}

impl Reconcile for Reconciler {
    type Error = HibernationError;

    /// GCM-HIB-001 to -013, GCM-HIB-015.
    async fn reconcile(&self, request: Request) -> Result<Outcome, HibernationError> {
        let Some(shoot) = self.shoots.get(&request.namespace, &request.name) else {
            return Ok(Outcome::Done); // guard: the Shoot is gone
        };
        if shoot.metadata.deletion_timestamp.is_some() {
            return Ok(Outcome::Done); // guard: the Shoot is being deleted
        }
        let activations = match Activations::parse(schedules(&shoot)) {
            Ok(activations) => activations,
            Err(error) => {
                tracing::info!(%error, "Invalid hibernation schedules, stopping reconciliation");
                return Ok(Outcome::Done); // guard: a schedule is malformed
            }
        };
        let now = self.clock.now();
        if has_failed(&shoot) {
            return Ok(schedule(&activations, now)); // guard: the Shoot has failed
        }
        if let Some(operation) = self.due(&activations, &shoot, now) {
            self.announce(&shoot, operation);
            self.write_spec(&request, &shoot, operation).await?; // step 1
            self.write_status(&request, now).await?; // step 2
        }
        Ok(schedule(&activations, now))
    }
}

impl Reconciler {
    /// The operation of the newest activation since the last one, or since the Shoot was created, that is not too old.
    fn due(&self, activations: &Activations, shoot: &Shoot, now: Timestamp) -> Option<Operation> {
        let created = shoot.metadata.creation_timestamp.as_ref();
        let since = shoot.status.last_hibernation_trigger_time.as_ref().or(created);
        let since = since.map_or(Timestamp::MIN, |time| time.0);
        let back = self.deadline.map_or(HORIZON, |deadline| deadline.min(HORIZON));
        let oldest = now.saturating_sub(back).unwrap_or(Timestamp::MIN);
        activations.newest(since.max(oldest), now)
    }

    fn announce(&self, shoot: &Shoot, operation: Operation) {
        let (reason, message) = match operation {
            Operation::Hibernate => ("Hibernated", "Hibernating cluster due to schedule"),
            Operation::WakeUp => ("WokenUp", "Waking up cluster due to schedule"),
        };
        self.recorder.event(shoot, EventType::Normal, reason, message);
    }

    async fn write_spec(
        &self,
        request: &Request,
        shoot: &Shoot,
        operation: Operation,
    ) -> Result<(), HibernationError> {
        let enabled = operation == Operation::Hibernate;
        let current = shoot.spec.hibernation.as_ref().and_then(|hibernation| hibernation.enabled);
        if current == Some(enabled) {
            return Ok(());
        }
        let patch = Patch::Merge(json!({"spec": {"hibernation": {"enabled": enabled}}}));
        let patched = self.shoots_of(request).patch(&request.name, &PatchParams::default(), &patch).await;
        tracing::info!(enabled, "Setting hibernation.enabled");
        patched.map(drop).map_err(HibernationError::Update)
    }

    async fn write_status(&self, request: &Request, now: Timestamp) -> Result<(), HibernationError> {
        let triggered = now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let patch = Patch::Merge(json!({"status": {"lastHibernationTriggerTime": triggered}}));
        let shoots = self.shoots_of(request);
        let patched = shoots.patch_status(&request.name, &PatchParams::default(), &patch).await;
        patched.map(drop).map_err(HibernationError::Status)
    }

    fn shoots_of(&self, request: &Request) -> Api<Shoot> {
        Api::namespaced(self.client.clone(), &request.namespace)
    }
}

/// The controller ignores a Shoot that failed with this version of Gardener until it is repaired. GCM-HIB-010.
fn has_failed(shoot: &Shoot) -> bool {
    let state = shoot.status.last_operation.as_ref().map(|operation| operation.state.as_str());
    state == Some("Failed") && is_observed(shoot) && shoot.status.gardener.version == crate::COMPONENT.version
}

/// A Shoot is processed again when its next activation has come.
fn schedule(activations: &Activations, now: Timestamp) -> Outcome {
    let Some(next) = activations.next(now) else { return Outcome::Done };
    let after = next.duration_since(now).unsigned_abs().saturating_add(DELTA);
    tracing::info!("Requeuing shoot hibernation in {after:?}");
    Outcome::RequeueAfter(after)
}
