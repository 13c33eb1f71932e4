//! Labels Shoots with how healthy they are (contracts/controller-manager/controllers/shoot-status-label.yaml).

use api::garden::Shoot;
use controller::{Controller, Event, Outcome, Reconcile, Request, Selection, Store, Watch};
use kube::api::{Api, Patch, PatchParams};
use kube::{Client, ResourceExt as _};
use serde_json::json;

use super::shoot_health::{Health, STATUS_LABEL};
use super::{Context, TIMEOUT};

/// Name in log and metrics.
pub const NAME: &str = "shoot-statuslabel";

/// The controller of one instance.
pub fn controller(context: &Context) -> Controller {
    let garden = &context.garden;
    let shoots = garden.store::<Shoot>(Selection::all());
    let changed = Watch::of(&shoots).filter(|event| match event {
        Event::Create(_) => true,
        Event::Update { new, .. } => wanted(new).is_some(),
        Event::Delete(_) | Event::Generic(_) => false,
    });
    let reconciler = Reconciler { shoots, client: garden.client() };
    Controller::new(NAME, reconciler)
        .workers(super::workers(context.config.controllers.shoot_status_label.concurrent_syncs))
        .timeout(TIMEOUT)
        .source(changed)
}

fn plan(shoot: &Shoot) -> Vec<Action> {
    wanted(shoot).map(Action::Label).into_iter().collect()
}

/// The label's value, unless the Shoot has it. GCM-SSL-006.
fn wanted(shoot: &Shoot) -> Option<Health> {
    let health = Health::of(shoot);
    let is_labelled = shoot.labels().get(STATUS_LABEL).is_some_and(|value| value == health.as_str());
    (!is_labelled).then_some(health)
}

struct Reconciler {
    shoots: Store<Shoot>,
    client: Client,
}

/// What to do with a Shoot.
enum Action {
    Label(Health),
}

impl Reconcile for Reconciler {
    type Error = kube::Error;

    async fn reconcile(&self, request: Request) -> Result<Outcome, kube::Error> {
        let Some(shoot) = self.shoots.get(&request.namespace, &request.name) else {
            return Ok(Outcome::Done);
        };
        for action in plan(&shoot) {
            self.execute(&request, action).await?;
        }
        Ok(Outcome::Done)
    }
}

impl Reconciler {
    async fn execute(&self, request: &Request, action: Action) -> Result<(), kube::Error> {
        let Action::Label(health) = action;
        let shoots: Api<Shoot> = Api::namespaced(self.client.clone(), &request.namespace);
        let patch = Patch::Merge(json!({"metadata": {"labels": {STATUS_LABEL: health.as_str()}}}));
        shoots.patch(&request.name, &PatchParams::default(), &patch).await.map(drop)
    }
}
