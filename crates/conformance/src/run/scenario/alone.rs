//! One run of a scenario, in a thread and a runtime of its own: a target that never yields is left behind with them.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use contract::model::Contract;
use contract::scenario::Scenario;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;

use super::clusters::Clusters;
use super::faults::Disturbance;
use super::place::Place;
use super::proof::Kept;
use super::steps::{Ended, Stage};
use super::watchdog::{Lost, Watchdog};
use crate::plan::{self, CaseRef, Looked};
use crate::report::Check;
use crate::run::{Interrupt, Shared};
use crate::target::Target;

/// What a scenario needs of the whole run. Its thread owns it, as nobody may wait for the thread.
pub(super) struct Scene {
    pub(super) target: Arc<dyn Target>,
    pub(super) place: Place,
    contracts: Arc<[Contract]>,
    interrupt: Interrupt,
}

/// What was seen of a scenario.
pub(super) struct Observed {
    /// What the first step that was not kept shows.
    pub(super) checks: Vec<Check>,
    /// What the steps before it kept.
    pub(super) kept: Vec<Kept>,
}

/// Runs a scenario once.
pub(super) fn alone(
    shared: &Shared<'_>,
    at: CaseRef,
    place: &Place,
    disturbance: &Disturbance,
) -> Result<Observed, Ended> {
    let scene = Scene::of(shared, place.clone());
    let real_time = place.is_real_time();
    let watchdog = Watchdog::new(if real_time { place.waits } else { Duration::ZERO });
    let (bark, disturbance) = (watchdog.bark(), disturbance.clone());
    let (tell, told) = channel();
    let play = move || {
        let played =
            runtime(real_time).map(|runtime| runtime.block_on(scene.watched(at, &disturbance, &bark)));
        // Nobody listens to what was left behind.
        let _ = tell.send(played);
    };
    let started = std::thread::Builder::new().name("scenario".to_owned()).spawn(play);
    let unstarted =
        |error: std::io::Error| Ended::Environment(format!("failed to start a scenario: {error}"));
    started.map_err(unstarted)?;
    let id = plan::look(shared.contracts, at).id();
    match watchdog.watch(&told, shared.interrupt, || place.is_gone()) {
        Ok(played) => played.map_err(unstarted)?.unwrap_or_else(|| Err(late(&id, &watchdog))),
        Err(Lost::Interrupted) => Err(Ended::Interrupted),
        Err(Lost::Late) => Err(late(&id, &watchdog)),
        Err(Lost::Silent) => {
            Err(Ended::Environment(format!("{id} ended in a panic, which standard error tells")))
        }
    }
}

fn late(id: &str, watchdog: &Watchdog) -> Ended {
    let seconds = watchdog.patience().as_secs();
    let why = "the target spins, or time stands still";
    Ended::Environment(format!("{id} did not end within {seconds} s: {why}"))
}

/// Virtual time stands still while anybody works.
fn runtime(real_time: bool) -> std::io::Result<Runtime> {
    Builder::new_current_thread().enable_all().start_paused(!real_time).build()
}

impl Scene {
    fn of(shared: &Shared<'_>, place: Place) -> Self {
        Self {
            target: Arc::clone(shared.target),
            place,
            contracts: Arc::clone(shared.contracts),
            interrupt: shared.interrupt.clone(),
        }
    }

    /// Runs the steps until the first that is not kept; nothing when the watchdog barked.
    async fn watched(
        &self,
        at: CaseRef,
        disturbance: &Disturbance,
        bark: &Notify,
    ) -> Option<Result<Observed, Ended>> {
        let looked = plan::look(&self.contracts, at);
        let scenario = looked.scenario().expect("the plan has scenarios only");
        tokio::select! {
            outcome = self.run(looked, scenario, disturbance, bark) => outcome.transpose(),
            _ = self.interrupt.wait() => Some(Err(Ended::Interrupted)),
        }
    }

    /// Takes back what was made whatever the end, since the next scenario of the lane stands on the same clusters.
    async fn run(
        &self,
        looked: Looked<'_>,
        scenario: &Scenario,
        disturbance: &Disturbance,
        bark: &Notify,
    ) -> Result<Option<Observed>, Ended> {
        let idle = *disturbance == Disturbance::Nothing;
        let clusters = Clusters::start(scenario, &self.place, idle).await?;
        let outcome = tokio::select! {
            outcome = self.staged(looked, scenario, (&clusters, disturbance)) => outcome.map(Some),
            () = bark.notified() => Ok(None),
        };
        clusters.take_back().await?;
        outcome
    }

    async fn staged(
        &self,
        looked: Looked<'_>,
        scenario: &Scenario,
        (clusters, disturbance): (&Clusters, &Disturbance),
    ) -> Result<Observed, Ended> {
        clusters.write(&scenario.given).await?;
        let mut stage = Stage::new(self, looked, clusters, disturbance);
        stage.start().await?;
        let outcome = stage.take(&scenario.steps).await;
        stage.stop().await;
        Ok(Observed { checks: outcome?, kept: stage.into_kept() })
    }
}
