//! **leaf**: replaces each asserted value by one that its operator must refuse.

use serde_json::{Value, json};

use super::{Damage, Recorded, places};
use crate::exchange::FieldCause;
use crate::matching;
use crate::observation::format_masked;

pub(super) fn damages(recorded: Recorded<'_>) -> Vec<Damage> {
    let mut damages = objects(recorded);
    if recorded.case.then.causes.is_some() {
        for at in 0..recorded.seen.answer.causes.len() {
            damages.extend(causes(recorded, at));
        }
    }
    damages
}

fn objects(recorded: Recorded<'_>) -> Vec<Damage> {
    let Some(object) = &recorded.seen.answer.object else { return Vec::new() };
    let mut damages = Vec::new();
    for assertion in places(&recorded.case.then, recorded.seen, recorded.rules) {
        let input = recorded.seen.input.as_ref().and_then(|input| matching::get(input, &assertion.path));
        let got = matching::get(object, &assertion.path);
        for value in matching::refused(&assertion, got.as_ref(), input.as_ref()) {
            let mut seen = recorded.seen.clone();
            let wrong = seen.answer.object.get_or_insert(json!({}));
            matching::put(wrong, &assertion.path, value.as_ref());
            seen.answer.patched = true;
            let place =
                if assertion.path.0.is_empty() { "object".to_owned() } else { assertion.path.to_string() };
            let at = |value: &Option<Value>| format_masked(Some(object), &place, value.as_ref());
            let text = format!("{place}: {} instead of {}", at(&value), at(&got));
            damages.push(Damage { kind: "leaf", text, seen });
        }
    }
    damages
}

fn causes(recorded: Recorded<'_>, at: usize) -> Vec<Damage> {
    let change = |what: &str, change: &dyn Fn(&mut FieldCause)| {
        let mut seen = recorded.seen.clone();
        let cause = &mut seen.answer.causes[at];
        let text = format!("another {what} of the cause of {}", cause.field);
        change(cause);
        Damage { kind: "leaf", text, seen }
    };
    let mut damages = vec![change("field", &|cause| cause.field.push_str(".sabotaged"))];
    let wanted = recorded.case.then.causes.iter().flatten();
    let got = &recorded.seen.answer.causes[at];
    // The matching expected cause shows which parts are asserted.
    let Some(wanted) =
        wanted.into_iter().find(|wanted| crate::observation::matches_cause(wanted, got, recorded.rules))
    else {
        return damages;
    };
    if wanted.reason.is_some() {
        damages.push(change("reason", &|cause| "Sabotaged".clone_into(&mut cause.reason)));
    }
    if wanted.message.is_some() {
        damages.push(change("message", &|cause| "something else".clone_into(&mut cause.message)));
    }
    damages
}
