//! The runs of scenarios: undisturbed, with one perturbation, and with two.

use std::slice::from_ref;
use std::time::Instant;

use super::oracle;
use super::plan::PerturbationPlan;
use super::timeline;
use super::{FailedRun, JobResult};
use crate::plan::{self, CaseRef, LocatedCase};
use crate::report::{Check, Status};
use crate::run::scenario::{ExploredScenario, Perturbation, ScenarioEnd, TargetHistory};
use crate::run::{Event, Interrupt, PartState};

/// How often a run is repeated whose perturbation struck nothing.
const TRIES: usize = 2;

/// The scenarios of an exploration.
pub(super) struct Scenarios<'a> {
    pub(super) shared: &'a PartState<'a>,
    /// When the budget is spent.
    pub(super) end: Option<Instant>,
    pub(super) interrupt: &'a Interrupt,
}

/// A scenario, and what its undisturbed run showed.
pub(super) struct LearntScenario<'a> {
    pub(super) located: LocatedCase<'a>,
    pub(super) learnt: Learnt<'a>,
}

/// What an undisturbed run showed.
pub(super) enum Learnt<'a> {
    /// The scenario passed, and these are its perturbations.
    Passed(Box<ExploredScenario<'a>>, Box<TargetHistory>, PerturbationPlan),
    /// It failed: perturbed runs would say nothing.
    Refused(Vec<Check>),
    /// The target cannot run it.
    NotSupported(String),
    /// The environment broke.
    Broken(String),
    /// The budget was spent, or the user interrupted.
    Left,
}

impl LearntScenario<'_> {
    /// `<clause>/<case>`.
    pub(super) fn id(&self) -> String {
        self.located.id()
    }

    /// Its perturbations; none if it is not explored.
    pub(super) fn perturbations(&self) -> &[Perturbation] {
        match &self.learnt {
            Learnt::Passed(_, _, plan) => &plan.perturbations,
            _ => &[],
        }
    }

    /// What a perturbation does, as a sentence.
    pub(super) fn story(&self, perturbation: &Perturbation) -> String {
        perturbation.story(self.has_two_clusters())
    }

    fn has_two_clusters(&self) -> bool {
        self.located.scenario().is_some_and(|scenario| !scenario.is_of_one_cluster())
    }

    /// Runs it until the perturbation strikes: the target may take another way than in the undisturbed run.
    fn perturb_until_struck(&self, perturbation: &Perturbation) -> JobResult {
        let mut result = JobResult::Missed;
        for _ in 0..TRIES {
            result = self.perturb(from_ref(perturbation));
            if !matches!(result, JobResult::Missed) {
                break;
            }
        }
        result
    }

    /// Runs it once with perturbations. They missed if one of them struck nothing.
    fn perturb(&self, perturbations: &[Perturbation]) -> JobResult {
        let Learnt::Passed(scenario, history, _) = &self.learnt else { return JobResult::Left };
        match scenario.run(perturbations) {
            Ok((checks, perturbed)) => {
                let checks = oracle::judge(history, (&perturbed, perturbations.len()), checks);
                if !checks.is_empty() {
                    let timeline = timeline::of(&perturbed, perturbations, self.has_two_clusters());
                    return JobResult::Failed(FailedRun { checks, timeline });
                }
                if perturbed.struck < perturbations.len() { JobResult::Missed } else { JobResult::Held }
            }
            Err(ScenarioEnd::Interrupted) => JobResult::Left,
            Err(ScenarioEnd::Environment(reason) | ScenarioEnd::NotSupported(reason)) => {
                JobResult::Broken(reason)
            }
        }
    }
}

impl<'a> Scenarios<'a> {
    /// Runs a scenario undisturbed.
    pub(super) fn learn(&self, at: CaseRef) -> LearntScenario<'a> {
        let located = plan::locate(self.shared.contracts, at);
        let learnt = if self.is_over() { Learnt::Left } else { self.learn_from(at) };
        let status = match &learnt {
            Learnt::Passed(..) => Status::Passed,
            Learnt::Refused(_) => Status::Failed,
            Learnt::NotSupported(_) => Status::NotSupported,
            Learnt::Broken(_) => Status::Errored,
            Learnt::Left => Status::NotRun,
        };
        self.show(located, &located.id(), status);
        LearntScenario { located, learnt }
    }

    fn learn_from(&self, at: CaseRef) -> Learnt<'a> {
        let run =
            ExploredScenario::of(self.shared, at).and_then(|scenario| Ok((scenario.run(&[])?, scenario)));
        match run {
            Ok(((checks, history), scenario)) if checks.is_empty() => {
                let plan = PerturbationPlan::of(&history, self.elects_leader(at));
                Learnt::Passed(Box::new(scenario), Box::new(history), plan)
            }
            Ok(((checks, _), _)) => Learnt::Refused(checks),
            Err(ScenarioEnd::NotSupported(reason)) => Learnt::NotSupported(reason),
            Err(ScenarioEnd::Environment(reason)) => Learnt::Broken(reason),
            Err(ScenarioEnd::Interrupted) => Learnt::Left,
        }
    }

    /// Whether one of several instances of the scenario's component leads. A second one of a program outside this process would
    /// need the same ports.
    fn elects_leader(&self, at: CaseRef) -> bool {
        let (target, located) = (self.shared.target, plan::locate(self.shared.contracts, at));
        !target.is_outside() && target.elects_leader(&located.contract.component)
    }

    /// Runs a scenario with one of its perturbations.
    pub(super) fn perturb(&self, learnt: &LearntScenario<'_>, number: usize) -> JobResult {
        let Some(perturbation) = learnt.perturbations().get(number).filter(|_| !self.is_over()) else {
            return JobResult::Left;
        };
        let result = learnt.perturb_until_struck(perturbation);
        let id = format!("{} perturbation {}", learnt.id(), number + 1);
        self.show(learnt.located, &id, status_of(&result));
        result
    }

    /// Runs a scenario with two of its perturbations. If that fails, and one of them fails alone, returns the result of that one
    /// and which it is.
    pub(super) fn perturb_twice(
        &self,
        learnt: &LearntScenario<'_>,
        numbers: [usize; 2],
    ) -> (JobResult, Option<usize>) {
        let [Some(first), Some(second)] = numbers.map(|number| learnt.perturbations().get(number)) else {
            return (JobResult::Left, None);
        };
        let mut result = (learnt.perturb(&[first.clone(), second.clone()]), None);
        if matches!(result.0, JobResult::Failed(_)) {
            let alone = numbers.into_iter().zip([first, second]).find_map(|(number, perturbation)| {
                let alone = learnt.perturb(from_ref(perturbation));
                matches!(alone, JobResult::Failed(_)).then_some((alone, Some(number)))
            });
            result = alone.unwrap_or(result);
        }
        let id = format!("{} perturbations {}+{}", learnt.id(), numbers[0] + 1, numbers[1] + 1);
        self.show(learnt.located, &id, status_of(&result.0));
        result
    }

    /// Whether no further run may begin.
    pub(super) fn is_over(&self) -> bool {
        self.interrupt.raised().is_some() || self.end.is_some_and(|end| Instant::now() >= end)
    }

    fn show(&self, located: LocatedCase<'_>, id: &str, status: Status) {
        (self.shared.state.progress)(Event::Case { contract: &located.contract.name, id, status });
    }
}

fn status_of(result: &JobResult) -> Status {
    match result {
        JobResult::Held => Status::Passed,
        JobResult::Failed(_) => Status::Failed,
        JobResult::Missed => Status::Vacuous,
        JobResult::Left => Status::NotRun,
        JobResult::Broken(_) => Status::Errored,
    }
}
