//! The saboteur: the kinds of damages, and those that a weak clause does not catch.

use std::collections::BTreeMap;

use conformance::exchange::{Answer, FieldCause};
use conformance::matching::{self, Rules};
use conformance::observation::{Observation, judge};
use conformance::report::Proof;
use conformance::saboteur::{self, Recorded};
use contract::case::{Case, Cause, Then};
use contract::expect::{Expect, KeyedItem, Operator};
use serde_json::{Value, json};

use crate::small;

fn text(text: &str) -> Expect {
    Expect::Value(json!(text))
}

fn map(fields: &[(&str, Expect)]) -> Expect {
    Expect::Map(fields.iter().map(|(name, expect)| ((*name).to_owned(), expect.clone())).collect())
}

/// A case with these inputs that asserts `then`, and its observation.
fn recorded(
    inputs: &[(&str, &str)],
    then: Then,
    input: &Value,
    answer: Answer,
) -> (Case, Observation, Rules) {
    let inputs: Vec<(String, String)> =
        inputs.iter().map(|(column, value)| ((*column).to_owned(), (*value).to_owned())).collect();
    let name = inputs.iter().map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(",");
    let case = Case { name, inputs, then, ..small::replica_case("any", "unchanged") };
    let seen = Observation { called: Some(true), input: Some(input.clone()), answer };
    let rules = matching::rules(&small::contract(), Some(input));
    (case, seen, rules)
}

fn prove(cases: &[(Case, Observation, Rules)]) -> Proof {
    for (case, seen, rules) in cases {
        assert_eq!(judge(&case.then, seen, rules), [], "{} passes undamaged", case.name);
    }
    let recorded: Vec<Recorded<'_>> =
        cases.iter().map(|(case, seen, rules)| Recorded { case, seen, rules }).collect();
    saboteur::prove(&recorded)
}

fn survivors(proof: &Proof) -> Vec<(String, String)> {
    proof.survivors.iter().map(|survivor| (survivor.damage.clone(), survivor.text.clone())).collect()
}

fn allowed(object: Value) -> Answer {
    Answer { allowed: true, code: Some(200), patched: true, object: Some(object), ..Answer::default() }
}

fn pod(hostname: Option<&str>, containers: &Value) -> Value {
    let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "spec": {"containers": containers}});
    if let Some(hostname) = hostname {
        pod["spec"]["hostname"] = json!(hostname);
    }
    pod
}

#[test]
fn a_value_that_is_asserted_is_proven_by_nothing_leaf_and_drop() {
    let then = Then { object: Some(map(&[("spec", map(&[("hostname", text("b"))]))])), ..Then::default() };
    let answer = allowed(pod(Some("b"), &json!([])));
    let proof = prove(&[recorded(&[("x", "1")], then, &pod(Some("a"), &json!([])), answer)]);
    assert!(proof.proven, "{proof:?}");
    let kinds: Vec<&str> = proof.caught.keys().map(String::as_str).collect();
    assert_eq!(kinds, ["drop", "flip", "leaf", "nothing"]);
}

#[test]
fn presence_does_not_notice_the_old_value() {
    let present = Expect::Operator(Operator::Present);
    let then = Then { object: Some(map(&[("spec", map(&[("hostname", present)]))])), ..Then::default() };
    let answer = allowed(pod(Some("b"), &json!([])));
    let proof = prove(&[recorded(&[("x", "1")], then, &pod(Some("a"), &json!([])), answer)]);
    let want = [("nothing", "allowed, nothing changed"), ("drop", "spec.hostname set back to what was sent")];
    assert_eq!(survivors(&proof), want.map(|(kind, text)| (kind.to_owned(), text.to_owned())));
    assert!(!proof.proven);
}

#[test]
fn a_row_answered_as_its_neighbour_is_noticed_only_where_the_values_differ() {
    let row = |kind: &str, expect: Expect, hostname: &str| {
        let then = Then { object: Some(map(&[("spec", map(&[("hostname", expect)]))])), ..Then::default() };
        recorded(&[("kind", kind)], then, &pod(None, &json!([])), allowed(pod(Some(hostname), &json!([]))))
    };
    let proof = prove(&[row("a", text("a"), "a"), row("b", text("b"), "b")]);
    assert!(proof.proven && proof.caught["swap"] == 2, "{proof:?}");
    let one_of = Expect::Operator(Operator::OneOf(vec![json!("a"), json!("b")]));
    let proof = prove(&[row("a", one_of.clone(), "a"), row("b", one_of, "b")]);
    let found = survivors(&proof);
    let swaps = found.iter().filter(|(kind, _)| kind == "swap").count();
    assert_eq!((swaps, proof.proven), (2, false), "{found:?}");
}

#[test]
fn rows_that_differ_in_two_columns_are_no_neighbours() {
    let row = |inputs: &[(&str, &str)], hostname: &str| {
        let then =
            Then { object: Some(map(&[("spec", map(&[("hostname", text(hostname))]))])), ..Then::default() };
        recorded(inputs, then, &pod(None, &json!([])), allowed(pod(Some(hostname), &json!([]))))
    };
    let proof = prove(&[row(&[("a", "1"), ("b", "1")], "x"), row(&[("a", "2"), ("b", "2")], "y")]);
    assert_eq!(proof.caught.get("swap"), None, "{proof:?}");
}

#[test]
fn an_absent_element_is_proven_by_putting_it_back() {
    let absent = KeyedItem {
        key: vec![("name".to_owned(), json!("old"))],
        expect: Expect::Operator(Operator::Absent),
    };
    let containers = Expect::Keyed { keys: vec!["name".to_owned()], items: vec![absent] };
    let then = Then { object: Some(map(&[("spec", map(&[("containers", containers)]))])), ..Then::default() };
    let input = pod(None, &json!([{"name": "old"}, {"name": "new"}]));
    let proof =
        prove(&[recorded(&[("x", "1")], then, &input, allowed(pod(None, &json!([{"name": "new"}]))))]);
    assert!(proof.proven, "{proof:?}");
}

#[test]
fn a_refusal_is_proven_by_flip_and_leaf() {
    let cause = |reason: &str| Cause {
        field: "spec.type".to_owned(),
        reason: Some(text(reason)),
        message: Some(Expect::Operator(Operator::Matches {
            regex: ".*required.*".to_owned(),
            not_for: None,
        })),
    };
    let then = Then { causes: Some(vec![cause("FieldValueRequired")]), ..Then::default() };
    let answer = Answer {
        code: Some(422),
        reason: Some("Invalid".to_owned()),
        message: Some("no".to_owned()),
        causes: vec![FieldCause {
            field: "spec.type".to_owned(),
            reason: "FieldValueRequired".to_owned(),
            message: "Required value: field is required".to_owned(),
        }],
        ..Answer::default()
    };
    let proof = prove(&[recorded(&[("x", "1")], then, &pod(None, &json!([])), answer)]);
    assert!(proof.proven, "{proof:?}");
    assert_eq!(
        proof.caught,
        BTreeMap::from([("flip".to_owned(), 5), ("leaf".to_owned(), 3), ("nothing".to_owned(), 1)])
    );
}

#[test]
fn a_message_that_anything_matches_is_not_proven() {
    let anything = Expect::Operator(Operator::Matches { regex: "(?s).*".to_owned(), not_for: None });
    let then = Then { allowed: Some(false), message: Some(anything), ..Then::default() };
    let answer = Answer { code: Some(403), message: Some("no".to_owned()), ..Answer::default() };
    let proof = prove(&[recorded(&[("x", "1")], then, &pod(None, &json!([])), answer)]);
    let found: Vec<String> = survivors(&proof).into_iter().map(|(_, text)| text).collect();
    assert_eq!(found, ["another message", "a longer message"]);
}

#[test]
fn a_clause_without_a_passed_case_is_not_proven() {
    assert!(!prove(&[]).proven);
}
