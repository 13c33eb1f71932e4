//! The answer comes within the declared timeout.

use super::{Held, Trace};
use crate::exchange::Outcome;

pub(super) fn hold(trace: &Trace) -> Held {
    for exchange in trace.all() {
        match &exchange.outcome {
            Outcome::Late(timeout) => {
                return Held::No(format!("no answer within the declared timeout of {timeout:?}"));
            }
            _ if exchange.took > trace.timeout => {
                return Held::No(format!(
                    "the answer took {:?}, declared are {:?}",
                    exchange.took, trace.timeout
                ));
            }
            _ => {}
        }
    }
    Held::Yes
}

pub(super) fn damage(trace: &Trace) -> Vec<Trace> {
    let mut late = trace.clone();
    late.main.outcome = Outcome::Late(trace.timeout);
    let mut slow = trace.clone();
    slow.main.took = trace.timeout + trace.timeout;
    vec![late, slow]
}
