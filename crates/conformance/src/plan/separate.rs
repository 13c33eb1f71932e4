//! Cases that run outside of groups.

use contract::case::When;
use contract::gardener::decision::RunsOn;

/// Which module runs cases that no group has, in the order in which they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Separate {
    /// Decisions about versions.
    Decisions,
    /// Objects that Gardener emits: they need no request.
    Emitted,
    /// Cases that start the target with a configuration of their own.
    Configurations,
    /// Cases that act on the target's program.
    Processes,
    /// Scenarios: each has its own clusters and target.
    Scenarios,
    /// A controller maintains a Shoot; each case has its own garden.
    Maintenances,
}

impl Separate {
    /// The module for a case; `None` if a group runs it.
    pub(super) fn of(when: &When) -> Option<Self> {
        match when {
            When::Steps(_) => Some(Self::Scenarios),
            When::Configuration => Some(Self::Configurations),
            When::Process(_) => Some(Self::Processes),
            When::Emitted(_) => Some(Self::Emitted),
            When::Decision(decision) => match decision.runs_on {
                RunsOn::Decision => Some(Self::Decisions),
                RunsOn::Reconcile => Some(Self::Maintenances),
                RunsOn::Admission => None,
            },
            When::Admission { .. } | When::DeleteCollection { .. } | When::Registration { .. } => None,
        }
    }
}
