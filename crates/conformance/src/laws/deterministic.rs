//! The same input gives the same result, in both versions of the review; from our components, the same bytes. Memory addresses in
//! refusals of others may differ: the originals print pointers.

use super::{LawOutcome, Trace, answers_otherwise, breaks, differs, extra};
use crate::exchange::{Answer, Exchange, FieldCause, without_addresses};
use crate::matching::{self, Rules};

pub(super) fn check(trace: &Trace, rules: &Rules) -> LawOutcome {
    let Some(first) = trace.main.answer() else { return LawOutcome::NotApplicable };
    let mut outcome = LawOutcome::NotApplicable;
    for (which, second) in [("sent again", &trace.repeat), ("sent in v1beta1", &trace.beta)] {
        let Some(second) = second else { continue };
        if let Some(broken) = breach(which, (first, second), trace.ours, rules) {
            return broken;
        }
        outcome = LawOutcome::Kept;
    }
    let bytes = |exchange: &Exchange| exchange.response.clone();
    if trace.ours && trace.repeat.as_ref().is_some_and(|repeat| bytes(repeat) != bytes(&trace.main)) {
        return breaks("sent again, the answer has other bytes");
    }
    outcome
}

fn breach(
    which: &str,
    (first, second): (&Answer, &Exchange),
    ours: bool,
    rules: &Rules,
) -> Option<LawOutcome> {
    let other = || answers_otherwise(&format!("{which}, the answer is another"), second);
    let Some(answer) = second.answer() else { return Some(other()) };
    let verdict = |answer: &Answer| (answer.allowed, answer.code, answer.reason.clone(), answer.patched);
    let same_texts = if ours {
        (&first.message, &first.causes) == (&answer.message, &answer.causes)
    } else {
        masked(first) == masked(answer)
    };
    if verdict(first) != verdict(answer) || !same_texts {
        return Some(other());
    }
    let same = matching::same(first.object.as_ref(), answer.object.as_ref(), rules);
    let objects = (first.object.as_ref(), answer.object.as_ref());
    (!same).then(|| differs(&format!("{which}, the result differs"), objects, rules))
}

/// Message and causes, in order, memory addresses masked.
fn masked(answer: &Answer) -> (Option<String>, Vec<FieldCause>) {
    let cause =
        |cause: &FieldCause| FieldCause { message: without_addresses(&cause.message), ..cause.clone() };
    (answer.message.as_deref().map(without_addresses), answer.causes.iter().map(cause).collect())
}

pub(super) fn damage(trace: &Trace) -> Vec<Trace> {
    let toggled = |exchange: &Option<Exchange>| exchange.as_ref().map(extra);
    let mut damaged = Vec::new();
    if trace.repeat.is_some() {
        damaged.push(Trace { repeat: toggled(&trace.repeat), ..trace.clone() });
    }
    if trace.beta.is_some() {
        damaged.push(Trace { beta: toggled(&trace.beta), ..trace.clone() });
    }
    damaged
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    use bytes::Bytes;

    use crate::exchange::Outcome;

    fn refusal(field: &str, message: &str) -> Exchange {
        let (reason, message) = ("FieldValueInvalid".to_owned(), message.to_owned());
        let answer = Answer {
            code: Some(422),
            message: Some(message.clone()),
            causes: vec![FieldCause { field: field.to_owned(), reason, message }],
            ..Answer::default()
        };
        Exchange {
            path: "/".to_owned(),
            request: Bytes::new(),
            response: Some((200, Bytes::new())),
            took: Duration::ZERO,
            outcome: Outcome::Answered(answer),
        }
    }

    #[test]
    fn only_addresses_in_a_foreign_refusal_may_differ() {
        let main = refusal("spec", "pools: 0xc0001");
        let table = [
            (refusal("spec", "pools: 0xc0002"), false, true),
            (refusal("spec", "pools: 0xc0002"), true, false),
            (refusal("spec", "pools: (*int)(0xc0002a4f)"), false, false),
            (refusal("spec", "other pools: 0xc0001"), false, false),
            (refusal("spec.pools", "pools: 0xc0001"), false, false),
            (refusal("spec", "pools: 0xc0001"), true, true),
        ];
        for (second, ours, holds) in table {
            let only = Trace::only(main.clone(), None, Duration::from_secs(1));
            let trace = Trace { repeat: Some(second.clone()), ours, ..only };
            assert_eq!(check(&trace, &Rules::unknown()) == LawOutcome::Kept, holds, "{second:?} {ours}");
        }
    }
}
