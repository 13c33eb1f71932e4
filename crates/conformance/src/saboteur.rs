//! Proves that clauses can fail: damages recorded answers and compares them again (contracts/README.md). Sends no requests.

use std::collections::BTreeSet;
use std::fmt;

use crate::matching::{self, Rules};
use crate::observation::{Observation, expected_allowed, judge};
use crate::report::{Proof, Survivor};
use contract::case::{Case, Then, When};
use contract::expect::{Expect, Operator, Path, Reader};

mod asserted_value;
mod breaks;
mod drop;
mod flip;
mod gaps;
mod leaf;
mod nothing;
mod swap;

pub use gaps::{Losses, compared_with_parameters};

use asserted_value::AssertedValue;

/// An assertion of a case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Assertion {
    /// The length of a list whose elements are asserted one by one.
    Length(Path),
    /// Whether the webhook is called.
    Called,
    /// Whether the request may proceed.
    Allowed,
    /// Status code.
    Code,
    /// Status reason.
    Reason,
    /// Status message.
    Message,
    /// The set of field errors.
    Causes,
    /// The list of warnings.
    Warnings,
    /// Version of the review.
    Review,
    /// A place of the resulting object.
    Object(Path),
    /// A map of the resulting object, without these keys.
    MapBut(Path, Vec<String>),
    /// The keys of a map of the resulting object that match these patterns.
    MapLike(Path, Vec<String>),
}

impl Assertion {
    /// The path in the object.
    fn path(&self) -> Option<&Path> {
        match self {
            Self::Length(path) | Self::Object(path) | Self::MapBut(path, _) | Self::MapLike(path, _) => {
                Some(path)
            }
            _ => None,
        }
    }
}

/// A wrong answer made from a correct one.
#[derive(Clone, Debug, PartialEq)]
pub struct Damage {
    /// `nothing`, `flip`, `leaf`, `drop`, `swap`; of what Gardener emits `breaks`.
    pub kind: &'static str,
    /// Human-readable description.
    pub text: String,
    /// The wrong answer.
    pub seen: Observation,
}

/// A case that passed, with its recorded answer.
#[derive(Clone, Copy, Debug)]
pub struct Recorded<'a> {
    /// The case.
    pub case: &'a Case,
    /// Its observation.
    pub seen: &'a Observation,
    /// The comparison rules for its objects.
    pub rules: &'a Rules,
}

/// Proves a clause from its recorded cases; a clause without cases is not proven.
#[must_use]
pub fn prove(cases: &[Recorded<'_>]) -> Proof {
    let mut proof = Proof::default();
    let mut asserted = BTreeSet::new();
    let mut damaged = BTreeSet::new();
    for recorded in cases {
        let assertions = assertions(&recorded.case.then, recorded.seen, recorded.rules);
        let watched: Vec<AssertedValue<'_>> =
            assertions.iter().map(|assertion| AssertedValue::new(assertion, *recorded)).collect();
        for damage in damages(*recorded, cases) {
            let object = damage.seen.answer.object.as_ref().map(Reader::new);
            let is_hit = |watched: &&AssertedValue<'_>| watched.is_altered(&damage.seen, object.as_ref());
            let hits: Vec<&AssertedValue<'_>> = watched.iter().filter(is_hit).collect();
            if hits.is_empty() {
                continue;
            }
            damaged.extend(hits.into_iter().map(|watched| watched.assertion.clone()));
            let caught = !judge(&recorded.case.then, &damage.seen, recorded.rules).is_empty();
            let Damage { kind, text, .. } = damage;
            let damage = Survivor { case: recorded.case.name.clone(), damage: kind.to_owned(), text };
            proof.note(damage, caught);
        }
        asserted.extend(assertions);
    }
    proof.undamaged = asserted.difference(&damaged).map(ToString::to_string).collect();
    proof.proven = !asserted.is_empty() && proof.survivors.is_empty() && proof.undamaged.is_empty();
    proof
}

/// All damages to the answer of one case, including those that do not apply.
#[must_use]
pub fn damages(recorded: Recorded<'_>, clause: &[Recorded<'_>]) -> Vec<Damage> {
    if let When::Emitted(_) = &recorded.case.when {
        // There is no answer, so the damages nothing, flip, drop and swap do not apply.
        return [breaks::damages(recorded), leaf::damages(recorded)].concat();
    }
    let mut damages = nothing::damages(recorded);
    damages.extend(flip::damages(recorded));
    damages.extend(leaf::damages(recorded));
    damages.extend(drop::damages(recorded));
    damages.extend(swap::damages(recorded, clause));
    damages
}

/// The assertions of a case, including implied ones.
#[must_use]
pub fn assertions(then: &Then, seen: &Observation, rules: &Rules) -> Vec<Assertion> {
    let mut assertions = Vec::new();
    let mut add = |there: bool, assertion: Assertion| {
        if there {
            assertions.push(assertion);
        }
    };
    add(then.called.is_some(), Assertion::Called);
    add(expected_allowed(then).is_some(), Assertion::Allowed);
    add(then.code.is_some() || then.is_invalid(), Assertion::Code);
    add(then.reason.is_some() || then.is_invalid(), Assertion::Reason);
    add(then.message.is_some(), Assertion::Message);
    add(then.causes.is_some(), Assertion::Causes);
    add(then.warnings.is_some(), Assertion::Warnings);
    add(then.review.is_some(), Assertion::Review);
    let place = |found: matching::Assertion| match found.expect {
        Expect::List { ordered: true, .. } | Expect::Operator(Operator::Count(_)) => {
            Assertion::Length(found.path)
        }
        Expect::Operator(Operator::UnchangedBut(but)) => Assertion::MapBut(found.path, but),
        Expect::Operator(Operator::UnchangedLike(patterns)) => Assertion::MapLike(found.path, patterns),
        _ => Assertion::Object(found.path),
    };
    assertions.extend(places(then, seen, rules).into_iter().map(place));
    assertions
}

/// The assertions of a case about the resulting object.
fn places(then: &Then, seen: &Observation, rules: &Rules) -> Vec<matching::Assertion> {
    let expect = then.object.as_ref();
    expect
        .map(|expect| contract::expect::assertions(expect, seen.answer.object.as_ref(), rules))
        .unwrap_or_default()
}

impl fmt::Display for Assertion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Called => f.write_str("called"),
            Self::Allowed => f.write_str("allowed"),
            Self::Code => f.write_str("code"),
            Self::Reason => f.write_str("reason"),
            Self::Message => f.write_str("message"),
            Self::Causes => f.write_str("causes"),
            Self::Warnings => f.write_str("warnings"),
            Self::Review => f.write_str("review"),
            Self::Length(path) => write!(f, "length of {path}"),
            Self::Object(path) if path.0.is_empty() => f.write_str("object"),
            Self::Object(path) => write!(f, "object {path}"),
            Self::MapLike(path, patterns) => write!(f, "object {path}: {}", patterns.join(", ")),
            Self::MapBut(path, but) => write!(f, "object {path} but for {}", but.join(", ")),
        }
    }
}
