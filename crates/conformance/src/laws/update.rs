//! UPDATE keeps the changes of CREATE: an UPDATE with the original object gives the same result as the CREATE.

use super::{LawOutcome, Trace, Update, answers_otherwise, breaks, differs};
use crate::matching::{self, Rules};

pub(super) fn check(trace: &Trace, rules: &Rules) -> LawOutcome {
    let Some(created) = trace.main.answer() else { return LawOutcome::NotApplicable };
    match &trace.update {
        Update::None => LawOutcome::NotApplicable,
        Update::NotCalled => breaks("updates are not sent to the webhook, so an update undoes the mutation"),
        Update::Answered(update) => match update.answer() {
            Some(answer) if matching::same(created.object.as_ref(), answer.object.as_ref(), rules) => {
                LawOutcome::Kept
            }
            Some(answer) if answer.allowed => differs(
                "an update with the original object has another result",
                (created.object.as_ref(), answer.object.as_ref()),
                rules,
            ),
            _ => answers_otherwise("an update with the original object is not allowed", update),
        },
    }
}

pub(super) fn damage(trace: &Trace) -> Vec<Trace> {
    let mut lost = trace.clone();
    if let Update::Answered(exchange) = &mut lost.update
        && let crate::exchange::Outcome::Answered(answer) = &mut exchange.outcome
    {
        answer.object.clone_from(&trace.input);
        return vec![lost, Trace { update: Update::NotCalled, ..trace.clone() }];
    }
    Vec::new()
}
