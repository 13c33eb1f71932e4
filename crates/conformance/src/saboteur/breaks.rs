//! **breaks**: the object as each change makes it that breaks the clause, where nobody but Gardener makes the object.

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
