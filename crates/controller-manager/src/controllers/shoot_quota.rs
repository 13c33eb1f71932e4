//! Deletes Shoots whose lifetime is over (contracts/controller-manager/controllers/shoot-quota.yaml).

use std::sync::Arc;
use std::time::Duration;

use api::garden::{Quota, SecretBinding, Shoot};
use controller::clock::Clock;
use controller::{Controller, Event, Outcome, Reconcile, Request, Selection, Store, Watch};
use formats::time;
use jiff::{SignedDuration, Timestamp};
use kube::api::{Api, DeleteParams, Patch, PatchParams};
use kube::{Client, ResourceExt as _};
use serde_json::json;

use super::{Context, confirmation, later, period};

/// Name in log and metrics.
pub const NAME: &str = "shoot-quota";

/// Annotation of a Shoot: when it is deleted.
const EXPIRATION: &str = "shoot.gardener.cloud/expiration-timestamp";

/// Why the lifetime of a Shoot could not be checked.
#[derive(Debug, thiserror::Error)]
pub enum LifetimeError {
    /// The SecretBinding does not exist.
    #[error("SecretBinding.core.gardener.cloud {0:?} not found")]
    SecretBinding(String),
    /// A Quota does not exist.
    #[error("Quota.core.gardener.cloud {0:?} not found")]
    Quota(String),
    /// The annotation is not a time.
    #[error("annotation {EXPIRATION} is not a time of RFC 3339: {0:?}")]
    Expiration(String),
    /// The annotation could not be written.
    #[error("failed to annotate the Shoot")]
    Annotate(#[source] kube::Error),
    /// The Shoot could not be deleted.
    #[error("failed to delete the Shoot")]
    Delete(#[source] kube::Error),
}

/// The controller of one instance.
pub fn controller(context: &Context) -> Controller {
    let garden = &context.garden;
    let config = &context.config.controllers.shoot_quota;
    let shoots = garden.store::<Shoot>(Selection::all());
    let created = Watch::of(&shoots).filter(|event| matches!(event, Event::Create(_)));
    let period = period(config.sync_period);
    let reconciler = Reconciler {
        shoots,
        bindings: garden.store::<SecretBinding>(Selection::all()),
        quotas: garden.store::<Quota>(Selection::all()),
        period,
        client: garden.client(),
        clock: context.clock,
    };
    Controller::new(NAME, reconciler)
        .workers(super::workers(config.concurrent_syncs))
        .timeout(super::timeout(period))
        .source(created)
}

struct Reconciler {
    shoots: Store<Shoot>,
    bindings: Store<SecretBinding>,
    quotas: Store<Quota>,
    period: Duration,
    client: Client,
    clock: Clock,
}

/// A Shoot, and how long it may live.
struct State {
    shoot: Arc<Shoot>,
    days: Option<i32>,
}

/// What to do with a Shoot.
#[derive(Debug, PartialEq, Eq)]
enum Action {
    /// Set the time of its deletion, or remove it.
    Annotate(Option<String>),
    Delete,
}

impl Reconcile for Reconciler {
    type Error = LifetimeError;

    async fn reconcile(&self, request: Request) -> Result<Outcome, LifetimeError> {
        let Some(state) = self.observe(&request)? else { return Ok(Outcome::Done) };
        let (actions, outcome) = self.plan(&state, self.clock.now())?;
        for action in actions {
            self.execute(&request, action).await?;
        }
        Ok(outcome)
    }
}

impl Reconciler {
    /// GCM-SQU-001, GCM-SQU-005.
    fn observe(&self, request: &Request) -> Result<Option<State>, LifetimeError> {
        let Some(shoot) = self.shoots.get(&request.namespace, &request.name) else { return Ok(None) };
        let Some(name) = &shoot.spec.secret_binding_name else {
            return Ok(Some(State { shoot, days: None }));
        };
        let binding = self.bindings.get(&request.namespace, name);
        let binding = binding.ok_or_else(|| LifetimeError::SecretBinding(name.clone()))?;
        let mut days = None;
        for reference in &binding.quotas {
            let name = reference.name.clone().unwrap_or_default();
            let quota = self.quotas.get(reference.namespace.as_deref().unwrap_or_default(), &name);
            let quota = quota.ok_or(LifetimeError::Quota(name))?;
            days = days.into_iter().chain(quota.spec.cluster_lifetime_days).min();
        }
        Ok(Some(State { shoot, days }))
    }

    /// GCM-SQU-002 to -004, GCM-SQU-006, GCM-SQU-007.
    fn plan(&self, state: &State, now: Timestamp) -> Result<(Vec<Action>, Outcome), LifetimeError> {
        let shoot = &state.shoot;
        let again = Outcome::RequeueAfter(self.period);
        let annotated = shoot.annotations().get(EXPIRATION);
        let Some(days) = state.days else {
            return Ok((annotated.map(|_| Action::Annotate(None)).into_iter().collect(), again));
        };
        let (mut actions, expiration) = if let Some(text) = annotated {
            let nanos = time::nanos(text).ok_or_else(|| LifetimeError::Expiration(text.clone()))?;
            (Vec::new(), Timestamp::from_nanosecond(nanos).unwrap_or(Timestamp::MAX))
        } else {
            let created = shoot.metadata.creation_timestamp.as_ref().map_or(now, |time| time.0);
            let lifetime = SignedDuration::from_hours(24 * i64::from(days));
            let expiration = later(created, lifetime);
            let text = expiration.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
            (vec![Action::Annotate(Some(text))], expiration)
        };
        if now <= expiration {
            return Ok((actions, again));
        }
        if shoot.metadata.deletion_timestamp.is_none() {
            actions.push(Action::Delete);
        }
        Ok((actions, Outcome::Done))
    }

    async fn execute(&self, request: &Request, action: Action) -> Result<(), LifetimeError> {
        let shoots: Api<Shoot> = Api::namespaced(self.client.clone(), &request.namespace);
        match action {
            Action::Annotate(expiration) => {
                tracing::info!(expiration, "Setting expiration timestamp annotation");
                let patch = Patch::Merge(json!({"metadata": {"annotations": {EXPIRATION: expiration}}}));
                let patched = shoots.patch(&request.name, &PatchParams::default(), &patch).await;
                patched.map(drop).map_err(LifetimeError::Annotate)
            }
            Action::Delete => {
                tracing::info!("Shoot cluster lifetime expired, deleting Shoot");
                delete(&shoots, &request.name, self.clock.now()).await.map_err(LifetimeError::Delete)
            }
        }
    }
}

/// Confirms the deletion and deletes; succeeds if the Shoot is gone.
async fn delete(shoots: &Api<Shoot>, name: &str, now: Timestamp) -> Result<(), kube::Error> {
    let deleted = match confirmation::confirm(shoots, name, now).await {
        Ok(()) => shoots.delete(name, &DeleteParams::default()).await.map(drop),
        Err(error) => Err(error),
    };
    match deleted {
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
        deleted => deleted,
    }
}
