//! Cases of the form objects: nobody is asked, the object stands as Gardener emits it.

use super::direct::Attempt;
use super::{Asked, Shared, attempt};
use crate::exchange::Answer;
use crate::observation::Observation;
use crate::plan::CaseRef;

/// Asks the cases, one after the other.
pub(super) fn ask(shared: &Shared<'_>, cases: &[CaseRef]) -> Vec<Asked> {
    attempt::each(shared, cases, |at, looked| {
        let answer = Answer { allowed: true, object: looked.case.given.object.clone(), ..Answer::default() };
        let observation = Box::new(Observation { called: None, input: None, answer });
        attempt::conclude(
            at,
            looked,
            Attempt::Answered { observation, trace: None, evidence: None, asked: None },
        )
    })
}
