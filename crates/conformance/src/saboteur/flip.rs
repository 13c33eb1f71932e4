//! **flip**: swaps allow and deny; changes code, reason or message; adds or removes a cause.

use contract::case::Review;

use super::{Damage, Recorded};
use crate::exchange::{Answer, FieldCause};
use crate::observation::Observation;

pub(super) fn damages(recorded: Recorded<'_>) -> Vec<Damage> {
    let then = &recorded.case.then;
    let mut damages = vec![flipped(recorded.seen)];
    let mut add = |there: bool, text: &str, change: &dyn Fn(&mut Observation)| {
        if there {
            let mut seen = recorded.seen.clone();
            change(&mut seen);
            damages.push(Damage { kind: "flip", text: text.to_owned(), seen });
        }
    };
    add(then.called.is_some(), "called and not called exchanged", &|seen| {
        seen.called = seen.called.map(|called| !called);
    });
    let code = then.code.is_some() || then.is_invalid();
    add(code, "another code", &|seen| {
        seen.answer.code = Some(if seen.answer.code == Some(418) { 400 } else { 418 });
    });
    let reason = then.reason.is_some() || then.is_invalid();
    add(reason, "another reason", &|seen| seen.answer.reason = Some("Sabotaged".to_owned()));
    add(then.message.is_some(), "another message", &|seen| {
        seen.answer.message = Some("something else".to_owned());
    });
    add(then.message.is_some(), "no message", &|seen| seen.answer.message = None);
    let longer = |seen: &mut Observation| {
        let message = seen.answer.message.get_or_insert_default();
        message.push_str(" and more");
    };
    add(then.message.is_some(), "a longer message", &longer);
    add(then.review.is_some(), "another version of the review", &|seen| {
        seen.answer.review = Some(match seen.answer.review {
            Some(Review::V1) => Review::V1beta1,
            _ => Review::V1,
        });
    });
    add(then.warnings.is_some(), "one warning more", &|seen| {
        seen.answer.warnings.push("something else".to_owned());
    });
    add(then.warnings.is_some(), "no warnings", &|seen| seen.answer.warnings.clear());
    add(then.causes.is_some(), "one cause more", &|seen| {
        let cause = |text: &str| text.to_owned();
        let (field, reason) = (cause("metadata.sabotaged"), cause("FieldValueInvalid"));
        seen.answer.causes.push(FieldCause { field, reason, message: cause("Invalid value") });
    });
    for at in 0..recorded.seen.answer.causes.len() {
        let text = format!("without the cause of {}", recorded.seen.answer.causes[at].field);
        add(then.causes.is_some(), &text, &|seen| drop(seen.answer.causes.remove(at)));
    }
    damages
}

fn flipped(seen: &Observation) -> Damage {
    let damaged = if seen.answer.allowed {
        let answer = Answer {
            code: Some(403),
            reason: Some("Forbidden".to_owned()),
            message: seen.answer.message.clone(),
            ..Answer::default()
        };
        Observation { answer, ..seen.clone() }
    } else {
        let allowed = Observation::untouched(seen.called, seen.input.clone());
        // A case that asserts only the message must notice, too.
        Observation { answer: Answer { message: seen.answer.message.clone(), ..allowed.answer }, ..allowed }
    };
    let text = if seen.answer.allowed { "denied instead of allowed" } else { "allowed instead of denied" };
    Damage { kind: "flip", text: text.to_owned(), seen: damaged }
}
