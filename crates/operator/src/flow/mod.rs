//! What the operator does with a Garden, as a value: steps with names, what each waits for, and when it is left out.
//!
//! - [`RECONCILIATION`] and [`DELETION`] — the two flows;
//! - [`FlowCondition`] — the conditions of steps.
//!
//! Names, dependencies and conditions are those of the original's v1.82.0 (`pkg/operator/controller/garden/garden`):
//! users see the names in `status.lastOperation`. The controller [`garden`](crate::controllers::garden) runs these flows. How
//! long a step waits for a component belongs to that component; [`FlowRetry`] is what the flow itself says.

mod condition;
mod deletion;
mod reconciliation;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use api::operator::Garden;

pub use self::condition::FlowCondition;
pub use self::deletion::DELETION;
pub use self::reconciliation::RECONCILIATION;

/// Steps in the order in which they are listed; each runs as soon as those that it waits for have ended.
#[derive(Clone, Copy, Debug)]
pub struct Flow {
    /// Its name in logs.
    pub name: &'static str,
    /// Its steps.
    pub steps: &'static [FlowStep],
}

/// A step of a flow.
#[derive(Clone, Copy, Debug)]
pub struct FlowStep {
    /// Its name, unique in the flow.
    pub name: &'static str,
    /// Names of the steps that it waits for. One that is left out counts as ended.
    pub after: &'static [&'static str],
    /// When it is not left out.
    pub when: FlowCondition,
    /// How a failure is tried again, if it is.
    pub retry: Option<FlowRetry>,
}

/// How a step that failed is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowRetry {
    /// The pause between two attempts.
    pub every: Duration,
    /// The time that all attempts have together.
    pub within: Duration,
}

/// What is wrong with the steps of a flow.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FlowFault {
    /// A name that is there already.
    #[error("the step {0:?} is listed twice: rename one")]
    Twice(&'static str),
    /// A step waits for one that is not listed before it; that excludes circles, too.
    #[error(
        "the step {step:?} waits for {dependency:?}, which is not listed before it: list it, or move it up"
    )]
    NotBefore {
        /// The step.
        step: &'static str,
        /// What it waits for.
        dependency: &'static str,
    },
}

impl Flow {
    /// A flow of these steps; [`faults`](Self::faults) judges them.
    #[must_use]
    pub const fn new(name: &'static str, steps: &'static [FlowStep]) -> Self {
        Self { name, steps }
    }

    /// The steps that run for this Garden, in their order.
    ///
    /// `hvpa` says whether the operator's feature gate `HVPA` is on.
    pub fn applicable<'a>(
        &self,
        garden: &'a Garden,
        hvpa: bool,
    ) -> impl Iterator<Item = &'static FlowStep> + use<'a> {
        self.steps.iter().filter(move |step| step.when.holds(garden, hvpa))
    }

    /// Everything that is wrong with its steps.
    #[must_use]
    pub fn faults(&self) -> Vec<FlowFault> {
        let mut before = BTreeSet::new();
        let mut faults = Vec::new();
        for step in self.steps {
            let missing = step.after.iter().copied().filter(|dependency| !before.contains(dependency));
            faults.extend(missing.map(|dependency| FlowFault::NotBefore { step: step.name, dependency }));
            if !before.insert(step.name) {
                faults.push(FlowFault::Twice(step.name));
            }
        }
        faults
    }
}

impl fmt::Display for Flow {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(text, "{}", self.name)?;
        self.steps.iter().try_for_each(|step| write!(text, "{step}"))
    }
}

impl fmt::Display for FlowStep {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(text, "- {}", self.name)?;
        if self.when != FlowCondition::Always {
            writeln!(text, "    only if {}", self.when)?;
        }
        if let Some(FlowRetry { every, within }) = self.retry {
            writeln!(text, "    tried again every {every:?}, for {within:?}")?;
        }
        self.after.iter().try_for_each(|dependency| writeln!(text, "    after {dependency}"))
    }
}

/// A step that always runs, once.
const fn step(name: &'static str, after: &'static [&'static str]) -> FlowStep {
    FlowStep { name, after, when: FlowCondition::Always, retry: None }
}

impl FlowStep {
    const fn only(self, when: FlowCondition) -> Self {
        Self { when, ..self }
    }

    /// Pause and time of all attempts in seconds.
    const fn retried(self, every: u64, within: u64) -> Self {
        let retry = FlowRetry { every: Duration::from_secs(every), within: Duration::from_secs(within) };
        Self { retry: Some(retry), ..self }
    }
}
