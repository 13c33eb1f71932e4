//! Chooses Seeds for new Shoots (contracts/scheduler/controllers/shoot-scheduling).
//!
//! [`crate::decision`] decides, `binding` writes the Seed, `failure` reports why no Seed fits, and `changes` selects which
//! events make which Shoots due.

mod binding;
mod changes;
mod failure;

use std::sync::Arc;

use api::garden::{CloudProfile, Seed, Shoot};
use controller::clock::Clock;
use controller::events::{EventType, Recorder, recorder};
use controller::{
    Controller, Event, Index, Outcome, Reconcile, Request, Selection, Store, Watch, describe_error,
};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, Client, ResourceExt as _};
use parking_lot::Mutex;

use self::binding::Bound;
use super::{Context, GARDEN_NAMESPACE, TIMEOUT};
use crate::decision::{
    Decision, Inputs, PURPOSE, PURPOSE_REGION_CONFIG, Strategy, Unschedulable, Usage, decide,
};

/// Name in log and metrics.
pub const NAME: &str = "shoot";
/// The component that events name as their source.
const COMPONENT: &str = "shoot-scheduler";
/// Reason of the event that a Shoot has got its Seed.
const SUCCESSFUL: &str = "SchedulingSuccessful";

/// Why a Shoot has not got a Seed.
#[derive(Debug, thiserror::Error)]
pub enum SchedulingError {
    /// There is no Seed for it.
    #[error("failed to determine seed for shoot: {0}")]
    Decide(#[from] Unschedulable),
    /// The chosen Seed could not be written.
    #[error("failed to bind shoot to seed")]
    Bind(#[source] kube::Error),
}

/// The controller of one instance.
pub fn controller(context: &Context) -> Controller {
    let garden = &context.garden;
    let (recorder, writer) = recorder(garden.client(), COMPONENT, context.clock, context.entropy.clone());
    let shoots = garden.store::<Shoot>(Selection::all().reduced("scheduled", changes::reduce));
    let seeds = garden.store::<Seed>(Selection::all());
    let profiles = garden.store::<CloudProfile>(Selection::all());
    let configs = garden.store::<ConfigMap>(
        Selection::all().labels(format!("{PURPOSE}={PURPOSE_REGION_CONFIG}")).namespaces([GARDEN_NAMESPACE]),
    );
    let usage = follow(&shoots);
    let pending = changes::pending(&shoots);
    let config = context.config.schedulers.shoot.clone().unwrap_or_default();
    let new = Watch::of(&shoots).filter(changes::is_due);
    let freed = wake(Watch::of(&shoots).filter(changes::frees_capacity), &pending);
    let changed_seed = wake(Watch::of(&seeds).filter(changes::concerns_scheduling), &pending);
    let changed_profile = wake(Watch::of(&profiles).filter(changes::changes_selection), &pending);
    let changed_config = wake(Watch::of(&configs), &pending);
    let reconciler = Reconciler {
        shoots,
        seeds,
        profiles,
        configs,
        usage,
        strategy: Strategy::named(&config.candidate_determination_strategy).unwrap_or_default(),
        client: garden.client(),
        recorder,
        clock: context.clock,
    };
    Controller::new(NAME, reconciler)
        .workers(usize::try_from(config.concurrent_syncs).unwrap_or_default())
        .timeout(TIMEOUT)
        .source(new)
        .source(freed)
        .source(changed_seed)
        .source(changed_profile)
        .source(changed_config)
        .source(writer)
}

/// An index of the Seeds' Shoots that follows the store.
fn follow(shoots: &Store<Shoot>) -> Arc<Mutex<Usage>> {
    let usage = Arc::new(Mutex::new(Usage::default()));
    let followed = usage.clone();
    shoots.subscribe(move |event| {
        let shoot = event.object();
        let namespace = shoot.metadata.namespace.as_deref().unwrap_or_default();
        let key = (namespace, shoot.metadata.name.as_deref().unwrap_or_default());
        let mut usage = followed.lock();
        if matches!(event, Event::Delete(_)) {
            usage.forget(key);
        } else {
            usage.observe(key, shoot.spec.seed_name.as_deref(), shoot.status.seed_name.as_deref());
        }
    });
    usage
}

/// Makes each change a reason to try all Shoots again that wait for a Seed. SCH-WAK-001, SCH-WAK-002.
fn wake<K>(changes: Watch<K>, pending: &Index<Shoot>) -> Watch<K>
where
    K: kube::Resource + Send + Sync + 'static,
{
    let pending = pending.clone();
    changes.react(move |_, queue| {
        for shoot in pending.get(changes::PENDING) {
            queue.add(Request::of(&*shoot));
        }
    })
}

struct Reconciler {
    shoots: Store<Shoot>,
    seeds: Store<Seed>,
    profiles: Store<CloudProfile>,
    configs: Store<ConfigMap>,
    usage: Arc<Mutex<Usage>>,
    strategy: Strategy,
    client: Client,
    recorder: Recorder,
    clock: Clock,
}

impl Reconcile for Reconciler {
    type Error = SchedulingError;

    /// SCH-SEL-001 to -006.
    async fn reconcile(&self, request: Request) -> Result<Outcome, SchedulingError> {
        let Some(shoot) = self.shoots.get(&request.namespace, &request.name) else {
            return Ok(Outcome::Done); // it is gone
        };
        if let Some(seed) = &shoot.spec.seed_name {
            tracing::info!(seed, "Shoot already scheduled onto seed, nothing left to do");
            return Ok(Outcome::Done);
        }
        if shoot.metadata.deletion_timestamp.is_some() {
            tracing::info!("Ignoring shoot because it has been marked for deletion");
            return Ok(Outcome::Done);
        }
        let shoots: Api<Shoot> = Api::namespaced(self.client.clone(), &request.namespace);
        let seed = match self.assign(&request, &shoot) {
            Ok(seed) => seed,
            Err(error) => {
                self.report(&shoots, &shoot, &error.to_string()).await;
                return Err(error.into());
            }
        };
        match Box::pin(binding::bind(&shoots, &shoot, &seed)).await {
            Ok(Bound::ToSeed) => self.confirm(&shoot, &seed),
            Ok(Bound::Elsewhere) => self.usage.lock().unassign((&request.namespace, &request.name)),
            Err(error) => {
                self.usage.lock().unassign((&request.namespace, &request.name));
                self.report(&shoots, &shoot, &describe_error(&error)).await;
                return Err(SchedulingError::Bind(error));
            }
        }
        Ok(Outcome::Done)
    }
}

impl Reconciler {
    /// Decides, and counts the Shoot on its Seed at once, so that no other worker takes the same place. SCH-BND-004.
    fn assign(&self, request: &Request, shoot: &Shoot) -> Result<String, Unschedulable> {
        let (seeds, configs) = (self.seeds.list(), self.configs.list());
        let profile = self.profiles.get("", &shoot.spec.cloud_profile_name);
        let key = (request.namespace.as_str(), request.name.as_str());
        let mut usage = self.usage.lock();
        // An earlier attempt whose outcome is unknown does not count any more.
        usage.unassign(key);
        let Decision { seed, excluded } = decide(&Inputs {
            shoot,
            seeds: &seeds,
            usage: &usage,
            cloud_profile: profile.as_deref(),
            region_configs: &configs,
            strategy: self.strategy,
        });
        for exclusion in excluded {
            let (seed, filter) = (exclusion.seed, exclusion.filter);
            tracing::debug!(seed, %filter, reason = %exclusion.reason, "Seed is excluded");
        }
        let seed = seed?.name_any();
        usage.assign(key, &seed);
        Ok(seed)
    }

    /// SCH-BND-002.
    fn confirm(&self, shoot: &Shoot, seed: &str) {
        tracing::info!(
            cloudprofile = shoot.spec.cloud_profile_name,
            region = shoot.spec.region,
            seed,
            strategy = %self.strategy,
            "Shoot successfully scheduled to seed"
        );
        let message = format!("Scheduled to seed '{seed}'");
        self.recorder.event(shoot, EventType::Normal, SUCCESSFUL, &message);
    }

    async fn report(&self, shoots: &Api<Shoot>, shoot: &Shoot, reason: &str) {
        let description = failure::describe(reason);
        self.recorder.event(shoot, EventType::Warning, failure::FAILED, &description);
        let Some(patch) = failure::patch(shoot, &description, self.clock.now()) else { return };
        if let Err(error) = failure::write(shoots, &shoot.name_any(), &patch).await {
            let error = describe_error(&error);
            tracing::error!(error, "Failed to report scheduling failure to shoot status");
        }
    }
}
