//! **swap**: replaces the asserted paths by the answer to a row that differs in a single input column.

use contract::case::Case;
use contract::expect::Path;
use serde_json::Value;

use super::{Assertion, Damage, Recorded, assertions};
use crate::matching;
use crate::observation::Observation;

pub(super) fn damages(recorded: Recorded<'_>, clause: &[Recorded<'_>]) -> Vec<Damage> {
    let asserted: Vec<_> = assertions(&recorded.case.then, recorded.seen, recorded.rules)
        .into_iter()
        .map(|assertion| {
            let original = assertion.path().and_then(|path| at(recorded.seen, path));
            (assertion, original)
        })
        .collect();
    let neighbours = clause.iter().filter(|other| is_neighbour(recorded.case, other.case));
    neighbours
        .map(|other| Damage {
            kind: "swap",
            text: format!("answered as {}", other.case.name),
            seen: swapped(recorded, &asserted, other.seen),
        })
        .collect()
}

/// Whether two rows differ in exactly one input column.
pub(super) fn is_neighbour(case: &Case, other: &Case) -> bool {
    let mut pairs = case.inputs.iter().zip(&other.inputs);
    let differing = case.inputs.iter().zip(&other.inputs).filter(|(this, other)| this.1 != other.1);
    case.inputs.len() == other.inputs.len()
        && pairs.all(|(this, other)| this.0 == other.0)
        && differing.count() == 1
}

fn swapped(
    recorded: Recorded<'_>,
    asserted: &[(Assertion, Option<Value>)],
    other: &Observation,
) -> Observation {
    let mut seen = recorded.seen.clone();
    let (answer, theirs) = (&mut seen.answer, &other.answer);
    for (assertion, original) in asserted {
        match assertion {
            Assertion::Called => seen.called = other.called,
            Assertion::Allowed => {
                answer.allowed = theirs.allowed;
                if !theirs.allowed {
                    answer.object = None;
                }
            }
            Assertion::Code => answer.code = theirs.code,
            Assertion::Reason => answer.reason.clone_from(&theirs.reason),
            Assertion::Message => answer.message.clone_from(&theirs.message),
            Assertion::Causes => answer.causes.clone_from(&theirs.causes),
            Assertion::Warnings => answer.warnings.clone_from(&theirs.warnings),
            Assertion::Review => answer.review = theirs.review,
            Assertion::Object(path)
            | Assertion::Length(path)
            | Assertion::MapBut(path, _)
            | Assertion::MapLike(path, _) => {
                let Some(object) = &mut answer.object else { continue };
                let value = at(other, path);
                // Writing an equal value would take most of the time if a string is decoded on the way.
                if value != *original {
                    matching::put(object, path, value.as_ref());
                }
                answer.patched |= theirs.patched;
            }
        }
    }
    seen
}

fn at(seen: &Observation, path: &Path) -> Option<Value> {
    seen.answer.object.as_ref().and_then(|object| matching::get(object, path))
}
