//! What of a step has not come about, and what has that never may.

use std::collections::BTreeMap;

use contract::expect;
use contract::model::Contract;
use contract::scenario::{ObjectRef, Side, State, Step};
use serde_json::Value;

use super::clusters::{Clusters, head};
use super::seen::Seen;
use super::steps::Ended;
use crate::observation;
use crate::report::Check;

/// What a step found when it began.
pub(super) struct Before {
    /// How often its witness had reconciled.
    pub(super) reconciles: f64,
    /// What it speaks of, as it was.
    pub(super) objects: BTreeMap<(Side, ObjectRef), Option<Value>>,
    /// Watchers of its histories.
    pub(super) seen: Vec<Seen>,
}

impl Before {
    /// What there is now.
    pub(super) async fn of(clusters: &Clusters, step: &Step) -> Result<Self, Ended> {
        let mut objects = BTreeMap::new();
        for State { side, object, .. } in &step.eventually {
            let found = clusters.read(*side, object).await.map_err(Ended::Environment)?;
            objects.insert((*side, object.clone()), found);
        }
        let mut seen = Vec::new();
        for history in &step.history {
            seen.push(Seen::follow(clusters, history.side, &history.object).await?);
        }
        Ok(Self { reconciles: 0.0, objects, seen })
    }
}

/// The states that have not come about.
pub(super) async fn states(
    clusters: &Clusters,
    contract: &Contract,
    step: &Step,
    before: &Before,
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
            let got = shown(&state.object, found.as_ref(), &mismatch.path, mismatch.got.as_ref());
            check("eventually", step, state, &mismatch.path.to_string(), &mismatch.want, &got)
        }));
    }
    checks
}

/// The histories that have not been seen yet.
pub(super) fn histories(contract: &Contract, step: &Step, before: &Before) -> Result<Vec<Check>, Ended> {
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
                    got: format!("{} states, none of them so", states.len()),
                });
                break;
            }
        }
    }
    Ok(checks)
}

/// The states that must never come about and did.
pub(super) async fn came_about(
    clusters: &Clusters,
    contract: &Contract,
    step: &Step,
    watched: &[(&State, Seen)],
) -> Result<Vec<Check>, Ended> {
    let mut checks = Vec::new();
    for (state, seen) in watched {
        let found = clusters.read(state.side, &state.object).await.map_err(Ended::Environment)?;
        let rules = contract.rules(&head(&state.object));
        let mut states = seen.states()?.into_iter().chain([found]);
        if states.any(|found| expect::holds(&state.expect, None, found.as_ref(), &rules)) {
            let want = format!("never {}", expect::words(&state.expect));
            checks.push(check("never", step, state, "", &want, "it came about"));
        }
    }
    Ok(checks)
}

/// A value at a place of an object as a person reads it, without secrets.
pub(super) fn shown(
    named: &ObjectRef,
    found: Option<&Value>,
    path: &expect::Path,
    value: Option<&Value>,
) -> String {
    let of_kind = head(named);
    observation::shown(Some(found.unwrap_or(&of_kind)), &path.to_string(), value)
}

fn check(part: &str, step: &Step, state: &State, path: &str, want: &str, got: &str) -> Check {
    let place = if path.is_empty() { String::new() } else { format!(" {path}") };
    Check {
        part: part.to_owned(),
        path: format!("{}: {} {}{place}", step.name, state.side.name(), state.object),
        want: want.to_owned(),
        got: got.to_owned(),
    }
}
