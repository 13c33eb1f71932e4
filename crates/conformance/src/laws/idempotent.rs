//! Applying twice gives what applying once gave.

use super::{Held, Trace, difference, extra, words};
use crate::matching::{self, Rules};

pub(super) fn hold(trace: &Trace, rules: &Rules) -> Held {
    let (Some(once), Some(again)) = (trace.main.answer(), &trace.again) else { return Held::NoOccasion };
    match again.answer() {
        Some(twice)
            if twice.allowed && matching::same(once.object.as_ref(), twice.object.as_ref(), rules) =>
        {
            Held::Yes
        }
        Some(twice) if twice.allowed => Held::No(format!(
            "sent again, the result changes: {}",
            difference(once.object.as_ref(), twice.object.as_ref(), rules)
        )),
        _ => Held::No(format!("sent again, the result is not allowed: {}", words(again))),
    }
}

pub(super) fn damage(trace: &Trace) -> Vec<Trace> {
    vec![Trace { again: trace.again.as_ref().map(extra), ..trace.clone() }]
}
