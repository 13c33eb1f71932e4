//! A patch declares its type, is well formed, and can be applied.

use super::{LawOutcome, Trace, fails};
use crate::exchange::{BadAnswer, Outcome};

pub(super) fn check(trace: &Trace) -> LawOutcome {
    let bad = trace.all().find_map(|exchange| match &exchange.outcome {
        Outcome::Garbled(bad @ (BadAnswer::PatchType(_) | BadAnswer::Patch(_))) => Some(bad),
        _ => None,
    });
    match bad {
        Some(bad) => fails(bad.to_string(), bad.failure()),
        None if trace.all().any(|exchange| exchange.answer().is_some_and(|answer| answer.patched)) => {
            LawOutcome::Kept
        }
        None => LawOutcome::NotApplicable,
    }
}

pub(super) fn damage(trace: &Trace) -> Vec<Trace> {
    let mut damaged = trace.clone();
    damaged.main.outcome =
        Outcome::Garbled(BadAnswer::PatchType("there is a patch without patchType".to_owned()));
    vec![damaged]
}
