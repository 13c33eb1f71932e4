//! One run of a scenario, apart from all others.

use std::sync::Arc;
use std::time::Duration;

use contract::model::Contract;
use contract::scenario::Scenario;
use tokio::sync::Notify;

use super::apart::{Apart, apart};
use super::clusters::Clusters;
use super::faults::Disturbance;
use super::place::Place;
use super::proof::Kept;
use super::steps::{Ended, Stage};
use crate::plan::{self, CaseRef, Looked};
use crate::report::Check;
use crate::run::Shared;
use crate::target::Target;

/// What a scenario needs of the whole run. Its thread owns it, as nobody may wait for the thread.
pub(super) struct Scene {
    pub(super) target: Arc<dyn Target>,
    pub(super) place: Place,
    contracts: Arc<[Contract]>,
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
    let waits = if real_time { place.waits } else { Duration::ZERO };
    let is_gone = || place.is_gone();
    let disturbance = disturbance.clone();
    let play = move |bark: Arc<Notify>| async move { scene.run(at, &disturbance, &bark).await };
    let id = plan::look(shared.contracts, at).id();
    apart(shared.interrupt, &id, &Apart { real_time, waits, is_gone: &is_gone }, play)
}

impl Scene {
    fn of(shared: &Shared<'_>, place: Place) -> Self {
        Self { target: Arc::clone(shared.target), place, contracts: Arc::clone(shared.contracts) }
    }

    /// Runs the steps until the first that is not kept; nothing when the watchdog barked. Takes back what was made whatever
    /// the end, since the next scenario of the lane stands on the same clusters.
    async fn run(
        &self,
        at: CaseRef,
        disturbance: &Disturbance,
        bark: &Notify,
    ) -> Result<Option<Observed>, Ended> {
        let looked = plan::look(&self.contracts, at);
        let scenario = looked.scenario().expect("the plan has scenarios only");
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
        let outcome = stage.take(&scenario.steps).await;
        stage.stop().await;
        Ok(Observed { checks: outcome?, kept: stage.into_kept() })
    }
}
