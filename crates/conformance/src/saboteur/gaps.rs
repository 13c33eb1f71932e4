//! **gaps**: a changed leaf inside `onlyTouches` whose loss no case of the contract notices: a clause is missing.
//!
//! Leaves of several cases are one if their places are: elements that were there before the webhook are any (`[]`),
//! elements that it added go by their key.

use std::collections::BTreeMap;

use contract::expect::{Path, Step};
use contract::model::Contract;
use serde_json::Value;

use super::Recorded;
use crate::matching;
use crate::observation::judge;
use crate::report::Gap;

/// A changed leaf of one case, and whether the case notices its loss.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lost {
    /// The place, across cases.
    pub place: String,
    /// `<clause>/<case>`.
    pub case: String,
    /// Whether the case fails without it.
    pub noticed: bool,
}

/// What becomes of a case when each changed leaf is lost in turn.
#[must_use]
pub fn losses(contract: &Contract, id: &str, recorded: Recorded<'_>) -> Vec<Lost> {
    let (input, object) = (recorded.seen.input.as_ref(), recorded.seen.answer.object.as_ref());
    let (Some(input), Some(object)) = (input, object) else { return Vec::new() };
    let changed = matching::changed_leaves(Some(input), Some(object), recorded.rules);
    let inside = changed.into_iter().filter(|path| matching::touches(&contract.only_touches, path));
    inside
        .map(|path| {
            let mut seen = recorded.seen.clone();
            if let Some(damaged) = &mut seen.answer.object {
                matching::put(damaged, &path, matching::get(input, &path).as_ref());
            }
            let noticed = !judge(&recorded.case.then, &seen, recorded.rules).is_empty();
            Lost { place: place(&path, input), case: id.to_owned(), noticed }
        })
        .collect()
}

/// Places whose loss is noticed nowhere, with the first case that changed them.
#[must_use]
pub fn gaps(losses: &[Lost]) -> Vec<Gap> {
    let mut places: BTreeMap<&str, (&str, bool)> = BTreeMap::new();
    for lost in losses {
        let entry = places.entry(&lost.place).or_insert((&lost.case, false));
        entry.1 |= lost.noticed;
    }
    let missed = places.into_iter().filter(|(_, (_, noticed))| !noticed);
    missed.map(|(path, (case, _))| Gap { path: path.to_owned(), case: case.to_owned() }).collect()
}

/// The place of a leaf across cases.
fn place(path: &Path, input: &Value) -> String {
    let mut place = String::new();
    for (depth, step) in path.0.iter().enumerate() {
        let there = || matching::get(input, &Path(path.0[..=depth].to_vec())).is_some();
        match step {
            Step::Field(name) if place.is_empty() => place.push_str(name),
            Step::Field(name) => {
                place.push('.');
                place.push_str(name);
            }
            Step::Key(_) if there() => place.push_str("[]"),
            Step::Index(_) => place.push_str("[]"),
            Step::Key(_) | Step::Opened(_) => place.push_str(&Path(vec![step.clone()]).to_string()),
        }
    }
    place
}
