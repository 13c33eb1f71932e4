//! Finds the explanation of a difference among those for the two targets.

use contract::explanations::{Difference as ExplainedDifference, Explanation, Explanations, SubjectName};
use serde_json::Value;

use super::effect::Difference;
use super::outcome::Explained;
use crate::target::Target;

/// The explanations for one of two targets.
pub(super) struct Explainer<'a> {
    entries: Vec<TargetExplanation<'a>>,
}

struct TargetExplanation<'a> {
    explanation: &'a Explanation,
    /// Whether it is about the second target.
    of_b: bool,
}

impl<'a> Explainer<'a> {
    /// The explanations for the targets that are not ours, in the order in which they were read.
    pub(super) fn new(all: &'a [Explanations], a: &dyn Target, b: &dyn Target) -> Self {
        let mut entries = Vec::new();
        for (target, of_b) in [(a, false), (b, true)] {
            let identity = target.identity();
            let speaking = all.iter().filter(|file| {
                !target.is_ours() && file.speak_of(&identity.name, identity.version.as_deref())
            });
            let found = speaking.flat_map(|file| &file.entries);
            entries.extend(found.map(|explanation| TargetExplanation { explanation, of_b }));
        }
        Self { entries }
    }

    /// The index of the first explanation that matches.
    fn explain(&self, subject: SubjectName<'_>, difference: &Difference, given: &Value) -> Option<usize> {
        self.entries.iter().position(|entry| {
            let (ours, theirs) =
                if entry.of_b { (&difference.a, &difference.b) } else { (&difference.b, &difference.a) };
            entry.explanation.explains(&ExplainedDifference {
                subject,
                place: &difference.place,
                input: difference.input.as_ref(),
                ours: ours.as_ref(),
                theirs: theirs.as_ref(),
                given,
            })
        })
    }

    /// The first explanation that matches, for the report.
    pub(super) fn explained(
        &self,
        subject: SubjectName<'_>,
        difference: &Difference,
        given: &Value,
    ) -> Option<Explained> {
        let number = self.explain(subject, difference, given)?;
        let explanation = self.all().nth(number)?;
        let Explanation { reason, clause, .. } = explanation.clone();
        Some(Explained { reason, clause, at: location_of(explanation) })
    }

    /// All explanations.
    pub(super) fn all(&self) -> impl Iterator<Item = &'a Explanation> + '_ {
        self.entries.iter().map(|entry| entry.explanation)
    }
}

/// `file:line` of an explanation.
pub(super) fn location_of(explanation: &Explanation) -> String {
    format!("{}:{}", explanation.location.file, explanation.location.line)
}
