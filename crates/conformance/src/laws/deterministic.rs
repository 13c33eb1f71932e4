//! The same input gives the same result, in both versions of the review; of our components the same bytes, of others
//! the memory addresses in a refusal may differ: the originals print pointers.

use super::{Held, Trace, difference, extra, words};
use crate::exchange::{Answer, Exchange, FieldCause, without_addresses};
use crate::matching::{self, Rules};

pub(super) fn hold(trace: &Trace, rules: &Rules) -> Held {
    let Some(first) = trace.main.answer() else { return Held::NoOccasion };
    let mut held = Held::NoOccasion;
    for (which, second) in [("asked again", &trace.repeat), ("asked in v1beta1", &trace.beta)] {
        let Some(second) = second else { continue };
        if let Some(text) = differs(first, second, trace.ours, rules) {
            return Held::No(format!("{which}, {text}"));
        }
        held = Held::Yes;
    }
    let bytes = |exchange: &Exchange| exchange.response.clone();
    if trace.ours && trace.repeat.as_ref().is_some_and(|repeat| bytes(repeat) != bytes(&trace.main)) {
        return Held::No("asked again, the answer has other bytes".to_owned());
    }
    held
}

fn differs(first: &Answer, second: &Exchange, ours: bool, rules: &Rules) -> Option<String> {
    let Some(answer) = second.answer() else {
        return Some(format!("the answer is another: {}", words(second)));
    };
    let verdict = |answer: &Answer| (answer.allowed, answer.code, answer.reason.clone(), answer.patched);
    let words_alike = if ours {
        (&first.message, &first.causes) == (&answer.message, &answer.causes)
    } else {
        masked(first) == masked(answer)
    };
    if verdict(first) != verdict(answer) || !words_alike {
        return Some(format!("the answer is another: {}", words(second)));
    }
    let same = matching::same(first.object.as_ref(), answer.object.as_ref(), rules);
    (!same).then(|| {
        format!("the result differs: {}", difference(first.object.as_ref(), answer.object.as_ref(), rules))
    })
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

    fn refusal(field: &str, words: &str) -> Exchange {
        let (reason, message) = ("FieldValueInvalid".to_owned(), words.to_owned());
        let answer = Answer {
            code: Some(422),
            message: Some(words.to_owned()),
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
    fn addresses_in_a_refusal_may_differ_unless_it_is_ours_and_other_words_may_not() {
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
            assert_eq!(hold(&trace, &Rules::unknown()) == Held::Yes, holds, "{second:?} {ours}");
        }
    }
}
