//! **gaps**: a changed leaf inside `onlyTouches` whose loss no case of the contract notices: a clause is missing.
//!
//! Leaves of several cases are the same if their places are: list elements are not distinguished (`[]`), nor are keys of free
//! maps (labels) from the case itself (`*`); keys from the webhook are.

use std::collections::{BTreeMap, BTreeSet};

use contract::expect::{Expect, Operator, Path, Step};
use contract::model::Contract;
use serde_json::Value;

use super::Recorded;
use crate::matching::{self, Rules};
use crate::observation::judge;
use crate::report::Gap;

/// The changed places, and whether a case notices the loss of the change.
#[derive(Debug, Default)]
pub struct Losses(BTreeMap<String, Loss>);

#[derive(Debug)]
struct Loss {
    /// The first case that changed the place, `<clause>/<case>`.
    case: String,
    noticed: bool,
}

impl Losses {
    /// Adds a case: checks for each changed leaf whether the case notices its loss. Ignores changes that the target declares.
    pub fn add(&mut self, contract: &Contract, id: &str, recorded: Recorded<'_>, extras: &[String]) {
        let (input, object) = (recorded.seen.input.as_ref(), recorded.seen.answer.object.as_ref());
        let (Some(input), Some(object)) = (input, object) else { return };
        let mut given = BTreeSet::new();
        names(input, &mut given);
        let changed = matching::changed_leaves(Some(input), Some(object), recorded.rules).into_iter();
        let inside = changed
            .filter(|path| matching::may_change(contract, path) && !matching::is_declared(extras, path));
        for path in inside {
            let fresh = || Loss { case: id.to_owned(), noticed: false };
            let loss = self.0.entry(place(&path, &given, recorded.rules)).or_insert_with(fresh);
            // It is enough that one case notices.
            loss.noticed = loss.noticed || notices(recorded, input, &path);
        }
    }

    /// The places whose loss a case notices.
    #[must_use]
    pub fn noticed(self) -> BTreeSet<String> {
        self.0.into_iter().filter(|(_, loss)| loss.noticed).map(|(place, _)| place).collect()
    }

    /// The places whose loss no case notices.
    #[must_use]
    pub fn gaps(self) -> Vec<Gap> {
        let missed = self.0.into_iter().filter(|(_, loss)| !loss.noticed);
        missed.map(|(path, loss)| Gap { path, case: loss.case }).collect()
    }
}

/// Whether the case fails if a path has its value in the input.
fn notices(recorded: Recorded<'_>, input: &Value, path: &Path) -> bool {
    let mut seen = recorded.seen.clone();
    if let Some(damaged) = &mut seen.answer.object {
        matching::put(damaged, path, matching::get(input, path).as_ref());
    }
    !judge(&recorded.case.then, &seen, recorded.rules).is_empty()
}

/// The changed leaves at places that a case would compare with a parameter that the target does not state.
#[must_use]
pub fn compared_with_parameters(recorded: Recorded<'_>) -> Vec<String> {
    let (input, object) = (recorded.seen.input.as_ref(), recorded.seen.answer.object.as_ref());
    let (Some(input), Some(object)) = (input, object) else { return Vec::new() };
    let is_parameter =
        |found: &matching::Assertion| matches!(found.expect, Expect::Operator(Operator::Parameter { .. }));
    let compared: Vec<Path> = super::places(&recorded.case.then, recorded.seen, recorded.rules)
        .into_iter()
        .filter(is_parameter)
        // Encoded content changes together with the text that contains it.
        .map(|found| {
            Path(found.path.0.into_iter().take_while(|step| !matches!(step, Step::Opened(_))).collect())
        })
        .collect();
    let mut given = BTreeSet::new();
    names(input, &mut given);
    let changed = matching::changed_leaves(Some(input), Some(object), recorded.rules).into_iter();
    let changed = changed.filter(|path| compared.iter().any(|prefix| path.0.starts_with(&prefix.0)));
    changed.map(|path| place(&path, &given, recorded.rules)).collect()
}

/// The place of a leaf across cases.
fn place(path: &Path, given: &BTreeSet<String>, rules: &Rules) -> String {
    let mut place = String::new();
    let mut rules = rules.clone();
    for (depth, step) in path.0.iter().enumerate() {
        match step {
            Step::Field(name) => {
                // A key of a free map from the case represents any key.
                let name = if rules.is_map() && given.contains(name) { "*" } else { name.as_str() };
                if !place.is_empty() {
                    place.push('.');
                }
                place.push_str(name);
            }
            // A list of scalars is one leaf.
            Step::Index(_) if depth + 1 == path.0.len() => {}
            Step::Index(_) | Step::Key(_) => place.push_str("[]"),
            Step::Opened(_) => place.push_str(&Path(vec![step.clone()]).to_string()),
        }
        rules = matching::below(&rules, &Path(vec![step.clone()]), None);
    }
    place
}

/// Every key of every map in a value.
fn names(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                found.insert(name.clone());
                names(value, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| names(item, found)),
        _ => {}
    }
}
