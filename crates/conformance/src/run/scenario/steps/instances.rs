//! The instances of the target: it is started, stopped, killed, and replaced by a second one.

use contract::scenario::Step;

use super::{ScenarioEnd, StepRunner};
use crate::run::scenario::clusters::SECOND_USER;
use crate::run::scenario::faults::{ActiveFault, Consequence};
use crate::run::scenario::perturbation::LeaseLoss;
use crate::run::scenario::takeover;
use crate::target::Setup;

impl StepRunner<'_> {
    /// Starts the target.
    pub(super) async fn start(&mut self) -> Result<(), ScenarioEnd> {
        for fault in &mut self.faults {
            fault.before_start();
        }
        let election = self.elects_leader.then(|| takeover::election(self.user));
        let clusters = self.clusters.for_target(self.user, election);
        let setup = Setup {
            component: &self.located.contract.component,
            now: None,
            config: &self.located.case.config,
            instance: self.located.instance(),
            controller: self.located.contract.subject.controller.as_deref(),
            facts: Some(clusters.source.clone()),
            clusters: Some(clusters),
        };
        let started = self.task.target.start(setup).await;
        let running = started.map_err(|error| ScenarioEnd::Environment(error.to_string()))?;
        let witness = self
            .located
            .scenario()
            .and_then(|scenario| scenario.steps.iter().find_map(|step| step.witness.as_ref()));
        if witness.is_some() && running.metrics().await.is_none() {
            running.stop().await;
            let text = "the target file has no `metrics` address, which the step's witness needs";
            return Err(ScenarioEnd::NotSupported(text.to_owned()));
        }
        self.running = Some(running);
        Ok(())
    }

    /// Stops the target, if it runs, and the instance before it.
    pub(in crate::run::scenario) async fn stop(&mut self) {
        for running in [self.running.take(), self.former.take()].into_iter().flatten() {
            running.stop().await;
        }
    }

    /// Does to the target what the faults that have struck say. The server has done its unanswered write.
    pub(super) async fn apply_consequences(&mut self, step: &Step) -> Result<(), ScenarioEnd> {
        let due: Vec<_> = self.faults.iter_mut().map(ActiveFault::take_consequence).collect();
        // The step itself may have stopped it since.
        if self.running.is_none() {
            return Ok(());
        }
        if due.contains(&Consequence::Restart) {
            self.restart(step).await?;
        }
        let loss = due.into_iter().find_map(|consequence| match consequence {
            Consequence::Takeover(loss) => Some(loss),
            Consequence::Nothing | Consequence::Restart => None,
        });
        match loss.filter(|_| self.former.is_none()) {
            Some(loss) => self.take_over(step, loss).await,
            None => Ok(()),
        }
    }

    /// Starts a target again that a fault has ended, as a kubelet does.
    pub(super) async fn restart_ended(&mut self, step: &Step) -> Result<(), ScenarioEnd> {
        let has_ended = self.faulty && self.running.as_mut().is_some_and(|running| running.ended().is_some());
        if has_ended { self.restart(step).await } else { Ok(()) }
    }

    async fn restart(&mut self, step: &Step) -> Result<(), ScenarioEnd> {
        self.reconciled = self.reconciles(step).await.unwrap_or(self.reconciled);
        match self.running.take() {
            // Without the time to end that it would get otherwise.
            Some(running) if self.exploration.is_some() => drop(running),
            Some(running) => running.stop().await,
            None => {}
        }
        self.start().await
    }

    /// Takes the Lease away from the target, which runs on, and starts a second instance.
    async fn take_over(&mut self, step: &Step, loss: LeaseLoss) -> Result<(), ScenarioEnd> {
        self.reconciled = self.reconciles(step).await.unwrap_or(self.reconciled);
        match loss {
            LeaseLoss::Refused => takeover::refuse_renewals(self.clusters),
            LeaseLoss::Taken => takeover::give_to_somebody(self.clusters).await?,
        }
        self.former = self.running.take();
        self.user = SECOND_USER;
        self.start().await
    }
}
