//! Cases of the form objects: nobody is asked, the object stands as Gardener emits it.

use std::time::Instant;

use super::direct::Attempt;
use super::{Asked, Shared, attempt, ended, unasked};
use crate::exchange::Answer;
use crate::observation::Observation;
use crate::plan::{self, CaseRef};
use crate::report::Status;

/// Asks the cases, one after the other.
pub(super) fn ask(shared: &Shared<'_>, cases: &[CaseRef]) -> Vec<Asked> {
    cases.iter().map(|at| one(shared, *at)).collect()
}

fn one(shared: &Shared<'_>, at: CaseRef) -> Asked {
    if shared.is_over() {
        return unasked(shared, &[at], Status::NotRun, &ended(shared)).remove(0);
    }
    let looked = plan::look(shared.contracts, at);
    let started = Instant::now();
    let answer = Answer { allowed: true, object: looked.case.given.object.clone(), ..Answer::default() };
    let observation = Box::new(Observation { called: None, input: None, answer });
    let attempt = Attempt::Answered { observation, trace: None, evidence: None, asked: None };
    let mut asked = attempt::conclude(at, looked, attempt);
    asked.result.duration_ms = attempt::milliseconds(started.elapsed());
    shared.done(&asked);
    asked
}
