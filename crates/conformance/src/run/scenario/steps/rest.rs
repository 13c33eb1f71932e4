//! Waiting in a scenario that is explored: a kill comes at once, and at the end the target comes to rest, so that what comes late
//! is seen, too.

use std::time::Duration;

use contract::scenario::{Scenario, Step};
use futures::future::select_all;
use substrate::embedded::Embedded;
use tokio::time::{Instant, sleep, sleep_until};

use super::{ScenarioEnd, StepBaseline, StepRunner};
use crate::report::Check;
use crate::run::scenario::exploration::TargetHistory;
use crate::run::scenario::faults::ActiveFault;
use crate::run::scenario::takeover;

/// Pause between two checks for writes.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// How long nothing must be written, of virtual and of real time: longer than a perturbation lasts.
const QUIET: Duration = Duration::from_secs(10);
const REAL_QUIET: Duration = Duration::from_secs(4);
/// How long to wait for a target that never stops writing.
const PATIENCE: Duration = Duration::from_mins(1);
const REAL_PATIENCE: Duration = Duration::from_secs(12);

impl StepRunner<'_> {
    /// After the last step of a scenario that is explored, waits until nothing is written any more, and then again for the
    /// step's states; returns what has not come about.
    pub(super) async fn rest_at_end(
        &mut self,
        at: usize,
        step: &Step,
        before: &StepBaseline,
    ) -> Result<Vec<Check>, ScenarioEnd> {
        let steps = self.located.scenario().map_or(0, |scenario| scenario.steps.len());
        if self.exploration.is_none() || at + 1 < steps {
            return Ok(Vec::new());
        }
        self.rest(step).await?;
        self.wait_for_states(step, before).await
    }

    /// What the target did and saw, if the scenario is explored.
    pub(in crate::run::scenario) async fn history(
        &self,
        scenario: &Scenario,
    ) -> Result<Option<TargetHistory>, ScenarioEnd> {
        let Some(exploration) = &self.exploration else { return Ok(None) };
        let history = exploration.end(self.clusters, scenario).await?;
        let takeover = if self.elects_leader { takeover::moment(self.clusters) } else { None };
        // A leader is lost when another one leads.
        let has_leader = !self.elects_leader || takeover.is_some();
        let struck = self.faults.iter().filter(|fault| fault.struck_wholly() && has_leader).count();
        let strikes = self.faults.iter().map(ActiveFault::first_strike).collect();
        let late_writes = takeover.map(|moment| takeover::late_writes(self.clusters, moment));
        let mut step_ends: Vec<_> = self.ends.iter().map(|(step, at)| (step.clone(), *at)).collect();
        step_ends.sort_by_key(|(_, at)| *at);
        let late_writes = late_writes.unwrap_or_default();
        Ok(Some(TargetHistory { struck, strikes, step_ends, takeover, late_writes, ..history }))
    }

    /// Waits until a time. A target that a perturbation kills meanwhile starts again at once.
    pub(super) async fn wait_until(&mut self, until: Instant, step: &Step) -> Result<(), ScenarioEnd> {
        if self.exploration.is_none() {
            sleep_until(until).await;
            return Ok(());
        }
        while Instant::now() < until {
            self.sleep_or_strike(until - Instant::now()).await;
            self.apply_consequences(step).await?;
        }
        Ok(())
    }

    /// Sleeps, at the longest until a perturbation strikes that kills the target or replaces it: nothing else of it may go on.
    pub(super) async fn sleep_or_strike(&self, pause: Duration) {
        let awaited =
            self.faults.iter().filter(|fault| fault.has_consequence() && self.exploration.is_some());
        let strikes: Vec<_> = awaited.map(|fault| Box::pin(fault.until_struck())).collect();
        if strikes.is_empty() {
            return sleep(pause).await;
        }
        tokio::select! {
            () = sleep(pause) => {}
            _ = select_all(strikes) => {}
        }
    }

    /// Waits until nothing has been written for a while. A target that a fault ends or kills meanwhile starts again.
    async fn rest(&mut self, step: &Step) -> Result<(), ScenarioEnd> {
        let is_real = self.task.environment.is_real_time();
        let (quiet, patience) = if is_real { (REAL_QUIET, REAL_PATIENCE) } else { (QUIET, PATIENCE) };
        let deadline = Instant::now() + patience;
        let (mut since, mut revisions) = (Instant::now(), self.revisions());
        while Instant::now() < deadline.min(since + quiet) {
            self.sleep_or_strike(POLL_INTERVAL).await;
            self.apply_consequences(step).await?;
            self.restart_ended(step).await?;
            let now = self.revisions();
            if now != revisions {
                (revisions, since) = (now, Instant::now());
            }
        }
        Ok(())
    }

    fn revisions(&self) -> Vec<Option<u64>> {
        self.clusters.servers().map(Embedded::revision).collect()
    }
}
