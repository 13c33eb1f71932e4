//! One run of a scenario in a separate thread.

use std::sync::Arc;
use std::time::Duration;

use contract::model::Contract;
use contract::scenario::Scenario;
use tokio::sync::Notify;

use super::clusters::Clusters;
use super::environment::ScenarioEnvironment;
use super::faults::Disturbance;
use super::proof::StepRecord;
use super::requests;
use super::steps::{ScenarioEnd, StepRunner};
use super::thread::{ThreadOptions, run_in_thread};
use crate::plan::{self, CaseRef, LocatedCase};
use crate::report::Check;
use crate::run::PartState;
use crate::target::Target;

/// Everything that a scenario needs of the run. Its thread owns it, since the thread may outlive the run.
pub(super) struct ScenarioTask {
    pub(super) target: Arc<dyn Target>,
    pub(super) environment: ScenarioEnvironment,
    contracts: Arc<[Contract]>,
}

/// The observation of a scenario.
pub(super) struct ScenarioObservation {
    /// Failed checks of the first step that failed.
    pub(super) checks: Vec<Check>,
    /// Records of the steps before it.
    pub(super) records: Vec<StepRecord>,
}

/// Runs a scenario once.
pub(super) fn run_once(
    shared: &PartState<'_>,
    at: CaseRef,
    environment: &ScenarioEnvironment,
    disturbance: &Disturbance,
) -> Result<ScenarioObservation, ScenarioEnd> {
    let task = ScenarioTask::of(shared, environment.clone());
    let real_time = environment.is_real_time();
    let waits = if real_time { environment.waits } else { Duration::ZERO };
    let is_failed = || environment.is_failed();
    let disturbance = disturbance.clone();
    let play = move |abort: Arc<Notify>| async move { task.run(at, &disturbance, &abort).await };
    let id = plan::locate(shared.contracts, at).id();
    run_in_thread(shared.interrupt, &id, &ThreadOptions { real_time, waits, is_failed: &is_failed }, play)
}

impl ScenarioTask {
    fn of(shared: &PartState<'_>, environment: ScenarioEnvironment) -> Self {
        Self { target: Arc::clone(shared.target), environment, contracts: Arc::clone(shared.contracts) }
    }

    /// Runs the steps until one fails; returns `None` after the watchdog's signal. Cleans up in any case, since the next
    /// scenario of the lane uses the same clusters.
    async fn run(
        &self,
        at: CaseRef,
        disturbance: &Disturbance,
        abort: &Notify,
    ) -> Result<Option<ScenarioObservation>, ScenarioEnd> {
        let located = plan::locate(&self.contracts, at);
        let scenario = located.scenario().expect("the plan has scenarios only");
        let idle = *disturbance == Disturbance::NoEffect;
        let clusters = Clusters::start(scenario, &self.environment, idle).await?;
        let outcome = tokio::select! {
            outcome = self.run_steps(located, scenario, (&clusters, disturbance)) => outcome.map(Some),
            () = abort.notified() => Ok(None),
        };
        clusters.clean_up().await?;
        outcome
    }

    async fn run_steps(
        &self,
        located: LocatedCase<'_>,
        scenario: &Scenario,
        (clusters, disturbance): (&Clusters, &Disturbance),
    ) -> Result<ScenarioObservation, ScenarioEnd> {
        clusters.write(&scenario.given).await?;
        let mut runner = StepRunner::new(self, located, clusters, disturbance);
        let outcome = runner.run(&scenario.steps).await;
        runner.stop().await;
        let (mut checks, records) = (outcome?, runner.into_records());
        if checks.is_empty() && *disturbance == Disturbance::None && self.target.is_ours() {
            let needless = |record: &StepRecord| {
                requests::needless(&record.writes, scenario.steps[record.step].requests.as_ref())
            };
            checks.extend(records.iter().filter_map(needless));
        }
        Ok(ScenarioObservation { checks, records })
    }
}
