//! Copies the conditions of Seeds to the Shoots that they run on
//! (contracts/controller-manager/controllers/shoot-conditions.yaml).

use std::sync::Arc;

use api::garden::condition::Condition;
use api::garden::{ManagedSeed, Seed, Shoot};
use controller::store::Index;
use controller::{Controller, Event, Outcome, Reconcile, Request, Selection, Store, Watch};
use kube::api::{Api, Patch, PatchParams};
use kube::{Client, ResourceExt as _};
use serde_json::json;

use super::conditions::{
    self, BACKUP_BUCKETS_READY, EXTENSIONS_READY, GARDENLET_READY, SYSTEM_COMPONENTS_HEALTHY,
};
use super::{Context, GARDEN_NAMESPACE, TIMEOUT};

/// Name in log and metrics.
pub const NAME: &str = "shoot-conditions";

/// Conditions that only a Seed has.
const OF_SEEDS: [&str; 4] =
    [BACKUP_BUCKETS_READY, EXTENSIONS_READY, GARDENLET_READY, SYSTEM_COMPONENTS_HEALTHY];

/// Why the conditions of a Seed could not be copied.
#[derive(Debug, thiserror::Error)]
pub enum ConditionsError {
    /// Several ManagedSeeds refer to the Shoot.
    #[error("found more than one ManagedSeed objects for shoot {0}")]
    Ambiguous(Request),
    /// The status could not be written.
    #[error("failed to write the status of the Shoot")]
    Write(#[source] kube::Error),
}

/// The controller of one instance.
pub fn controller(context: &Context) -> Controller {
    let garden = &context.garden;
    let shoots = garden.store::<Shoot>(Selection::all());
    let seeds = garden.store::<Seed>(Selection::all());
    let managed_seeds = garden.store::<ManagedSeed>(Selection::all());
    let created = Watch::of(&shoots).filter(|event| matches!(event, Event::Create(_)));
    let changed = Watch::of(&seeds).filter(matters).map_new(shoot_of(&managed_seeds, &shoots));
    let of_shoot = managed_seeds.index(|managed_seed| {
        let shoot = managed_seed.spec.shoot.as_ref();
        shoot
            .map(|shoot| key(&managed_seed.namespace().unwrap_or_default(), &shoot.name))
            .into_iter()
            .collect()
    });
    let reconciler = Reconciler { shoots, seeds, of_shoot, client: garden.client() };
    Controller::new(NAME, reconciler)
        .workers(super::workers(context.config.controllers.shoot_conditions.concurrent_syncs))
        .timeout(TIMEOUT)
        .source(created)
        .source(changed)
}

fn key(namespace: &str, shoot: &str) -> String {
    format!("{namespace}/{shoot}")
}

/// GCM-SCO-004: a Seed matters when its conditions change, and after a resync.
fn matters(event: &Event<Seed>) -> bool {
    let Some(old) = event.old() else { return true };
    let new = event.object();
    old.status.conditions != new.status.conditions
        || old.metadata.resource_version == new.metadata.resource_version
}

/// The Shoot of a Seed that a ManagedSeed of the garden's namespace registers, if it exists.
fn shoot_of(
    managed_seeds: &Store<ManagedSeed>,
    shoots: &Store<Shoot>,
) -> impl Fn(&Seed) -> Option<Request> + Send + Sync + use<> {
    let (managed_seeds, shoots) = (managed_seeds.clone(), shoots.clone());
    move |seed| {
        let managed_seed = managed_seeds.get(GARDEN_NAMESPACE, &seed.name_any())?;
        let shoot = shoots.get(GARDEN_NAMESPACE, &managed_seed.spec.shoot.as_ref()?.name)?;
        Some(Request::of(&*shoot))
    }
}

struct Reconciler {
    shoots: Store<Shoot>,
    seeds: Store<Seed>,
    of_shoot: Index<ManagedSeed>,
    client: Client,
}

/// A Shoot, and the Seed that it is, if it is one.
struct State {
    shoot: Arc<Shoot>,
    seed: Option<Arc<Seed>>,
}

/// What to do with a Shoot.
enum Action {
    /// Write all conditions.
    Write(Vec<Condition>),
}

impl Reconcile for Reconciler {
    type Error = ConditionsError;

    async fn reconcile(&self, request: Request) -> Result<Outcome, ConditionsError> {
        let Some(state) = self.observe(&request)? else { return Ok(Outcome::Done) };
        for action in plan(&state) {
            self.execute(&state, action).await?;
        }
        Ok(Outcome::Done)
    }
}

impl Reconciler {
    /// GCM-SCO-005.
    fn observe(&self, request: &Request) -> Result<Option<State>, ConditionsError> {
        let Some(shoot) = self.shoots.get(&request.namespace, &request.name) else { return Ok(None) };
        let seed = match self.of_shoot.get(&key(&request.namespace, &request.name)).as_slice() {
            [] => None,
            [managed_seed] => self.seeds.get("", &managed_seed.name_any()),
            _ => return Err(ConditionsError::Ambiguous(request.clone())),
        };
        Ok(Some(State { shoot, seed }))
    }

    /// Fails if the Shoot has changed in the meantime.
    async fn execute(&self, state: &State, action: Action) -> Result<(), ConditionsError> {
        let Action::Write(conditions) = action;
        let shoot = &state.shoot;
        let shoots: Api<Shoot> = Api::namespaced(self.client.clone(), &shoot.namespace().unwrap_or_default());
        let patch = Patch::Merge(json!({
            "metadata": {"resourceVersion": shoot.metadata.resource_version},
            "status": {"conditions": conditions},
        }));
        let written = shoots.patch_status(&shoot.name_any(), &PatchParams::default(), &patch).await;
        written.map(drop).map_err(ConditionsError::Write)
    }
}

/// GCM-SCO-001 to -003.
fn plan(state: &State) -> Vec<Action> {
    let known = &state.shoot.status.conditions;
    let own: Vec<Condition> =
        known.iter().filter(|condition| !OF_SEEDS.contains(&&*condition.type_)).cloned().collect();
    let of_seed = state.seed.iter().flat_map(|seed| seed.status.conditions.iter().cloned());
    let all = conditions::merged(&own, of_seed);
    if all == *known { Vec::new() } else { vec![Action::Write(all)] }
}
