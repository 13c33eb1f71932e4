//! No keyed list of a result holds a key twice, unless it did before.

use super::{LawOutcome, Trace, breaks};
use crate::exchange::Outcome;
use crate::matching::{self, Rules};

pub(super) fn check(trace: &Trace, rules: &Rules) -> LawOutcome {
    let Some(result) = trace.main.answer().and_then(|answer| answer.object.as_ref()) else {
        return LawOutcome::NotApplicable;
    };
    let before = trace.input.as_ref().map(|input| matching::double_keys(input, rules)).unwrap_or_default();
    let after = matching::double_keys(result, rules);
    match after.into_iter().find(|place| !before.contains(place)) {
        Some(place) => breaks(format!("{place} occurs twice")),
        None => LawOutcome::Kept,
    }
}

/// Duplicates the first element of the first keyed list.
pub(super) fn damage(trace: &Trace, rules: &Rules) -> Vec<Trace> {
    let mut damaged = trace.clone();
    let Outcome::Answered(answer) = &mut damaged.main.outcome else { return Vec::new() };
    let Some(object) = &mut answer.object else { return Vec::new() };
    if matching::double_a_key(object, rules) { vec![damaged] } else { Vec::new() }
}
