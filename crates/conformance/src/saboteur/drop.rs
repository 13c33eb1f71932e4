//! **drop**: sets each asserted path that the answer changed back to its value in the input.

use super::{Damage, Recorded, places};
use crate::matching;

pub(super) fn damages(recorded: Recorded<'_>) -> Vec<Damage> {
    let (Some(input), Some(object)) = (&recorded.seen.input, &recorded.seen.answer.object) else {
        return Vec::new();
    };
    let asserted = places(&recorded.case.then, recorded.seen, recorded.rules);
    let mut damages = Vec::new();
    for assertion in asserted {
        let (before, after) = (matching::get(input, &assertion.path), matching::get(object, &assertion.path));
        if matching::same(before.as_ref(), after.as_ref(), &assertion.rules) {
            continue;
        }
        let mut seen = recorded.seen.clone();
        if let Some(damaged) = &mut seen.answer.object {
            matching::put(damaged, &assertion.path, before.as_ref());
        }
        let text = format!("{} set back to what was sent", assertion.path);
        damages.push(Damage { kind: "drop", text, seen });
    }
    damages
}
