//! The answer comes within the declared timeout.

use super::{LawOutcome, Trace};
use crate::exchange::Outcome;

pub(super) fn check(trace: &Trace) -> LawOutcome {
    for exchange in trace.all() {
        match &exchange.outcome {
            Outcome::Late(timeout) => {
                return LawOutcome::Broken(format!("no answer within the declared timeout of {timeout:?}"));
            }
            _ if exchange.took > trace.timeout => {
                return LawOutcome::Broken(format!(
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
