//! Cases of the form versions: the target is asked to decide, and what it tells is what is seen.

use contract::case::Case;
use contract::decision::Decision;
use contract::model::Law;
use serde_json::Value;

use super::direct::Attempt;
use super::{Asked, Shared, attempt};
use crate::exchange::Answer;
use crate::laws;
use crate::observation::Observation;
use crate::plan::CaseRef;
use crate::report::{Check, Reason, ReasonCode, Status};
use crate::target::question;

/// Asks the cases, one after the other: a decision takes no time.
pub(super) fn ask(shared: &Shared<'_>, cases: &[CaseRef]) -> Vec<Asked> {
    attempt::each(shared, cases, |at, looked| {
        let decision = looked.case.when.decision();
        let decided = decision.and_then(|decision| decided(shared, looked.case, decision));
        let (attempt, toggled) = decided.unwrap_or_else(|| {
            let reason = Reason::new(ReasonCode::Component, "the target makes no such decisions");
            (Attempt::Silent(Status::NotSupported, reason), None)
        });
        let mut asked = attempt::conclude(at, looked, attempt);
        if let Some(toggled) = toggled {
            asked.result.status = Status::Failed;
            asked.result.checks.push(toggled);
        }
        asked
    })
}

/// What is decided, asked twice: the same question has the same answer.
fn decided(shared: &Shared<'_>, case: &Case, decision: &Decision) -> Option<(Attempt, Option<Check>)> {
    let ask = || Some(question::answer(shared.target.decide(decision, &case.given)?));
    let (answer, again) = (ask()?, ask()?);
    let toggled = (answer != again).then(|| toggled(&answer, &again));
    let observation = Box::new(Observation { called: None, input: case.input(), answer });
    Some((Attempt::Answered { observation, trace: None, evidence: None, asked: None }, toggled))
}

fn toggled(first: &Answer, second: &Answer) -> Check {
    let shown = |answer: &Answer| answer.object.as_ref().unwrap_or(&Value::Null).to_string();
    Check {
        part: "law".to_owned(),
        path: laws::name(Law::Deterministic),
        want: shown(first),
        got: shown(second),
    }
}
