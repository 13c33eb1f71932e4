//! The uid of the request is echoed, in a review that an API server accepts.

use super::{LawOutcome, Trace, fails};
use crate::exchange::{BadAnswer, Outcome};

pub(super) fn check(trace: &Trace) -> LawOutcome {
    for exchange in trace.all() {
        match &exchange.outcome {
            Outcome::Garbled(bad) if !matches!(bad, BadAnswer::PatchType(_) | BadAnswer::Patch(_)) => {
                return fails(bad.to_string(), bad.failure());
            }
            Outcome::Unreachable(_) | Outcome::NotPut(_) | Outcome::NotServed => {
                return LawOutcome::NotApplicable;
            }
            Outcome::Garbled(_) | Outcome::Answered(_) | Outcome::Late(_) => {}
        }
    }
    LawOutcome::Kept
}

pub(super) fn damage(trace: &Trace) -> Vec<Trace> {
    let broken = [
        BadAnswer::OtherUid { want: "a".to_owned(), got: "b".to_owned() },
        BadAnswer::Http { status: 500, body: String::new() },
        BadAnswer::HungUp { reason: "closed".to_owned() },
        BadAnswer::NotAReview { reason: "garbage".to_owned(), body: String::new() },
    ];
    let damage = |bad: BadAnswer| {
        let mut damaged = trace.clone();
        damaged.main.outcome = Outcome::Garbled(bad);
        damaged
    };
    broken.into_iter().map(damage).collect()
}
