//! UPDATE keeps what CREATE made: sent again as first written, the object ends up as CREATE left it.

use super::{Held, Trace, Update, difference, words};
use crate::matching::{self, Rules};

pub(super) fn hold(trace: &Trace, rules: &Rules) -> Held {
    let Some(created) = trace.main.answer() else { return Held::NoOccasion };
    match &trace.update {
        Update::None => Held::NoOccasion,
        Update::NotCalled => {
            Held::No("updates are not sent to the webhook, so an update undoes the mutation".to_owned())
        }
        Update::Asked(update) => match update.answer() {
            Some(answer) if matching::same(created.object.as_ref(), answer.object.as_ref(), rules) => {
                Held::Yes
            }
            Some(answer) if answer.allowed => Held::No(format!(
                "an update with the object as first written ends elsewhere: {}",
                difference(created.object.as_ref(), answer.object.as_ref(), rules)
            )),
            _ => Held::No(format!(
                "an update with the object as first written is not allowed: {}",
                words(update)
            )),
        },
    }
}

pub(super) fn damage(trace: &Trace) -> Vec<Trace> {
    let mut lost = trace.clone();
    if let Update::Asked(exchange) = &mut lost.update
        && let crate::exchange::Outcome::Answered(answer) = &mut exchange.outcome
    {
        answer.object.clone_from(&trace.input);
        return vec![lost, Trace { update: Update::NotCalled, ..trace.clone() }];
    }
    Vec::new()
}
