//! Which explanation speaks of a difference: those of whichever of the two targets they are about.

use contract::explanations::{Asked, Difference as Seen, Explanation, Explanations};
use serde_json::Value;

use super::effect::Difference;
use super::outcome::Explained;
use crate::target::Target;

/// The explanations that speak of one of two targets.
pub(super) struct Explainer<'a> {
    entries: Vec<Entry<'a>>,
}

struct Entry<'a> {
    explanation: &'a Explanation,
    /// Whether the second target is the one that differs.
    of_b: bool,
}

impl<'a> Explainer<'a> {
    /// Those of the targets that are not ours; in the order in which they are read.
    pub(super) fn new(all: &'a [Explanations], a: &dyn Target, b: &dyn Target) -> Self {
        let mut entries = Vec::new();
        for (target, of_b) in [(a, false), (b, true)] {
            let identity = target.identity();
            let speaking = all.iter().filter(|file| {
                !target.is_ours() && file.speak_of(&identity.name, identity.version.as_deref())
            });
            let found = speaking.flat_map(|file| &file.entries);
            entries.extend(found.map(|explanation| Entry { explanation, of_b }));
        }
        Self { entries }
    }

    /// The number of the first explanation that fits.
    fn explain(&self, asked: Asked<'_>, difference: &Difference, given: &Value) -> Option<usize> {
        self.entries.iter().position(|entry| {
            let (ours, theirs) =
                if entry.of_b { (&difference.a, &difference.b) } else { (&difference.b, &difference.a) };
            entry.explanation.explains(&Seen {
                asked,
                place: &difference.place,
                input: difference.input.as_ref(),
                ours: ours.as_ref(),
                theirs: theirs.as_ref(),
                given,
            })
        })
    }

    /// What the report says of the first explanation that fits.
    pub(super) fn explained(
        &self,
        asked: Asked<'_>,
        difference: &Difference,
        given: &Value,
    ) -> Option<Explained> {
        let number = self.explain(asked, difference, given)?;
        let explanation = self.all().nth(number)?;
        let Explanation { reason, clause, .. } = explanation.clone();
        Some(Explained { reason, clause, at: place_of(explanation) })
    }

    /// The explanations, by number.
    pub(super) fn all(&self) -> impl Iterator<Item = &'a Explanation> + '_ {
        self.entries.iter().map(|entry| entry.explanation)
    }
}

/// `file:line` of an explanation.
pub(super) fn place_of(explanation: &Explanation) -> String {
    format!("{}:{}", explanation.location.file, explanation.location.line)
}
