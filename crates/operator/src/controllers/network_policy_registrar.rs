//! Tells the controller of NetworkPolicies the networks of the runtime cluster, which a Garden says
//! (contracts/operator/controllers/network-policy-registrar.yaml).

use std::convert::Infallible;
use std::future::ready;

use api::operator::Garden;
use api::operator::runtime_cluster::RuntimeNetworking;
use controller::{Controller, Event, Outcome, Reconcile, Request, Selection, Store, Watch};
use tokio::sync::watch;

use super::{OperatorContext, TIMEOUT};

/// Name in log and metrics.
pub const NAME: &str = "networkpolicy-controller-registrar";

/// The controller of one instance.
pub fn controller(context: &OperatorContext) -> Controller {
    let gardens = context.runtime.store::<Garden>(Selection::all());
    let changed = Watch::of(&gardens).filter(matters);
    let reconciler = Reconciler { gardens, networks: context.networks.clone() };
    Controller::new(NAME, reconciler).timeout(TIMEOUT).source(changed)
}

/// OPR-NPR-003: a Garden matters when it appears, and when its networks change.
fn matters(event: &Event<Garden>) -> bool {
    match event {
        Event::Create(_) => true,
        Event::Update { old, new } => networks(old) != networks(new),
        Event::Delete(_) | Event::Generic(_) => false,
    }
}

fn networks(garden: &Garden) -> &RuntimeNetworking {
    &garden.spec.runtime_cluster.networking
}

struct Reconciler {
    gardens: Store<Garden>,
    networks: watch::Sender<Option<RuntimeNetworking>>,
}

/// The networks that the first Garden says, and those that the other controller knows.
struct State {
    said: RuntimeNetworking,
    known: Option<RuntimeNetworking>,
}

/// What to do with the other controller.
enum Action {
    /// Tell it the networks.
    Register(RuntimeNetworking),
}

impl Reconcile for Reconciler {
    type Error = Infallible;

    fn reconcile(&self, _: Request) -> impl Future<Output = Result<Outcome, Infallible>> + Send {
        for action in self.observe().map(plan).unwrap_or_default() {
            self.execute(action);
        }
        ready(Ok(Outcome::Done))
    }
}

impl Reconciler {
    /// OPR-NPR-002: without a Garden the known networks stay what they are.
    fn observe(&self) -> Option<State> {
        let gardens = self.gardens.list();
        let said = networks(gardens.first()?).clone();
        Some(State { said, known: self.networks.borrow().clone() })
    }

    fn execute(&self, action: Action) {
        let Action::Register(networks) = action;
        tracing::info!("Registering the networks of the runtime cluster");
        self.networks.send_replace(Some(networks));
    }
}

/// OPR-NPR-001, OPR-NPR-003, OPR-NPR-004.
fn plan(state: State) -> Vec<Action> {
    let State { said, known } = state;
    if known.as_ref() == Some(&said) { Vec::new() } else { vec![Action::Register(said)] }
}
