//! The same input gives the same resulting object, in both versions of the review; of our components the same bytes.

use super::{Held, Trace, difference, extra, words};
use crate::exchange::{Answer, Exchange};
use crate::matching::{self, Rules};

pub(super) fn hold(trace: &Trace, rules: &Rules) -> Held {
    let Some(first) = trace.main.answer() else { return Held::NoOccasion };
    let mut held = Held::NoOccasion;
    for (which, second) in [("asked again", &trace.repeat), ("asked in v1beta1", &trace.beta)] {
        let Some(second) = second else { continue };
        if let Some(text) = differs(first, second, rules) {
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

fn differs(first: &Answer, second: &Exchange, rules: &Rules) -> Option<String> {
    let Some(answer) = second.answer() else {
        return Some(format!("the answer is another: {}", words(second)));
    };
    let alike = (first.allowed, first.code, &first.reason, &first.message, &first.causes, first.patched)
        == (answer.allowed, answer.code, &answer.reason, &answer.message, &answer.causes, answer.patched);
    if !alike {
        return Some(format!("the answer is another: {}", words(second)));
    }
    let same = matching::same(first.object.as_ref(), answer.object.as_ref(), rules);
    (!same).then(|| {
        format!("the result differs: {}", difference(first.object.as_ref(), answer.object.as_ref(), rules))
    })
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
