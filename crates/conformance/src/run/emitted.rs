//! Cases of the form objects: they compare the object that Gardener emits, without a request.

use super::direct::Attempt;
use super::{CaseRun, PartState, attempt};
use crate::observation::Observation;
use crate::plan::CaseRef;

/// Runs the cases one after the other.
pub(super) fn run_cases(shared: &PartState<'_>, cases: &[CaseRef]) -> Vec<CaseRun> {
    attempt::run_each(shared, cases, |at, located| {
        let observation = Box::new(Observation::emitted(located.case));
        let attempt = Attempt::Answered { observation, trace: None, evidence: None, deviation: None };
        // The observation is the case's own object, so it need not be kept.
        CaseRun { observation: None, ..attempt::conclude(at, located, attempt) }
    })
}
