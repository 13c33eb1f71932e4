//! Applying twice gives what applying once gave.

use super::{LawOutcome, Trace, answers_otherwise, differs, extra};
use crate::matching::{self, Rules};

pub(super) fn check(trace: &Trace, rules: &Rules) -> LawOutcome {
    let (Some(once), Some(again)) = (trace.main.answer(), &trace.again) else {
        return LawOutcome::NotApplicable;
    };
    match again.answer() {
        Some(twice)
            if twice.allowed && matching::same(once.object.as_ref(), twice.object.as_ref(), rules) =>
        {
            LawOutcome::Kept
        }
        Some(twice) if twice.allowed => {
            differs("sent again, the result changes", (once.object.as_ref(), twice.object.as_ref()), rules)
        }
        _ => answers_otherwise("sent again, the result is not allowed", again),
    }
}

pub(super) fn damage(trace: &Trace) -> Vec<Trace> {
    vec![Trace { again: trace.again.as_ref().map(extra), ..trace.clone() }]
}
