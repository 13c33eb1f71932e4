//! An unrelated object gets no patch.

use super::{LawOutcome, Trace, differs, extra, fails};
use crate::exchange::Outcome;
use crate::matching::Rules;
use crate::report::ExchangeFailure;

pub(super) fn check(trace: &Trace, rules: &Rules) -> LawOutcome {
    let Some(unrelated) = &trace.unrelated else { return LawOutcome::NotApplicable };
    match &unrelated.outcome {
        // Refusing an unknown object is fine, too.
        Outcome::Answered(answer) if !answer.patched => LawOutcome::Kept,
        Outcome::Answered(answer) => {
            let sent = formats::json::document(&unrelated.request).unwrap_or_default();
            let sent = &sent["request"]["object"];
            differs("an unrelated object is changed", (Some(sent), answer.object.as_ref()), rules)
        }
        Outcome::Garbled(bad) => {
            fails(format!("an unrelated object gets no valid answer: {bad}"), bad.failure())
        }
        Outcome::Late(timeout) => {
            let text = format!("an unrelated object gets no answer within {timeout:?}");
            fails(text, ExchangeFailure::Late)
        }
        Outcome::NotServed | Outcome::NotPut(_) | Outcome::Unreachable(_) => LawOutcome::NotApplicable,
    }
}

pub(super) fn damage(trace: &Trace) -> Vec<Trace> {
    vec![Trace { unrelated: trace.unrelated.as_ref().map(extra), ..trace.clone() }]
}
