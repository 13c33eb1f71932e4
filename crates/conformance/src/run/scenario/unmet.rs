//! Expected states of a step that have not come about, and forbidden ones that have.

use std::collections::BTreeMap;

use contract::expect;
use contract::model::Contract;
use contract::scenario::{ObjectRef, Side, State, Step};
use serde_json::Value;

use super::clusters::{Clusters, head};
use super::object_watch::ObjectWatch;
use super::steps::ScenarioEnd;
use crate::observation;
use crate::report::Check;

/// The state at the begin of a step.
pub(super) struct StepBaseline {
    /// Number of reconciliations of its witness.
    pub(super) reconciles: f64,
    /// The objects that it names.
    pub(super) objects: BTreeMap<(Side, ObjectRef), Option<Value>>,
    /// Watches for its histories.
    pub(super) seen: Vec<ObjectWatch>,
}

impl StepBaseline {
    /// Reads the current state.
    pub(super) async fn of(clusters: &Clusters, step: &Step) -> Result<Self, ScenarioEnd> {
        let mut objects = BTreeMap::new();
        for State { side, object, .. } in &step.eventually {
            let found = clusters.read(*side, object).await.map_err(ScenarioEnd::Environment)?;
            objects.insert((*side, object.clone()), found);
        }
        let mut seen = Vec::new();
        for history in &step.history {
            seen.push(ObjectWatch::start(clusters, history.side, &history.object).await?);
        }
        Ok(Self { reconciles: 0.0, objects, seen })
    }
}

/// Checks expected states; returns those that have not come about.
pub(super) async fn states(
    clusters: &Clusters,
    contract: &Contract,
    step: &Step,
    before: &StepBaseline,
) -> Vec<Check> {
    let mut checks = Vec::new();
    for state in &step.eventually {
        let found = match clusters.read(state.side, &state.object).await {
            Ok(found) => found,
            Err(error) => {
                checks.push(check("eventually", step, state, "", "an answer", &error));
                continue;
            }
        };
        let input = before.objects.get(&(state.side, state.object.clone())).and_then(Option::as_ref);
        let rules = contract.rules(&head(&state.object));
        let mismatches = expect::compare(&state.expect, input, found.as_ref(), &rules);
        checks.extend(mismatches.iter().map(|mismatch| {
            let got = format_value(&state.object, found.as_ref(), &mismatch.path, mismatch.got.as_ref());
            check("eventually", step, state, &mismatch.path.to_string(), &mismatch.want, &got)
        }));
    }
    checks
}

/// Checks expected histories; returns those that have not come about.
pub(super) fn histories(
    contract: &Contract,
    step: &Step,
    before: &StepBaseline,
) -> Result<Vec<Check>, ScenarioEnd> {
    let mut checks = Vec::new();
    for (history, seen) in step.history.iter().zip(&before.seen) {
        let rules = contract.rules(&head(&history.object));
        let states = seen.states()?;
        let mut left = states.iter();
        for (at, wanted) in history.states.iter().enumerate() {
            if !left.any(|state| expect::holds(wanted, None, state.as_ref(), &rules)) {
                checks.push(Check {
                    part: "history".to_owned(),
                    path: format!("{}: {} {}[{at}]", step.name, history.side.name(), history.object),
                    want: expect::words(wanted),
                    got: format!("{} states, none of which matches", states.len()),
                    ..Check::default()
                });
                break;
            }
        }
    }
    Ok(checks)
}

/// Checks forbidden states; returns those that came about.
pub(super) async fn came_about(
    clusters: &Clusters,
    contract: &Contract,
    step: &Step,
    watched: &[(&State, ObjectWatch)],
) -> Result<Vec<Check>, ScenarioEnd> {
    let mut checks = Vec::new();
    for (state, seen) in watched {
        let found = clusters.read(state.side, &state.object).await.map_err(ScenarioEnd::Environment)?;
        let rules = contract.rules(&head(&state.object));
        let mut states = seen.states()?.into_iter().chain([found]);
        if states.any(|found| expect::holds(&state.expect, None, found.as_ref(), &rules)) {
            let want = format!("never {}", expect::words(&state.expect));
            checks.push(check("never", step, state, "", &want, "it came about"));
        }
    }
    Ok(checks)
}

/// A human-readable value at a path of an object, without secrets.
pub(super) fn format_value(
    named: &ObjectRef,
    found: Option<&Value>,
    path: &expect::Path,
    value: Option<&Value>,
) -> String {
    let of_kind = head(named);
    observation::format_masked(Some(found.unwrap_or(&of_kind)), &path.to_string(), value)
}

fn check(part: &str, step: &Step, state: &State, path: &str, want: &str, got: &str) -> Check {
    let place = if path.is_empty() { String::new() } else { format!(" {path}") };
    Check {
        part: part.to_owned(),
        path: format!("{}: {} {}{place}", step.name, state.side.name(), state.object),
        want: want.to_owned(),
        got: got.to_owned(),
        ..Check::default()
    }
}
