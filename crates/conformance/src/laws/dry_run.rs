//! A dry run has no side effect, and gets the same answer as any other request.

use super::{LawOutcome, Trace, answers_otherwise, breaks, differs, extra};
use crate::matching::{self, Rules};

pub(super) fn check(trace: &Trace, rules: &Rules) -> LawOutcome {
    if let Some((before, after)) = &trace.facts
        && before != after
    {
        return breaks("a dry run changed objects in the cluster");
    }
    let (Some(real), Some(dry)) = (trace.main.answer(), &trace.dry_run) else {
        return LawOutcome::NotApplicable;
    };
    match dry.answer() {
        Some(answer)
            if answer.allowed == real.allowed
                && matching::same(real.object.as_ref(), answer.object.as_ref(), rules) =>
        {
            LawOutcome::Kept
        }
        Some(answer) if answer.allowed && real.allowed => differs(
            "a dry run is answered differently",
            (real.object.as_ref(), answer.object.as_ref()),
            rules,
        ),
        _ => answers_otherwise("a dry run is answered differently", dry),
    }
}

pub(super) fn damage(trace: &Trace) -> Vec<Trace> {
    let mut damaged = Vec::new();
    let is_allowed =
        trace.dry_run.as_ref().and_then(|dry| dry.answer()).is_some_and(|answer| answer.object.is_some());
    if is_allowed {
        damaged.push(Trace { dry_run: trace.dry_run.as_ref().map(extra), ..trace.clone() });
    }
    if let Some((before, after)) = &trace.facts {
        let mut written = after.clone();
        written.push(serde_json::Value::Null);
        damaged.push(Trace { facts: Some((before.clone(), written)), ..trace.clone() });
    }
    damaged
}
