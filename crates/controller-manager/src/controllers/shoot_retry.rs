//! Retries Shoots that failed because a provider limits the rate of requests
//! (contracts/controller-manager/controllers/shoot-retry.yaml).

use std::time::Duration;

use api::garden::Shoot;
use api::gardener::{OPERATION, OPERATION_RETRY};
use controller::clock::Clock;
use controller::{Controller, Entropy, Event, Outcome, Reconcile, Request, Selection, Store, Watch};
use jiff::{SignedDuration, Timestamp};
use kube::api::{Api, Patch, PatchParams};
use kube::{Client, ResourceExt as _};
use serde_json::json;

use super::{Context, TIMEOUT, duration, later};

/// Name in log and metrics.
pub const NAME: &str = "shoot-retry";

/// The code of errors that a retry repairs.
const RATE_LIMITS: &str = "ERR_INFRA_RATE_LIMITS_EXCEEDED";

/// A retry is due strictly after the period; the original does not come back if it looks exactly at its end.
const SOON: Duration = Duration::from_millis(1);

/// The controller of one instance.
pub fn controller(context: &Context) -> Controller {
    let garden = &context.garden;
    let config = &context.config.controllers.shoot_retry;
    let shoots = garden.store::<Shoot>(Selection::all());
    let failing = Watch::of(&shoots).filter(begins_to_fail);
    let reconciler = Reconciler {
        shoots,
        retry_period: duration(config.retry_period),
        jitter: duration(config.retry_jitter_period).max(SignedDuration::ZERO),
        client: garden.client(),
        clock: context.clock,
        entropy: context.entropy.clone(),
    };
    Controller::new(NAME, reconciler)
        .workers(super::workers(config.concurrent_syncs))
        .timeout(TIMEOUT)
        .source(failing)
}

/// GCM-SRT-003.
fn begins_to_fail(event: &Event<Shoot>) -> bool {
    match event {
        Event::Create(_) => true,
        Event::Update { old, new } => is_candidate(new) && !has_failed(old),
        Event::Delete(_) | Event::Generic(_) => false,
    }
}

fn has_failed(shoot: &Shoot) -> bool {
    let state = shoot.status.last_operation.as_ref().map(|operation| operation.state.as_str());
    state == Some("Failed") && is_observed(shoot)
}

/// Whether the status is about the Shoot as it is specified now.
pub(super) fn is_observed(shoot: &Shoot) -> bool {
    shoot.metadata.generation.unwrap_or_default() == shoot.status.observed_generation.unwrap_or_default()
}

fn is_candidate(shoot: &Shoot) -> bool {
    let mut codes = shoot.status.last_errors.iter().flat_map(|error| &error.codes);
    has_failed(shoot) && codes.any(|code| code == RATE_LIMITS)
}

struct Reconciler {
    shoots: Store<Shoot>,
    retry_period: SignedDuration,
    jitter: SignedDuration,
    client: Client,
    clock: Clock,
    entropy: Entropy,
}

/// What to do with a Shoot that failed.
#[derive(Debug, PartialEq, Eq)]
enum Action {
    Retry,
}

impl Reconcile for Reconciler {
    type Error = kube::Error;

    async fn reconcile(&self, request: Request) -> Result<Outcome, kube::Error> {
        let Some(shoot) = self.shoots.get(&request.namespace, &request.name) else {
            return Ok(Outcome::Done);
        };
        let (actions, outcome) = self.plan(&shoot, self.clock.now());
        for action in actions {
            self.execute(&request, action).await?;
        }
        Ok(outcome)
    }
}

impl Reconciler {
    /// GCM-SRT-001, GCM-SRT-002.
    fn plan(&self, shoot: &Shoot, now: Timestamp) -> (Vec<Action>, Outcome) {
        if !is_candidate(shoot) {
            return (Vec::new(), Outcome::Done);
        }
        let updated =
            shoot.status.last_operation.as_ref().and_then(|operation| operation.last_update_time.as_ref());
        let due = later(updated.map_or(Timestamp::UNIX_EPOCH, |time| time.0), self.retry_period);
        if now <= due {
            let jitter = self.jitter.unsigned_abs().mul_f64(self.entropy.fraction());
            let rest = due.duration_since(now).unsigned_abs();
            return (Vec::new(), Outcome::RequeueAfter(rest.saturating_add(jitter).max(SOON)));
        }
        let is_requested =
            shoot.annotations().get(OPERATION).is_some_and(|operation| operation == OPERATION_RETRY);
        ((!is_requested).then_some(Action::Retry).into_iter().collect(), Outcome::Done)
    }

    async fn execute(&self, request: &Request, action: Action) -> Result<(), kube::Error> {
        let Action::Retry = action;
        tracing::info!("Retrying failed Shoot");
        let shoots: Api<Shoot> = Api::namespaced(self.client.clone(), &request.namespace);
        let patch = Patch::Merge(json!({"metadata": {"annotations": {OPERATION: OPERATION_RETRY}}}));
        shoots.patch(&request.name, &PatchParams::default(), &patch).await.map(drop)
    }
}
