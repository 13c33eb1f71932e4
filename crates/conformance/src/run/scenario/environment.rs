//! Where a scenario runs, and whether it runs in real time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use contract::scenario::{Advance, Scenario, Step};
use substrate::embedded::ServedApi;
use substrate::envtest::{Envtest, Lane};

use super::steps::ScenarioEnd;
use crate::run::{Aggregated, PartState, Substrate};
use crate::target::Needs;

/// Why a scenario cannot run on a whole cluster.
const CLUSTER_HAS_CONTROLLERS: &str = "the cluster's own controllers would change its objects";

/// Where a scenario runs.
#[derive(Clone)]
pub(super) struct ScenarioEnvironment {
    /// Real clusters that are reserved for the scenario; `None`: embedded servers.
    pub(super) real: Option<RealClusters>,
    /// What embedded servers have beside the project's CRDs; real ones were started with the definitions.
    pub(super) needs: Needs,
    /// Kinds that embedded servers serve as an aggregated API server does.
    pub(super) aggregated: Option<Arc<Aggregated>>,
    /// Whether the target is outside of this process.
    pub(super) outside: bool,
    /// How long its steps wait.
    pub(super) waits: Duration,
    /// How the scenario runs, if not as the report says of the substrate.
    pub(super) deviation: Option<String>,
}

/// Clusters of a control plane, which scenarios use one after the other.
#[derive(Clone)]
pub(super) struct RealClusters {
    pub(super) control_plane: Arc<Envtest>,
    pub(super) lane: Lane,
}

impl ScenarioEnvironment {
    /// The environment of a scenario in a lane. In real time it may wait as long as the time budget; a scenario that waits
    /// longer runs in virtual time, if the target can.
    pub(super) fn of(shared: &PartState<'_>, scenario: &Scenario, lane: usize) -> Result<Self, ScenarioEnd> {
        let outside = shared.target.is_outside();
        let real = match &shared.options.substrate {
            Substrate::Envtest(control_plane) => {
                Some(RealClusters { control_plane: Arc::clone(control_plane), lane: Lane::nth(lane) })
            }
            Substrate::Direct(_) | Substrate::Embedded | Substrate::Aggregated(_) | Substrate::Whole(_) => {
                None
            }
        };
        let (waits, budget) = (Waits::of(scenario.steps.iter().map(Pause::of)), shared.options.time_budget);
        let too_long = (waits.longest > budget).then(|| {
            let (wait, budget) = (waits.longest.as_secs(), budget.as_secs());
            format!("it waits {wait} s, more than the time budget of {budget} s (--time-budget)")
        });
        let (real, deviation) = match (real, too_long) {
            (_, Some(reason)) if outside => return Err(ScenarioEnd::NotSupported(reason)),
            (Some(_), Some(reason)) => {
                (None, Some(format!("on embedded API servers in virtual time: {reason}")))
            }
            (Some(_), None) if !outside && let Some(reason) = own_servers(scenario) => {
                (None, Some(format!("on embedded API servers in virtual time: {reason}")))
            }
            (Some(real), None) if !scenario.faults.is_empty() => {
                (Some(real), Some("without its faults".to_owned()))
            }
            (None, _) if matches!(shared.options.substrate, Substrate::Whole(_)) => {
                (None, Some(format!("on embedded API servers in virtual time: {CLUSTER_HAS_CONTROLLERS}")))
            }
            (real, _) => (real, None),
        };
        let aggregated = match &shared.options.substrate {
            Substrate::Aggregated(aggregated) => Some(Arc::clone(aggregated)),
            _ => None,
        };
        let needs = shared.target.needs().clone();
        Ok(Self { real, needs, aggregated, outside, waits: waits.total, deviation })
    }

    /// What its embedded servers serve.
    pub(super) fn served_api(&self) -> ServedApi<'_> {
        self.needs.served_api(self.aggregated.as_ref().map(|aggregated| &aggregated.api))
    }

    /// Whether its clusters have failed.
    pub(super) fn is_failed(&self) -> bool {
        self.real.as_ref().is_some_and(|real| real.control_plane.death().is_some())
    }

    /// Whether it runs in real time, since its target or its clusters are outside of this process.
    pub(super) fn is_real_time(&self) -> bool {
        self.outside || self.real.is_some()
    }
}

/// Why a scenario needs separate embedded servers, if it does.
fn own_servers(scenario: &Scenario) -> Option<&'static str> {
    /// The months around the time at which the embedded servers' clock begins.
    const MONTHS: [&str; 2] = ["2025-12-", "2026-01-"];
    let text = format!("{scenario:?}");
    if MONTHS.iter().any(|month| text.contains(month)) {
        return Some("its dates are those of a clock that begins at 2026-01-01");
    }
    if text.contains("\"ControllerRegistration\"") {
        return Some("it leaves objects with generated names, which scenarios after it would find");
    }
    let has_endpoints = text.contains("\"Endpoints\"") && text.contains("\"kubernetes\"");
    has_endpoints.then_some("it has the Endpoints of the API server, which a real one keeps as its own")
}

/// Waiting times of steps, without the time that the target takes.
#[derive(Debug, PartialEq, Eq)]
struct Waits {
    /// All of them.
    total: Duration,
    /// The longest of one step.
    longest: Duration,
}

/// How one step waits.
struct Pause<'a> {
    step: &'a str,
    advance: Option<&'a Advance>,
    /// How long something must not happen.
    hold: Duration,
}

impl<'a> Pause<'a> {
    fn of(step: &'a Step) -> Self {
        let hold = step.never.as_ref().map_or(Duration::ZERO, |never| never.hold);
        Self { step: &step.name, advance: step.advance.as_ref(), hold }
    }
}

impl Waits {
    fn of<'a>(pauses: impl IntoIterator<Item = Pause<'a>>) -> Self {
        let mut waits = Self { total: Duration::ZERO, longest: Duration::ZERO };
        let mut ends = BTreeMap::new();
        for Pause { step, advance, hold } in pauses {
            let mut until = waits.total;
            if let Some(advance) = advance {
                let from = advance.after.as_deref().and_then(|after| ends.get(after)).copied();
                until = until.max(from.unwrap_or(until) + advance.to);
            }
            let moved = until.saturating_sub(waits.total);
            waits.longest = waits.longest.max(moved).max(hold);
            waits.total = until + hold;
            ends.insert(step, waits.total);
        }
        waits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_that_earlier_steps_waited_counts_for_later_steps() {
        let advance = |seconds, after: Option<&str>| Advance {
            to: Duration::from_secs(seconds),
            after: after.map(str::to_owned),
        };
        let (two, three, eight) = (advance(2, None), advance(3, Some("a")), advance(8, None));
        let (ten, hundred) = (advance(10, Some("a")), advance(100, Some("b")));
        let table = [
            (vec![("a", None, 0)], (0, 0)),
            (vec![("a", None, 0), ("b", Some(&eight), 0), ("c", Some(&ten), 0)], (10, 8)),
            (vec![("a", Some(&two), 0), ("b", Some(&ten), 0), ("c", Some(&three), 0)], (12, 10)),
            (vec![("a", Some(&two), 0), ("b", None, 0), ("c", Some(&hundred), 0)], (102, 100)),
            (vec![("a", None, 7), ("b", Some(&eight), 9), ("c", Some(&ten), 0)], (24, 9)),
        ];
        for (steps, (total, longest)) in table {
            let [total, longest] = [total, longest].map(Duration::from_secs);
            let pauses = steps.into_iter().map(|(step, advance, hold)| Pause {
                step,
                advance,
                hold: Duration::from_secs(hold),
            });
            assert_eq!(Waits::of(pauses), Waits { total, longest });
        }
    }
}
