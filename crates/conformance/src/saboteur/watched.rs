//! Whether a damage altered what a case asserts, as the rules of contracts/README.md compare. What stood there before is looked up once for
//! all damages.

use contract::expect::{Path, Reader};
use serde_json::Value;

use super::{Assertion, Recorded};
use crate::matching::{self, Rules};
use crate::observation::Observation;

/// An assertion, and what the answer has in its place.
pub(super) struct Watched<'a> {
    pub(super) assertion: &'a Assertion,
    recorded: Recorded<'a>,
    /// Of a place of the object.
    stood: Option<Stood>,
}

/// What stood at a place.
struct Stood {
    value: Option<Value>,
    rules: Rules,
}

impl<'a> Watched<'a> {
    pub(super) fn new(assertion: &'a Assertion, recorded: Recorded<'a>) -> Self {
        let stood = assertion.path().map(|path| {
            let object = recorded.seen.answer.object.as_ref();
            let rules = matching::below(recorded.rules, path, object);
            let value = object.and_then(|object| matching::get(object, path));
            Stood { value: part(assertion, value), rules }
        });
        Self { assertion, recorded, stood }
    }

    /// Whether something else is there now; `object` reads what is.
    pub(super) fn is_altered(&self, damaged: &Observation, object: Option<&Reader<'_>>) -> bool {
        let at = |path: &Path| object.and_then(|object| object.get(path));
        let (before, after) = (&self.recorded.seen.answer, &damaged.answer);
        match self.assertion {
            Assertion::Called => self.recorded.seen.called != damaged.called,
            Assertion::Allowed => before.allowed != after.allowed,
            Assertion::Code => before.code != after.code,
            Assertion::Reason => before.reason != after.reason,
            Assertion::Message => before.message != after.message,
            Assertion::Causes => sorted(&before.causes) != sorted(&after.causes),
            Assertion::Warnings => before.warnings != after.warnings,
            Assertion::Review => before.review != after.review,
            Assertion::Length(path) => {
                let stood = self.stood.as_ref().and_then(|stood| stood.value.as_ref());
                length(stood) != length(at(path).as_ref())
            }
            Assertion::Object(path) | Assertion::MapBut(path, _) | Assertion::MapLike(path, _) => {
                self.stood.as_ref().is_some_and(|stood| {
                    let now = part(self.assertion, at(path));
                    !matching::same(stood.value.as_ref(), now.as_ref(), &stood.rules)
                })
            }
        }
    }
}

/// The part of what stands at a place that is asserted.
fn part(assertion: &Assertion, value: Option<Value>) -> Option<Value> {
    match assertion {
        Assertion::MapBut(_, but) => contract::expect::without(value.as_ref(), but),
        Assertion::MapLike(_, patterns) => contract::expect::only(value.as_ref(), patterns),
        _ => value,
    }
}

/// How many there are; no list is a list of none, and what is neither list nor map has no length.
fn length(value: Option<&Value>) -> Option<usize> {
    match value {
        None => Some(0),
        Some(Value::Array(items)) => Some(items.len()),
        Some(Value::Object(fields)) => Some(fields.len()),
        Some(_) => None,
    }
}

fn sorted<T: Ord + Clone>(items: &[T]) -> Vec<T> {
    let mut sorted = items.to_vec();
    sorted.sort();
    sorted
}
