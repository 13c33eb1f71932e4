//! Runs a scenario that is explored: undisturbed, or with perturbations.

use super::environment::ScenarioEnvironment;
use super::exploration::TargetHistory;
use super::faults::Disturbance;
use super::perturbation::Perturbation;
use super::steps::ScenarioEnd;
use super::task::run_once;
use crate::plan::{self, CaseRef};
use crate::report::Check;
use crate::run::PartState;

/// A scenario with the environment in which it runs.
pub(crate) struct ExploredScenario<'a> {
    shared: &'a PartState<'a>,
    at: CaseRef,
    environment: ScenarioEnvironment,
}

impl<'a> ExploredScenario<'a> {
    /// Prepares a scenario for a lane.
    ///
    /// # Errors
    /// If the target cannot run it.
    pub(crate) fn of(shared: &'a PartState<'a>, at: CaseRef) -> Result<Self, ScenarioEnd> {
        let scenario = plan::locate(shared.contracts, at).scenario().expect("the plan has scenarios only");
        let environment = ScenarioEnvironment::of(shared, scenario, 0)?;
        Ok(Self { shared, at, environment })
    }

    /// Runs it once with these perturbations; returns the failed checks of the first step that failed, and what the target did
    /// and saw.
    ///
    /// # Errors
    /// If the run has no result.
    pub(crate) fn run(
        &self,
        perturbations: &[Perturbation],
    ) -> Result<(Vec<Check>, TargetHistory), ScenarioEnd> {
        let disturbance = Disturbance::Explored(perturbations.to_vec());
        let seen = run_once(self.shared, self.at, &self.environment, &disturbance)?;
        Ok((seen.checks, seen.history.unwrap_or_default()))
    }
}
