//! The outcome of an exploration: what was run, what was found, what is left, and the exit code.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{ExploreOptions, PlanNumbers};
use crate::render::plural;
use crate::report::{Check, ExitReason, enumerate, worst_exit_code};
use crate::target::Identity;

/// The outcome of an exploration.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// The target.
    pub target: Identity,
    /// The seed of the order, if there is a budget.
    pub seed: u64,
    /// Seconds after which no further run began; absent: all were run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget_seconds: Option<f64>,
    /// The only perturbation or pair that was requested.
    #[serde(flatten)]
    pub requested: Option<PlanNumbers>,
    /// Milliseconds.
    pub duration_ms: f64,
    /// Sums over all scenarios, of runs with one perturbation.
    pub counts: ExplorationCounts,
    /// Sums over all scenarios, of runs with two. Of those that missed, one struck nothing, because the other one had changed the
    /// target's way.
    pub pairs: ExplorationCounts,
    /// Sums by kind of perturbation.
    pub kinds: BTreeMap<&'static str, ExplorationCounts>,
    /// The scenarios, in the order of the contracts.
    pub scenarios: Vec<ScenarioOutcome>,
    /// Environment errors; they say nothing about the target.
    pub environment_errors: Vec<String>,
    /// The signal that ended it early.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interrupted: Option<u8>,
    /// The command that repeats one run, without the flags that select it.
    pub command: String,
}

/// Numbers of perturbations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExplorationCounts {
    /// Perturbations of all that was observed.
    pub space: usize,
    /// Of these, those that show no more than another one, and were not run.
    pub cut: usize,
    /// Perturbed runs.
    pub run: usize,
    /// Of these, those that broke something.
    pub failed: usize,
    /// Of these, those in which the perturbation struck nothing, so that they say nothing.
    pub missed: usize,
    /// Perturbations for which the budget did not suffice, or that the environment broke.
    pub left: usize,
}

/// What became of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ScenarioState {
    /// It passed undisturbed, and was perturbed.
    Explored,
    /// It failed undisturbed, and was not perturbed.
    Refused,
    /// The target cannot run it.
    NotSupported,
    /// The environment broke in the undisturbed run.
    Errored,
    /// The budget was spent before its undisturbed run.
    Left,
}

/// The outcome of one scenario.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ScenarioOutcome {
    /// The component.
    pub component: String,
    /// The contract.
    pub contract: String,
    /// `<clause>/<case>`.
    pub case: String,
    /// What became of it.
    pub state: ScenarioState,
    /// Why it was not explored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What failed without a perturbation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    /// The target's writes in the undisturbed run.
    pub writes: usize,
    /// The events that its watches delivered in the undisturbed run.
    pub events: usize,
    /// Its perturbations.
    pub counts: ExplorationCounts,
    /// The pairs of them.
    pub pairs: ExplorationCounts,
    /// The perturbations and pairs that broke something.
    pub failures: Vec<PerturbationFailure>,
}

/// A perturbation that broke something, or two of which neither did so alone.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PerturbationFailure {
    /// Its number in the plan of its scenario, or their numbers.
    #[serde(flatten)]
    pub numbers: PlanNumbers,
    /// `crash after a write`; of two, `crash after a write + event late`.
    pub kind: String,
    /// What was perturbed: `the 2nd write, patch configmap/x, was executed and the target was killed`.
    pub story: String,
    /// What is wrong.
    pub checks: Vec<Check>,
    /// What happened in the run, in the order of time.
    pub timeline: Vec<TimelineEntry>,
    /// The command that repeats it.
    pub command: String,
}

/// Something that happened in a perturbed run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TimelineEntry {
    /// Milliseconds since the target was started first.
    pub at_ms: u64,
    /// What it is.
    pub kind: TimelineKind,
    /// What happened: `create secret/x`, `ADDED secret/x`.
    pub text: String,
}

/// What an entry of a timeline is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum TimelineKind {
    /// The target wrote.
    Write,
    /// A watch delivered an event to the target.
    Event,
    /// A perturbation struck.
    Perturbation,
    /// A second instance took over.
    Takeover,
    /// A step of the scenario passed.
    Step,
}

impl ExplorationCounts {
    /// Adds others.
    pub(super) fn add(&mut self, other: Self) {
        self.space += other.space;
        self.cut += other.cut;
        self.run += other.run;
        self.failed += other.failed;
        self.missed += other.missed;
        self.left += other.left;
    }
}

impl Outcome {
    pub(super) fn of(target: Identity, options: &ExploreOptions) -> Self {
        Self {
            target,
            seed: options.seed,
            budget_seconds: options.budget.map(|budget| budget.as_secs_f64()),
            requested: options.perturbation,
            duration_ms: 0.0,
            counts: ExplorationCounts::default(),
            pairs: ExplorationCounts::default(),
            kinds: BTreeMap::new(),
            scenarios: Vec::new(),
            environment_errors: Vec::new(),
            interrupted: None,
            command: options.command.clone(),
        }
    }

    /// The exit code with its cause.
    #[must_use]
    pub fn exit_reason(&self) -> ExitReason {
        let reasons = self.reasons();
        let code = worst_exit_code(&reasons.iter().map(|reason| reason.code).collect::<Vec<_>>());
        let found = reasons.into_iter().find(|reason| reason.code == code);
        found.unwrap_or_else(|| ExitReason { code: 0, cause: self.success() })
    }

    /// The scenarios that are in a state.
    pub fn in_state(&self, state: ScenarioState) -> impl Iterator<Item = &ScenarioOutcome> {
        self.scenarios.iter().filter(move |scenario| scenario.state == state)
    }

    fn success(&self) -> String {
        let scenarios = self.in_state(ScenarioState::Explored).count();
        let withstood = self.with_pairs((self.counts.run, self.pairs.run), " and ");
        format!("{} withstood {withstood}", plural(scenarios, "scenario"))
    }

    /// `3 perturbations and 2 pairs`; only what there is, if there were pairs.
    fn with_pairs(&self, (single, pairs): (usize, usize), between: &str) -> String {
        let single = plural(single, "perturbation");
        if self.pairs.space == 0 { single } else { format!("{single}{between}{}", plural(pairs, "pair")) }
    }

    /// Everything that keeps the exit code from being 0. The first reason of a code is the one that is printed.
    fn reasons(&self) -> Vec<ExitReason> {
        let mut reasons = Vec::new();
        let mut add = |code: u8, cause: String| reasons.push(ExitReason { code, cause });
        if let Some(signal) = self.interrupted {
            let name = if signal == 2 { "SIGINT" } else { "SIGTERM" };
            add(128 + signal, format!("interrupted by {name}"));
        }
        let most = self.in_state(ScenarioState::Explored).map(ScenarioOutcome::planned).max();
        if let (Some(numbers), Some(most)) = (self.requested, most)
            && numbers.greatest() > most
        {
            let plans = format!("the plan has {}", plural(most, "perturbation"));
            add(2, format!("--perturbation {numbers}: {plans}"));
        }
        let failing = self.names(|scenario| !scenario.failures.is_empty());
        if !failing.is_empty() {
            let failed = self.with_pairs((self.counts.failed, self.pairs.failed), " and ");
            add(1, format!("{failed} broke {}", enumerate(&failing)));
        }
        let refused = self.names(|scenario| scenario.state == ScenarioState::Refused);
        if !refused.is_empty() {
            add(1, format!("broken without any perturbation: {}", enumerate(&refused)));
        }
        if let Some(error) = self.environment_errors.first() {
            add(3, error.clone());
        }
        let unlearnt = self.in_state(ScenarioState::Left).count();
        if self.counts.left > 0 || self.pairs.left > 0 || unlearnt > 0 {
            let left = self.with_pairs((self.counts.left, self.pairs.left), ", ");
            add(
                4,
                format!("the budget is spent: {left} and {} are left", plural(unlearnt, "whole scenario")),
            );
        }
        if self.counts.missed > 0 {
            let missed = plural(self.counts.missed, "perturbation");
            add(4, format!("{missed} struck nothing, because the target took another way"));
        }
        if self.counts.run + self.pairs.run == 0 {
            add(4, "no perturbation was run".to_owned());
        }
        reasons
    }

    fn names(&self, is_meant: impl Fn(&ScenarioOutcome) -> bool) -> Vec<String> {
        self.scenarios
            .iter()
            .filter(|scenario| is_meant(scenario))
            .map(|scenario| scenario.case.clone())
            .collect()
    }
}

impl ScenarioOutcome {
    /// Number of perturbations in its plan.
    fn planned(&self) -> usize {
        self.counts.space - self.counts.cut
    }
}
