//! How far a flow has come: which steps can begin, how much is done, what runs. Nothing here waits or asks a cluster.

use api::operator::Garden;

use super::error::ErrorList;
use crate::flow::{Flow, FlowStep};

/// A flow in execution.
#[derive(Clone, Debug)]
pub(super) struct FlowState {
    name: &'static str,
    steps: Vec<TrackedStep>,
    /// What failed, in the order in which it did.
    errors: Vec<String>,
}

/// What is told about a flow in execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FlowProgress {
    /// How much is done, in percent.
    pub(super) percent: i32,
    /// What runs, or that the flow begins or has ended.
    pub(super) description: String,
}

#[derive(Clone, Debug)]
struct TrackedStep {
    step: &'static FlowStep,
    is_left_out: bool,
    stage: Stage,
}

/// Where a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Waits,
    Runs,
    Failed,
    /// It has ended well, or its turn has come and it is left out.
    Ended,
}

impl FlowState {
    /// A flow that has not begun; `hvpa` says whether the feature gate `HVPA` is on.
    pub(super) fn new(flow: &Flow, garden: &Garden, hvpa: bool) -> Self {
        let steps = flow.steps.iter().map(|step| TrackedStep {
            step,
            is_left_out: !step.when.holds(garden, hvpa),
            stage: Stage::Waits,
        });
        Self { name: flow.name, steps: steps.collect(), errors: Vec::new() }
    }

    /// Begins each step whose turn has come. One that is left out ends at once, but not before what it waits for has ended.
    pub(super) fn begin(&mut self) -> Vec<&'static FlowStep> {
        let mut begun = Vec::new();
        // Each step is listed after those that it waits for, so that one pass finds all.
        for index in 0..self.steps.len() {
            let TrackedStep { step, is_left_out, stage } = self.steps[index];
            if stage != Stage::Waits || !step.after.iter().all(|name| self.has_ended(name)) {
                continue;
            }
            self.steps[index].stage = if is_left_out { Stage::Ended } else { Stage::Runs };
            if !is_left_out {
                begun.push(step);
            }
        }
        begun
    }

    /// A step has ended, with an error or without.
    pub(super) fn end(&mut self, step: &FlowStep, error: Option<&str>) {
        if let Some(error) = error {
            self.errors.push(format!("task \"{}\" failed: {error}", step.name));
        }
        let stage = if error.is_some() { Stage::Failed } else { Stage::Ended };
        for tracked in self.steps.iter_mut().filter(|tracked| tracked.step.name == step.name) {
            tracked.stage = stage;
        }
    }

    /// Whether a step runs; if none does, the flow has ended.
    pub(super) fn is_running(&self) -> bool {
        self.steps.iter().any(|tracked| tracked.stage == Stage::Runs)
    }

    /// What is to be told about it.
    pub(super) fn progress(&self) -> FlowProgress {
        let counted = || self.steps.iter().filter(|tracked| !tracked.is_left_out);
        let ended = counted().filter(|tracked| tracked.stage == Stage::Ended).count();
        let percent = (100 * ended).checked_div(counted().count()).unwrap_or(100);
        let description = match percent {
            0 => format!("Starting {}", self.name),
            100 => format!("{} finished", self.name),
            _ => self.running(),
        };
        FlowProgress { percent: i32::try_from(percent).unwrap_or(100), description }
    }

    /// What the flow has come to.
    pub(super) fn result(self) -> Result<(), ErrorList> {
        if self.errors.is_empty() { Ok(()) } else { Err(ErrorList(self.errors)) }
    }

    fn has_ended(&self, name: &str) -> bool {
        self.steps.iter().any(|tracked| tracked.step.name == name && tracked.stage == Stage::Ended)
    }

    /// Names of the running steps in alphabetical order.
    fn running(&self) -> String {
        let running = self.steps.iter().filter(|tracked| tracked.stage == Stage::Runs);
        let mut names: Vec<&str> = running.map(|tracked| tracked.step.name).collect();
        names.sort_unstable();
        names.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::flow::{FlowCondition, RECONCILIATION};

    const fn step(name: &'static str, after: &'static [&'static str], when: FlowCondition) -> FlowStep {
        FlowStep { name, after, when, retry: None }
    }

    const STEPS: &[FlowStep] = &[
        step("z", &[], FlowCondition::Always),
        step("a", &[], FlowCondition::Always),
        step("left out", &["z"], FlowCondition::Hvpa),
        step("last", &["left out"], FlowCondition::Always),
    ];
    const FLOW: Flow = Flow::new("Test flow", STEPS);

    fn garden() -> Garden {
        serde_json::from_value(json!({"metadata": {"name": "garden"}})).unwrap()
    }

    fn names(steps: &[&'static FlowStep]) -> Vec<&'static str> {
        steps.iter().map(|step| step.name).collect()
    }

    fn progress(percent: i32, description: &str) -> FlowProgress {
        FlowProgress { percent, description: description.to_owned() }
    }

    #[test]
    fn steps_begin_when_those_before_them_have_ended() {
        let mut state = FlowState::new(&FLOW, &garden(), false);
        assert_eq!(state.progress(), progress(0, "Starting Test flow"));
        assert_eq!(names(&state.begin()), ["z", "a"]);
        assert_eq!(state.progress(), progress(0, "Starting Test flow"));
        state.end(&STEPS[1], None);
        assert!(state.begin().is_empty());
        assert_eq!(state.progress(), progress(33, "z"));
        state.end(&STEPS[0], None);
        assert_eq!(names(&state.begin()), ["last"]);
        assert_eq!(state.progress(), progress(66, "last"));
        state.end(&STEPS[3], None);
        assert!(!state.is_running());
        assert_eq!(state.progress(), progress(100, "Test flow finished"));
        assert_eq!(state.result(), Ok(()));
    }

    #[test]
    fn running_steps_are_named_in_order() {
        let mut state = FlowState::new(&FLOW, &garden(), true);
        state.begin();
        state.end(&STEPS[0], None);
        state.begin();
        assert_eq!(state.progress(), progress(25, "a, left out"));
    }

    #[test]
    fn a_failure_holds_up_what_follows_it_alone() {
        let mut state = FlowState::new(&FLOW, &garden(), false);
        state.begin();
        state.end(&STEPS[0], Some("no disk"));
        assert!(state.begin().is_empty());
        assert!(state.is_running());
        state.end(&STEPS[1], Some("no net"));
        assert!(!state.is_running());
        let want = ["task \"z\" failed: no disk", "task \"a\" failed: no net"].map(str::to_owned);
        assert_eq!(state.result(), Err(ErrorList(want.to_vec())));
    }

    /// What the original counts without a rotation and with the vertical pod autoscaler.
    #[test]
    fn a_reconciliation_without_rotation_has_37_steps() {
        let garden =
            json!({"spec": {"runtimeCluster": {"settings": {"verticalPodAutoscaler": {"enabled": true}}}}});
        let garden: Garden = serde_json::from_value(garden).unwrap();
        let mut state = FlowState::new(&RECONCILIATION, &garden, false);
        let mut ended = 0;
        loop {
            let begun = state.begin();
            if begun.is_empty() {
                break;
            }
            ended += begun.len();
            for step in begun {
                state.end(step, None);
            }
        }
        assert_eq!(ended, 37);
        assert_eq!(state.progress(), progress(100, "Garden reconciliation finished"));
    }
}
