//! Cases of the form versions that run on the pure decision: the target decides, and its decision is the observation.

use contract::case::Case;
use contract::gardener::decision::Decision;
use contract::model::Law;
use serde_json::Value;

use super::question;
use crate::exchange::Answer;
use crate::laws;
use crate::observation::Observation;
use crate::plan::CaseRef;
use crate::report::{Check, Reason, ReasonCode, Status, ValueChange};
use crate::run::attempt;
use crate::run::direct::Attempt;
use crate::run::{CaseRun, PartState};

/// Runs the cases one after the other: a decision takes no time.
pub(crate) fn run_cases(shared: &PartState<'_>, cases: &[CaseRef]) -> Vec<CaseRun> {
    attempt::run_each(shared, cases, |at, located| {
        let decision = located.case.when.decision();
        let decided = decision.and_then(|decision| decided(shared, located.case, decision));
        let (attempt, toggled) = decided.unwrap_or_else(|| {
            let reason = Reason::new(ReasonCode::Component, "the target makes no such decisions");
            (Attempt::Inconclusive(Status::NotSupported, reason), None)
        });
        let mut case_run = attempt::conclude(at, located, attempt);
        if let Some(toggled) = toggled {
            case_run.result.status = Status::Failed;
            case_run.result.checks.push(toggled);
        }
        case_run
    })
}

/// Decides twice: the same question must have the same answer.
fn decided(shared: &PartState<'_>, case: &Case, decision: &Decision) -> Option<(Attempt, Option<Check>)> {
    let decide = || Some(question::answer(shared.target.versions()?.decide(decision, &case.given)?));
    let (answer, again) = (decide()?, decide()?);
    let toggled = (answer != again).then(|| toggled(&answer, &again));
    let observation = Box::new(Observation { called: None, input: case.input(), answer });
    Some((Attempt::Answered { observation, trace: None, evidence: None, deviation: None }, toggled))
}

fn toggled(first: &Answer, second: &Answer) -> Check {
    let text = |answer: &Answer| answer.object.as_ref().unwrap_or(&Value::Null).to_string();
    let (want, got) = (text(first), text(second));
    Check {
        part: "law".to_owned(),
        path: laws::name(Law::Deterministic),
        changes: vec![ValueChange::new("", Some(&want), Some(&got))],
        want,
        got,
        failure: None,
    }
}
