//! Whether a damage changed an asserted value, by the comparison rules of contracts/README.md. The original value is looked up once
//! for all damages.

use contract::expect::{Path, Reader};
use serde_json::Value;

use super::{Assertion, Recorded};
use crate::matching::{self, Rules};
use crate::observation::Observation;

/// An assertion and its value in the answer.
pub(super) struct AssertedValue<'a> {
    pub(super) assertion: &'a Assertion,
    recorded: Recorded<'a>,
    /// For assertions about the object.
    original: Option<OriginalValue>,
}

/// The original value at a path.
struct OriginalValue {
    value: Option<Value>,
    rules: Rules,
}

impl<'a> AssertedValue<'a> {
    pub(super) fn new(assertion: &'a Assertion, recorded: Recorded<'a>) -> Self {
        let original = assertion.path().map(|path| {
            let object = recorded.seen.answer.object.as_ref();
            let rules = matching::below(recorded.rules, path, object);
            let value = object.and_then(|object| matching::get(object, path));
            OriginalValue { value: part(assertion, value), rules }
        });
        Self { assertion, recorded, original }
    }

    /// Whether the value differs now; `object` reads the damaged object.
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
                let original = self.original.as_ref().and_then(|original| original.value.as_ref());
                length(original) != length(at(path).as_ref())
            }
            Assertion::Object(path) | Assertion::MapBut(path, _) | Assertion::MapLike(path, _) => {
                self.original.as_ref().is_some_and(|original| {
                    let now = part(self.assertion, at(path));
                    !matching::same(original.value.as_ref(), now.as_ref(), &original.rules)
                })
            }
        }
    }
}

/// The asserted part of a value.
fn part(assertion: &Assertion, value: Option<Value>) -> Option<Value> {
    match assertion {
        Assertion::MapBut(_, but) => contract::expect::without(value.as_ref(), but),
        Assertion::MapLike(_, patterns) => contract::expect::only(value.as_ref(), patterns),
        _ => value,
    }
}

/// The length of a list or map; an absent one has length 0, other values have no length.
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
