//! Deletes events that are not about Shoots after a time, if that is configured
//! (contracts/controller-manager/controllers/event.yaml).

use std::sync::Arc;
use std::time::Duration;

use api::garden::GROUP;
use controller::clock::Clock;
use controller::{Controller, Event, Outcome, Reconcile, Request, Selection, Store, Watch};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::{Event as CoreEvent, ObjectReference};
use kube::Client;
use kube::api::{Api, DeleteParams};

use super::{Context, TIMEOUT, duration, later};

/// Name in log and metrics.
pub const NAME: &str = "event";
/// The kind whose events stay.
const SHOOT: &str = "Shoot";

/// The controller of one instance, unless the configuration has no section for it. GCM-EVT-001.
pub fn controller(context: &Context) -> Option<Controller> {
    let config = context.config.controllers.event.as_ref()?;
    let garden = &context.garden;
    let events = garden.store::<CoreEvent>(Selection::all().reduced("age", reduce));
    let created = Watch::of(&events).filter(|event| matches!(event, Event::Create(_)));
    let time_to_live = duration(config.ttl_non_shoot_events);
    let reconciler = Reconciler { events, time_to_live, client: garden.client(), clock: context.clock };
    Some(
        Controller::new(NAME, reconciler)
            .workers(super::workers(config.concurrent_syncs))
            .timeout(TIMEOUT)
            .source(created),
    )
}

/// Keeps only what decides about an event: a garden has many.
fn reduce(event: &mut CoreEvent) {
    let ObjectReference { api_version, kind, .. } = std::mem::take(&mut event.involved_object);
    *event = CoreEvent {
        metadata: std::mem::take(&mut event.metadata),
        involved_object: ObjectReference { api_version, kind, ..ObjectReference::default() },
        last_timestamp: event.last_timestamp.take(),
        ..CoreEvent::default()
    };
    event.metadata.annotations = None;
    event.metadata.labels = None;
}

/// Why a reconciliation failed.
#[derive(Debug, thiserror::Error)]
pub enum EventError {
    /// The event could not be deleted.
    #[error("failed to delete the event")]
    Delete(#[source] kube::Error),
}

struct Reconciler {
    events: Store<CoreEvent>,
    time_to_live: SignedDuration,
    client: Client,
    clock: Clock,
}

/// An event at a time.
struct State {
    event: Arc<CoreEvent>,
    now: Timestamp,
}

/// What to do with an event.
#[derive(Debug, PartialEq, Eq)]
enum Action {
    Keep,
    /// Process it again after this time.
    Wait(Duration),
    Delete,
}

impl Reconcile for Reconciler {
    type Error = EventError;

    async fn reconcile(&self, request: Request) -> Result<Outcome, EventError> {
        let Some(state) = self.observe(&request) else { return Ok(Outcome::Done) };
        let action = plan(self.time_to_live, &state);
        self.execute(&request, action).await
    }
}

impl Reconciler {
    fn observe(&self, request: &Request) -> Option<State> {
        let event = self.events.get(&request.namespace, &request.name)?;
        Some(State { event, now: self.clock.now() })
    }

    async fn execute(&self, request: &Request, action: Action) -> Result<Outcome, EventError> {
        match action {
            Action::Keep => Ok(Outcome::Done),
            Action::Wait(time) => Ok(Outcome::RequeueAfter(time)),
            Action::Delete => {
                let events: Api<CoreEvent> = Api::namespaced(self.client.clone(), &request.namespace);
                match events.delete(&request.name, &DeleteParams::default()).await {
                    Err(kube::Error::Api(status)) if status.is_not_found() => Ok(Outcome::Done),
                    deleted => deleted.map(|_| Outcome::Done).map_err(EventError::Delete),
                }
            }
        }
    }
}

/// GCM-EVT-002 to -004: an event without the time of its last occurrence has no time to live.
fn plan(time_to_live: SignedDuration, state: &State) -> Action {
    if is_about_shoot(&state.event.involved_object) {
        return Action::Keep;
    }
    let Some(last) = &state.event.last_timestamp else { return Action::Delete };
    let left = later(last.0, time_to_live).duration_since(state.now);
    match Duration::try_from(left) {
        Ok(left) if !left.is_zero() => Action::Wait(left),
        Ok(_) | Err(_) => Action::Delete,
    }
}

/// Whether an object is a Shoot, in whatever version.
fn is_about_shoot(object: &ObjectReference) -> bool {
    let group = object.api_version.as_deref().and_then(|version| version.split_once('/'));
    let is_core = group.is_some_and(|(group, version)| group == GROUP && !version.contains('/'));
    is_core && object.kind.as_deref() == Some(SHOOT)
}
