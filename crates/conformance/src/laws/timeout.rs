//! The answer arrives within the declared timeout.

use super::{LawOutcome, Trace, breaks, fails};
use crate::exchange::Outcome;
use crate::report::ExchangeFailure;

pub(super) fn check(trace: &Trace) -> LawOutcome {
    for exchange in trace.all() {
        match &exchange.outcome {
            Outcome::Late(timeout) => {
                let text = format!("no answer within the declared timeout of {timeout:?}");
                return fails(text, ExchangeFailure::Late);
            }
            _ if exchange.took > trace.timeout => {
                return breaks(format!(
                    "the answer took {:?}, the declared timeout is {:?}",
                    exchange.took, trace.timeout
                ));
            }
            _ => {}
        }
    }
    LawOutcome::Kept
}

pub(super) fn damage(trace: &Trace) -> Vec<Trace> {
    let mut late = trace.clone();
    late.main.outcome = Outcome::Late(trace.timeout);
    let mut slow = trace.clone();
    slow.main.took = trace.timeout + trace.timeout;
    vec![late, slow]
}
