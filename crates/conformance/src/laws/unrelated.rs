//! An object that the webhook has nothing to do with gets no patch.

use super::{Held, Trace, difference, extra};
use crate::exchange::Outcome;
use crate::matching::Rules;

pub(super) fn hold(trace: &Trace, rules: &Rules) -> Held {
    let Some(unrelated) = &trace.unrelated else { return Held::NoOccasion };
    match &unrelated.outcome {
        // Refusing what it cannot read is no patch either.
        Outcome::Answered(answer) if !answer.patched => Held::Yes,
        Outcome::Answered(answer) => Held::No(format!(
            "an unrelated object is changed: {}",
            difference(None, answer.object.as_ref(), rules)
        )),
        Outcome::Garbled(bad) => Held::No(format!("an unrelated object gets no proper answer: {bad}")),
        Outcome::Late(timeout) => Held::No(format!("an unrelated object gets no answer within {timeout:?}")),
        Outcome::NotServed | Outcome::NotPut(_) | Outcome::Unreachable(_) => Held::NoOccasion,
    }
}

pub(super) fn damage(trace: &Trace) -> Vec<Trace> {
    vec![Trace { unrelated: trace.unrelated.as_ref().map(extra), ..trace.clone() }]
}
