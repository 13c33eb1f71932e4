//! **breaks**: for an object that Gardener emits, the object after each change in the contract that must break the clause.

use contract::case::When;

use super::{Damage, Recorded};

pub(super) fn damages(recorded: Recorded<'_>) -> Vec<Damage> {
    let When::Emitted(emitted) = &recorded.case.when else { return Vec::new() };
    let breaks = emitted.breaks.iter().map(|of| {
        let mut seen = recorded.seen.clone();
        seen.answer.object.clone_from(&of.object);
        Damage { kind: "breaks", text: of.name.clone(), seen }
    });
    breaks.collect()
}
