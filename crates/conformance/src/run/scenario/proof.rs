//! Whether a scenario was shown able to fail: what its steps kept is damaged and compared again.

use contract::expect::{self, Expect, Operator, Rules};
use contract::scenario::{Never, ObjectRef, Requests, Scenario, State, Step};
use serde_json::Value;

use super::clusters::head;
use super::requests::{self, Write};
use super::unmet::shown;
use crate::matching;
use crate::plan::Looked;
use crate::report::{Proof, Survivor};

/// What one step saw when it was kept.
pub(super) struct Kept {
    /// Which step.
    pub(super) step: usize,
    /// Each `eventually` object: as the step found it, and as it came about.
    pub(super) states: Vec<(Option<Value>, Option<Value>)>,
    /// Each `history`'s states.
    pub(super) seen: Vec<Vec<Option<Value>>>,
    /// The target's writes.
    pub(super) writes: Vec<Write>,
}

/// Notes what became of the run in which the target's writes had no effect.
pub(super) fn add_nothing(proof: &mut Proof, looked: Looked<'_>, survived: bool) {
    let text = "every write of the target was a dry run";
    note(proof, looked, "nothing", text.to_owned(), !survived);
    proof.proven &= !survived;
}

/// Notes that the run in which the target's writes have no effect could not be made.
pub(super) fn add_unrun(proof: &mut Proof, reason: &str) {
    proof.undamaged.push(format!("every write of the target was a dry run: {reason}"));
    proof.proven = false;
}

/// **leaf** and **drop** on the states, **extra** on the requests.
pub(super) fn prove(looked: Looked<'_>, scenario: &Scenario, kept: &[Kept]) -> Proof {
    let mut proof = Proof::default();
    for kept in kept {
        let step = &scenario.steps[kept.step];
        states(&mut proof, looked, step, kept);
        histories(&mut proof, looked, step, kept);
        if let Some(never) = &step.never {
            forbidden(&mut proof, looked, step, never);
        }
        if let Some(wanted) = &step.requests {
            sent(&mut proof, looked, step, wanted, &kept.writes);
        }
    }
    let damaged: usize = proof.caught.values().sum();
    proof.proven = damaged > 0 && proof.survivors.is_empty() && proof.undamaged.is_empty();
    proof
}

fn states(proof: &mut Proof, looked: Looked<'_>, step: &Step, kept: &Kept) {
    for (state, (input, found)) in step.eventually.iter().zip(&kept.states) {
        let rules = looked.contract.rules(&head(&state.object));
        for assertion in expect::assertions(&state.expect, found.as_ref(), &rules) {
            let place = format!("{}: {} {}", step.name, state.object, assertion.path);
            let at = |object: &Option<Value>| {
                object.as_ref().and_then(|object| matching::get(object, &assertion.path))
            };
            let (got, before) = (at(found), at(input));
            let shown = |value: Option<&Value>| shown(&state.object, found.as_ref(), &assertion.path, value);
            let mut damaged = false;
            for value in matching::refused(&assertion, got.as_ref(), before.as_ref()) {
                let wrong = put(found.as_ref(), &assertion.path, value.as_ref());
                if wrong == *found {
                    continue;
                }
                damaged = true;
                let caught = !expect::holds(&state.expect, input.as_ref(), wrong.as_ref(), &rules);
                let text = format!("{place}: {} instead of {}", shown(value.as_ref()), shown(got.as_ref()));
                note(proof, looked, "leaf", text, caught);
            }
            if !damaged {
                proof.undamaged.push(place);
            }
        }
    }
}

/// The object with another value at a place; at its root, another object or none.
fn put(object: Option<&Value>, path: &expect::Path, value: Option<&Value>) -> Option<Value> {
    if path.0.is_empty() {
        return value.cloned();
    }
    let mut wrong = object.cloned().unwrap_or_default();
    matching::put(&mut wrong, path, value);
    Some(wrong)
}

/// **leaf**: a history whose states that kept an expectation have another value in one place each.
fn histories(proof: &mut Proof, looked: Looked<'_>, step: &Step, kept: &Kept) {
    for (history, seen) in step.history.iter().zip(&kept.seen) {
        let rules = looked.contract.rules(&head(&history.object));
        for (at, wanted) in history.states.iter().enumerate() {
            let kept = seen.iter().filter(|state| expect::holds(wanted, None, state.as_ref(), &rules));
            let kept: Vec<&Option<Value>> = kept.collect();
            let place = format!("{}: {}[{at}]", step.name, history.object);
            let Some(first) = kept.first() else { continue };
            for assertion in expect::assertions(wanted, first.as_ref(), &rules) {
                let got = first.as_ref().and_then(|object| matching::get(object, &assertion.path));
                let wrong = matching::refused(&assertion, got.as_ref(), None);
                if wrong.is_empty() {
                    proof.undamaged.push(format!("{place} {}", assertion.path));
                }
                for value in wrong {
                    let caught = !kept.iter().any(|state| {
                        let damaged = put(state.as_ref(), &assertion.path, value.as_ref());
                        expect::holds(wanted, None, damaged.as_ref(), &rules)
                    });
                    let wrong = shown(&history.object, first.as_ref(), &assertion.path, value.as_ref());
                    let text = format!("{place} {}: {wrong}", assertion.path);
                    note(proof, looked, "leaf", text, caught);
                }
            }
        }
    }
}

/// A forbidden write, and a forbidden absence or presence. Of an object that no case of the contract speaks of otherwise,
/// nothing would ever be seen: its name is wrong.
fn forbidden(proof: &mut Proof, looked: Looked<'_>, step: &Step, never: &Never) {
    let cases = looked.contract.clauses.iter().flat_map(|clause| &clause.cases);
    let scenarios: Vec<&Scenario> = cases.filter_map(|case| case.when.scenario()).collect();
    let is_known = |object: &ObjectRef| scenarios.iter().any(|scenario| scenario.speaks_of(object));
    for object in &never.writes {
        let write = Write { server: 0, verb: "update", object: object.clone() };
        let caught = is_known(object) && !requests::forbidden(&step.name, never, &[write]).is_empty();
        note(proof, looked, "extra", format!("{}: update {object}", step.name), caught);
    }
    for state in &never.states {
        let rules = looked.contract.rules(&head(&state.object));
        let seen = [None, Some(head(&state.object)), Some(made(state, &rules))];
        let caught = seen.iter().any(|seen| expect::holds(&state.expect, None, seen.as_ref(), &rules));
        if caught && is_known(&state.object) {
            note(proof, looked, "extra", format!("{}: {} came about", step.name, state.object), true);
        } else {
            proof.undamaged.push(format!("{}: never {}", step.name, state.object));
        }
    }
}

/// An object as the state says, as far as it says a value or that there is one.
fn made(state: &State, rules: &Rules) -> Value {
    let mut object = head(&state.object);
    for assertion in expect::assertions(&state.expect, None, rules) {
        match &assertion.expect {
            Expect::Value(value) => matching::put(&mut object, &assertion.path, Some(value)),
            Expect::Operator(Operator::Present) => {
                matching::put(&mut object, &assertion.path, Some(&Value::from("sabotaged")));
            }
            _ => {}
        }
    }
    object
}

/// Writes that are too many, and an order with its first write left out.
fn sent(proof: &mut Proof, looked: Looked<'_>, step: &Step, wanted: &Requests, writes: &[Write]) {
    let some_object = || contract::scenario::ObjectRef {
        api_version: "v1".to_owned(),
        kind: "ConfigMap".to_owned(),
        namespace: contract::scenario::NAMESPACE.to_owned(),
        name: "sabotaged".to_owned(),
    };
    let written = writes.first().map(|write| &write.object);
    let object = wanted.of.first().or(written).cloned().unwrap_or_else(some_object);
    if wanted.writes.is_some() || wanted.per_object.is_some() {
        let more = wanted.per_object.unwrap_or_default() + 1;
        let write = Write { server: 0, verb: "update", object: object.clone() };
        let extra = std::iter::repeat_n(write, more);
        let damaged: Vec<Write> = writes.iter().cloned().chain(extra).collect();
        let caught = !requests::judge(&step.name, wanted, &damaged).is_empty();
        note(proof, looked, "extra", format!("{}: {more} more writes of {object}", step.name), caught);
    }
    if let Some((verb, object)) = wanted.order.first() {
        let others = writes.iter().filter(|write| !requests::same(write, verb, object));
        let damaged: Vec<Write> = others.cloned().collect();
        let caught = !requests::judge(&step.name, wanted, &damaged).is_empty();
        note(proof, looked, "drop", format!("{}: no {verb} {object}", step.name), caught);
    }
}

fn note(proof: &mut Proof, looked: Looked<'_>, damage: &str, text: String, caught: bool) {
    let case = looked.case.name.clone();
    proof.note(Survivor { case, damage: damage.to_owned(), text }, caught);
}
