//! Proof that a scenario can fail: damages the recorded states of its steps and compares them again.

use contract::expect::{self, Expect, Operator, Rules};
use contract::scenario::{Never, ObjectRef, Requests, Scenario, State, Step};
use serde_json::Value;

use super::clusters::head;
use super::requests::{self, ObservedWrite};
use super::unmet::format_value;
use crate::matching;
use crate::plan::LocatedCase;
use crate::report::{Proof, Survivor};

/// The record of a step that passed.
pub(super) struct StepRecord {
    /// Which step.
    pub(super) step: usize,
    /// Each `eventually` object before the step and after it.
    pub(super) states: Vec<(Option<Value>, Option<Value>)>,
    /// The states of each `history`.
    pub(super) seen: Vec<Vec<Option<Value>>>,
    /// The target's writes.
    pub(super) writes: Vec<ObservedWrite>,
}

/// Adds the result of the run in which the target's writes had no effect.
pub(super) fn add_no_effect_run(proof: &mut Proof, located: LocatedCase<'_>, survived: bool) {
    let text = "every write of the target was a dry run";
    note(proof, located, "nothing", text.to_owned(), !survived);
    proof.proven &= !survived;
}

/// Adds that the run in which the target's writes have no effect was impossible.
pub(super) fn add_missing_run(proof: &mut Proof, reason: &str) {
    proof.undamaged.push(format!("every write of the target was a dry run: {reason}"));
    proof.proven = false;
}

/// Applies **leaf** and **drop** to the states and **extra** to the requests.
pub(super) fn prove(located: LocatedCase<'_>, scenario: &Scenario, kept: &[StepRecord]) -> Proof {
    let mut proof = Proof::default();
    for kept in kept {
        let step = &scenario.steps[kept.step];
        states(&mut proof, located, step, kept);
        histories(&mut proof, located, step, kept);
        if let Some(never) = &step.never {
            forbidden(&mut proof, located, step, never);
        }
        if let Some(wanted) = &step.requests {
            prove_requests(&mut proof, located, step, wanted, &kept.writes);
        }
    }
    let damaged: usize = proof.caught.values().sum();
    proof.proven = damaged > 0 && proof.survivors.is_empty() && proof.undamaged.is_empty();
    proof
}

fn states(proof: &mut Proof, located: LocatedCase<'_>, step: &Step, kept: &StepRecord) {
    for (state, (input, found)) in step.eventually.iter().zip(&kept.states) {
        let rules = located.contract.rules(&head(&state.object));
        for assertion in expect::assertions(&state.expect, found.as_ref(), &rules) {
            let place = format!("{}: {} {}", step.name, state.object, assertion.path);
            let at = |object: &Option<Value>| {
                object.as_ref().and_then(|object| matching::get(object, &assertion.path))
            };
            let (got, before) = (at(found), at(input));
            let text =
                |value: Option<&Value>| format_value(&state.object, found.as_ref(), &assertion.path, value);
            let mut damaged = false;
            for value in matching::refused(&assertion, got.as_ref(), before.as_ref()) {
                let wrong = put(found.as_ref(), &assertion.path, value.as_ref());
                if wrong == *found {
                    continue;
                }
                damaged = true;
                let caught = !expect::holds(&state.expect, input.as_ref(), wrong.as_ref(), &rules);
                let description =
                    format!("{place}: {} instead of {}", text(value.as_ref()), text(got.as_ref()));
                note(proof, located, "leaf", description, caught);
            }
            if !damaged {
                proof.undamaged.push(place);
            }
        }
    }
}

/// The object with another value at a path; at its root, another object or none.
fn put(object: Option<&Value>, path: &expect::Path, value: Option<&Value>) -> Option<Value> {
    if path.0.is_empty() {
        return value.cloned();
    }
    let mut wrong = object.cloned().unwrap_or_default();
    matching::put(&mut wrong, path, value);
    Some(wrong)
}

/// **leaf**: changes one value in all states of a history that match an expectation.
fn histories(proof: &mut Proof, located: LocatedCase<'_>, step: &Step, kept: &StepRecord) {
    for (history, seen) in step.history.iter().zip(&kept.seen) {
        let rules = located.contract.rules(&head(&history.object));
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
                    let wrong =
                        format_value(&history.object, first.as_ref(), &assertion.path, value.as_ref());
                    let text = format!("{place} {}: {wrong}", assertion.path);
                    note(proof, located, "leaf", text, caught);
                }
            }
        }
    }
}

/// **extra**: a forbidden write, and a forbidden absence or presence. An object that no other case of the contract names
/// survives: its name is probably wrong.
fn forbidden(proof: &mut Proof, located: LocatedCase<'_>, step: &Step, never: &Never) {
    let cases = located.contract.clauses.iter().flat_map(|clause| &clause.cases);
    let scenarios: Vec<&Scenario> = cases.filter_map(|case| case.when.scenario()).collect();
    let is_named = |object: &ObjectRef| scenarios.iter().any(|scenario| scenario.speaks_of(object));
    for object in &never.writes {
        let write = ObservedWrite {
            server: 0,
            verb: "update",
            object: object.clone(),
            unchanged: false,
            refused: false,
        };
        let caught = is_named(object) && !requests::forbidden(&step.name, never, &[write]).is_empty();
        note(proof, located, "extra", format!("{}: update {object}", step.name), caught);
    }
    for state in &never.states {
        let rules = located.contract.rules(&head(&state.object));
        let seen = [None, Some(head(&state.object)), Some(example_object(state, &rules))];
        let caught = seen.iter().any(|seen| expect::holds(&state.expect, None, seen.as_ref(), &rules));
        if caught && is_named(&state.object) {
            note(proof, located, "extra", format!("{}: {} came about", step.name, state.object), true);
        } else {
            proof.undamaged.push(format!("{}: never {}", step.name, state.object));
        }
    }
}

/// An object that meets the state's expectations of values and of presence.
fn example_object(state: &State, rules: &Rules) -> Value {
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

/// **extra**: too many writes; **drop**: an order without its first write.
fn prove_requests(
    proof: &mut Proof,
    located: LocatedCase<'_>,
    step: &Step,
    wanted: &Requests,
    writes: &[ObservedWrite],
) {
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
        let write = ObservedWrite {
            server: 0,
            verb: "update",
            object: object.clone(),
            unchanged: false,
            refused: false,
        };
        let extra = std::iter::repeat_n(write, more);
        let damaged: Vec<ObservedWrite> = writes.iter().cloned().chain(extra).collect();
        let caught = !requests::judge(&step.name, wanted, &damaged).is_empty();
        note(proof, located, "extra", format!("{}: {more} more writes of {object}", step.name), caught);
    }
    if let Some((verb, object)) = wanted.order.first() {
        let others = writes.iter().filter(|write| !requests::is_write_of(write, verb, object));
        let damaged: Vec<ObservedWrite> = others.cloned().collect();
        let caught = !requests::judge(&step.name, wanted, &damaged).is_empty();
        note(proof, located, "drop", format!("{}: no {verb} {object}", step.name), caught);
    }
}

fn note(proof: &mut Proof, located: LocatedCase<'_>, damage: &str, text: String, caught: bool) {
    let case = located.case.name.clone();
    proof.note(Survivor { case, damage: damage.to_owned(), text }, caught);
}
