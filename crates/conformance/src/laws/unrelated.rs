//! An unrelated object gets no patch.

use super::{LawOutcome, Trace, difference, extra};
use crate::exchange::Outcome;
use crate::matching::Rules;

pub(super) fn check(trace: &Trace, rules: &Rules) -> LawOutcome {
    let Some(unrelated) = &trace.unrelated else { return LawOutcome::NotApplicable };
    match &unrelated.outcome {
        // Refusing an unknown object is fine, too.
        Outcome::Answered(answer) if !answer.patched => LawOutcome::Kept,
        Outcome::Answered(answer) => LawOutcome::Broken(format!(
            "an unrelated object is changed: {}",
            difference(None, answer.object.as_ref(), rules)
        )),
        Outcome::Garbled(bad) => {
            LawOutcome::Broken(format!("an unrelated object gets no valid answer: {bad}"))
        }
        Outcome::Late(timeout) => {
            LawOutcome::Broken(format!("an unrelated object gets no answer within {timeout:?}"))
        }
        Outcome::NotServed | Outcome::NotPut(_) | Outcome::Unreachable(_) => LawOutcome::NotApplicable,
    }
}

pub(super) fn damage(trace: &Trace) -> Vec<Trace> {
    vec![Trace { unrelated: trace.unrelated.as_ref().map(extra), ..trace.clone() }]
}
