//! A patch declares its type, is well formed, and can be applied.

use super::{Held, Trace};
use crate::exchange::{BadAnswer, Outcome};

pub(super) fn hold(trace: &Trace) -> Held {
    let bad = trace.all().find_map(|exchange| match &exchange.outcome {
        Outcome::Garbled(bad @ (BadAnswer::PatchType(_) | BadAnswer::Patch(_))) => Some(bad.to_string()),
        _ => None,
    });
    match bad {
        Some(bad) => Held::No(bad),
        None if trace.all().any(|exchange| exchange.answer().is_some_and(|answer| answer.patched)) => {
            Held::Yes
        }
        None => Held::NoOccasion,
    }
}

pub(super) fn damage(trace: &Trace) -> Vec<Trace> {
    let mut damaged = trace.clone();
    damaged.main.outcome =
        Outcome::Garbled(BadAnswer::PatchType("there is a patch without patchType".to_owned()));
    vec![damaged]
}
