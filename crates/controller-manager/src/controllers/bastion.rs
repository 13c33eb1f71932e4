//! Deletes Bastions whose time is over, or whose Shoot is gone or moved
//! (contracts/controller-manager/controllers/bastion.yaml).

use std::sync::Arc;
use std::time::Duration;

use api::garden::{Bastion, Shoot};
use controller::clock::Clock;
use controller::source::predicate;
use controller::{Controller, Event, Outcome, Reconcile, Request, Selection, Store, Watch};
use jiff::{SignedDuration, Timestamp};
use kube::Client;
use kube::api::{Api, DeleteParams};

use super::{Context, TIMEOUT, duration, keys, later};

/// Name in log and metrics.
pub const NAME: &str = "bastion";
/// The least time until a Bastion is processed again: at the end of its time it is not yet over.
const SOON: Duration = Duration::from_millis(1);

/// The controller of one instance; GCM-BAS-001 to -008.
pub fn controller(context: &Context) -> Controller {
    let garden = &context.garden;
    let config = &context.config.controllers.bastion;
    let bastions = garden.store::<Bastion>(Selection::all());
    let shoots = garden.store::<Shoot>(Selection::all());
    let of_shoot = bastions.index(|bastion| {
        let shoot = Some(bastion.spec.shoot_ref.name.as_str());
        vec![keys::of_reference(bastion.metadata.namespace.as_deref(), shoot)]
    });
    let changed = Watch::of(&bastions).filter(predicate::generation_changed);
    let shoot_left = Watch::of(&shoots).filter(leaves).map_new(move |shoot| {
        let bastions = of_shoot.get(&keys::of(shoot));
        bastions.iter().map(|bastion| Request::of(&**bastion)).collect::<Vec<_>>()
    });
    let max_lifetime = duration(config.max_lifetime);
    let reconciler =
        Reconciler { bastions, shoots, max_lifetime, client: garden.client(), clock: context.clock };
    Controller::new(NAME, reconciler)
        .workers(super::workers(config.concurrent_syncs))
        .timeout(TIMEOUT)
        .source(changed)
        .source(shoot_left)
}

/// GCM-BAS-004: whether a Shoot is being deleted or moves from one seed to another.
fn leaves(event: &Event<Shoot>) -> bool {
    let shoot = event.object();
    let has_moved =
        |old: &Arc<Shoot>| old.spec.seed_name.is_some() && old.spec.seed_name != shoot.spec.seed_name;
    shoot.metadata.deletion_timestamp.is_some() || event.old().is_some_and(has_moved)
}

/// Why a reconciliation failed.
#[derive(Debug, thiserror::Error)]
pub enum BastionError {
    /// The Bastion could not be deleted.
    #[error("failed to delete the bastion")]
    Delete(#[source] kube::Error),
}

struct Reconciler {
    bastions: Store<Bastion>,
    shoots: Store<Shoot>,
    max_lifetime: SignedDuration,
    client: Client,
    clock: Clock,
}

/// A Bastion and its Shoot.
struct State {
    bastion: Arc<Bastion>,
    shoot: Option<Arc<Shoot>>,
    now: Timestamp,
}

/// What to do with a Bastion.
#[derive(Debug, PartialEq, Eq)]
enum Action {
    /// Nothing: it is being deleted.
    Leave,
    /// Delete it, for this reason.
    Delete(&'static str),
    /// Process it again after this time.
    Wait(Duration),
}

impl Reconcile for Reconciler {
    type Error = BastionError;

    async fn reconcile(&self, request: Request) -> Result<Outcome, BastionError> {
        let Some(state) = self.observe(&request) else { return Ok(Outcome::Done) };
        let action = plan(self.max_lifetime, &state);
        self.execute(&request, action).await
    }
}

impl Reconciler {
    fn observe(&self, request: &Request) -> Option<State> {
        let bastion = self.bastions.get(&request.namespace, &request.name)?;
        let shoot = self.shoots.get(&request.namespace, &bastion.spec.shoot_ref.name);
        Some(State { bastion, shoot, now: self.clock.now() })
    }

    async fn execute(&self, request: &Request, action: Action) -> Result<Outcome, BastionError> {
        match action {
            Action::Leave => Ok(Outcome::Done),
            Action::Wait(time) => Ok(Outcome::RequeueAfter(time)),
            Action::Delete(reason) => {
                tracing::info!("Deleting bastion because {reason}");
                let bastions: Api<Bastion> = Api::namespaced(self.client.clone(), &request.namespace);
                match bastions.delete(&request.name, &DeleteParams::default()).await {
                    Err(kube::Error::Api(status)) if status.is_not_found() => Ok(Outcome::Done),
                    deleted => deleted.map(|_| Outcome::Done).map_err(BastionError::Delete),
                }
            }
        }
    }
}

/// GCM-BAS-001 to -007.
fn plan(max_lifetime: SignedDuration, state: &State) -> Action {
    let State { bastion, shoot, now } = state;
    if bastion.metadata.deletion_timestamp.is_some() {
        return Action::Leave;
    }
    let Some(shoot) = shoot else { return Action::Delete("target shoot is gone") };
    if shoot.metadata.deletion_timestamp.is_some() {
        return Action::Delete("target shoot is in deletion");
    }
    if shoot.spec.seed_name != bastion.spec.seed_name {
        return Action::Delete("the referenced Shoot has been migrated to another Seed");
    }
    let expires = bastion.status.expiration_timestamp.as_ref().map(|time| time.0);
    if expires.is_some_and(|expires| *now > expires) {
        return Action::Delete("it is expired");
    }
    let created = bastion.metadata.creation_timestamp.as_ref().map_or(*now, |time| time.0);
    let too_old = later(created, max_lifetime);
    if *now > too_old {
        return Action::Delete("it reached its maximum lifetime");
    }
    let end = expires.map_or(too_old, |expires| expires.min(too_old));
    let left = Duration::try_from(end.duration_since(*now)).unwrap_or_default();
    Action::Wait(left.max(SOON))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_bastion_at_the_end_of_its_time_is_processed_again() {
        let created = "2026-01-01T00:00:00Z";
        let bastion =
            json!({"metadata": {"creationTimestamp": created}, "spec": {"shootRef": {"name": "app"}}});
        let at = |time: &str| State {
            bastion: Arc::new(serde_json::from_value(bastion.clone()).unwrap()),
            shoot: Some(Arc::new(Shoot::default())),
            now: time.parse().unwrap(),
        };
        let hour = SignedDuration::from_hours(1);
        assert_eq!(plan(hour, &at("2026-01-01T00:59:00Z")), Action::Wait(Duration::from_mins(1)));
        assert_eq!(plan(hour, &at("2026-01-01T01:00:00Z")), Action::Wait(SOON));
        let over = Action::Delete("it reached its maximum lifetime");
        assert_eq!(plan(hour, &at("2026-01-01T01:00:00.001Z")), over);
    }
}
