//! Cases of the form objects: nobody is asked, the object stands as Gardener emits it.

use super::direct::Attempt;
use super::{Asked, Shared, attempt};
use crate::observation::Observation;
use crate::plan::CaseRef;

/// Asks the cases, one after the other.
pub(super) fn ask(shared: &Shared<'_>, cases: &[CaseRef]) -> Vec<Asked> {
    attempt::each(shared, cases, |at, looked| {
        let observation = Box::new(Observation::emitted(looked.case));
        let attempt = Attempt::Answered { observation, trace: None, evidence: None, asked: None };
        // It is as the case says, so what was seen need not be kept.
        Asked { observation: None, ..attempt::conclude(at, looked, attempt) }
    })
}
