//! No keyed list of a result holds a key twice, unless it did before.

use super::{Held, Trace};
use crate::exchange::Outcome;
use crate::matching::{self, Rules};

pub(super) fn hold(trace: &Trace, rules: &Rules) -> Held {
    let Some(result) = trace.main.answer().and_then(|answer| answer.object.as_ref()) else {
        return Held::NoOccasion;
    };
    let before = trace.input.as_ref().map(|input| matching::double_keys(input, rules)).unwrap_or_default();
    let after = matching::double_keys(result, rules);
    match after.into_iter().find(|place| !before.contains(place)) {
        Some(place) => Held::No(format!("{place} is there twice")),
        None => Held::Yes,
    }
}

/// The first element of the first keyed list stands twice.
pub(super) fn damage(trace: &Trace, rules: &Rules) -> Vec<Trace> {
    let mut damaged = trace.clone();
    let Outcome::Answered(answer) = &mut damaged.main.outcome else { return Vec::new() };
    let Some(object) = &mut answer.object else { return Vec::new() };
    if matching::double_a_key(object, rules) { vec![damaged] } else { Vec::new() }
}
