//! Contracts about registrations, configurations and review versions.

use std::collections::BTreeMap;
use std::sync::Arc;

use conformance::report::{Report, Status};
use conformance::run::{self, Interrupt, Options};
use contract::case::{About, Case, Cause, Review, Sending, Then, When};
use contract::expect::{Expect, KeyedItem, Operator};
use contract::model::{Contract, Form};
use serde_json::json;

use crate::direct::options;
use crate::embedded::embedded;
use crate::fake::{Fake, Manner};
use crate::small;

fn map(fields: &[(&str, Expect)]) -> Expect {
    Expect::Map(
        fields.iter().map(|(name, expect)| ((*name).to_owned(), expect.clone())).collect::<BTreeMap<_, _>>(),
    )
}

/// The small contract with a single case.
fn only(case: Case) -> Contract {
    let mut contract = small::contract();
    contract.clauses.truncate(1);
    contract.clauses[0].cases = vec![case];
    contract
}

fn registered(timeout: i64) -> Contract {
    let webhook = map(&[
        ("timeoutSeconds", Expect::Value(json!(timeout))),
        ("sideEffects", Expect::Value(json!("None"))),
    ]);
    let name = ("name".to_owned(), json!("replicas.example.com"));
    let webhooks = Expect::Keyed {
        keys: vec!["name".to_owned()],
        items: vec![KeyedItem { key: vec![name], expect: webhook }],
    };
    let then =
        Then { about: About::Registration, object: Some(map(&[("webhooks", webhooks)])), ..Then::default() };
    let when = When::Registration { instance: "seed".to_owned() };
    only(Case { when, then, ..small::replica_case("controller", "2") })
}

fn configured(burst: i64, then: Then) -> Contract {
    let then = Then { about: About::Configuration, ..then };
    let config = json!({"burst": burst});
    let mut contract =
        only(Case { config, when: When::Configuration, then, ..small::replica_case("controller", "2") });
    contract.form = Form::Configuration;
    contract
}

async fn run_contract(contract: Contract, manner: Manner, registered: bool, options: Options) -> Report {
    let target = Arc::new(Fake { manner, registered });
    run::run([contract].into(), target, &options, &|_| {}, &Interrupt::default()).await
}

fn outcome(report: &Report) -> (Status, bool, u8) {
    let clause = &report.contracts[0].clauses[0];
    (clause.cases[0].status, clause.proof.as_ref().is_some_and(|proof| proof.proven), report.exit_code())
}

#[tokio::test]
async fn fields_of_a_registration_are_asserted_and_proven_on_every_substrate() {
    for options in [options(), embedded()] {
        let report = run_contract(registered(1), Manner::Good, true, options.clone()).await;
        assert_eq!(outcome(&report), (Status::Passed, true, 0));
        let report = run_contract(registered(10), Manner::Good, true, options.clone()).await;
        assert_eq!(outcome(&report), (Status::Failed, false, 1));
        let check = &report.contracts[0].clauses[0].cases[0].checks[0];
        let wanted = ("registration", "webhooks[name=replicas.example.com].timeoutSeconds", "10", "1");
        assert_eq!(
            (check.part.as_str(), check.path.as_str(), check.want.as_str(), check.got.as_str()),
            wanted
        );
        let report = run_contract(registered(1), Manner::Good, false, options).await;
        assert_eq!(outcome(&report).0, Status::NotSupported);
    }
}

#[tokio::test]
async fn a_configuration_is_accepted_or_refused_with_its_causes() {
    let cause = |field: &str| Cause {
        field: field.to_owned(),
        reason: None,
        message: Some(Expect::Value(json!("Invalid value: -1: must be non-negative"))),
    };
    let refused = |field| Then { causes: Some(vec![cause(field)]), ..Then::default() };
    let starts = |starts| Then { allowed: Some(starts), ..Then::default() };
    let table = [
        (configured(-1, refused("burst")), Manner::Good, (Status::Passed, true, 0)),
        (configured(-1, refused("qps")), Manner::Good, (Status::Failed, false, 1)),
        (configured(-1, refused("burst")), Manner::Careless, (Status::Failed, false, 1)),
        (configured(-1, starts(false)), Manner::Good, (Status::Passed, true, 0)),
        (configured(1, starts(true)), Manner::Good, (Status::Passed, true, 0)),
        (configured(1, starts(true)), Manner::NotServed, (Status::NotSupported, false, 4)),
        (configured(1, starts(true)), Manner::Stillborn, (Status::Errored, false, 3)),
    ];
    for (at, (contract, manner, want)) in table.into_iter().enumerate() {
        for options in [options(), embedded()] {
            assert_eq!(
                outcome(&run_contract(contract.clone(), manner, true, options).await),
                want,
                "{at}: {manner:?}"
            );
        }
    }
}

#[tokio::test]
async fn defaults_and_warnings_are_asserted_if_they_can_be_observed() {
    let effective =
        |burst| Then { object: Some(map(&[("burst", Expect::Value(json!(burst)))])), ..Then::default() };
    let silent =
        Then { warnings: Some(Expect::List { items: Vec::new(), ordered: true }), ..Then::default() };
    let table = [
        (effective(7), Manner::Good, (Status::Passed, true)),
        (effective(130), Manner::Good, (Status::Failed, false)),
        (effective(7), Manner::Hanging, (Status::NotSupported, false)),
        (silent.clone(), Manner::Good, (Status::Passed, true)),
        (silent, Manner::Hanging, (Status::NotSupported, false)),
    ];
    for (then, manner, want) in table {
        let report = run_contract(configured(7, then.clone()), manner, true, options()).await;
        assert_eq!((outcome(&report).0, outcome(&report).1), want, "{then:?} {manner:?}");
    }
}

#[tokio::test]
async fn a_review_is_sent_and_answered_in_the_version_of_the_case() {
    let case = |sent, answered| {
        let sending = Sending { review: Some(sent), ..Sending::default() };
        let when = When::Admission { operation: "CREATE".to_owned(), sending };
        Case {
            when,
            then: Then { review: Some(answered), ..Then::default() },
            ..small::replica_case("controller", "2")
        }
    };
    for version in [Review::V1, Review::V1beta1] {
        let report = run_contract(only(case(version, version)), Manner::Good, true, embedded()).await;
        assert_eq!((outcome(&report).0, outcome(&report).1), (Status::Passed, true), "{version:?}");
    }
    let report = run_contract(only(case(Review::V1beta1, Review::V1)), Manner::Good, true, options()).await;
    assert_eq!(outcome(&report).0, Status::Failed);
}

#[tokio::test]
async fn a_direct_request_ignores_the_registration() {
    // Another kind of object, which the registration does not name.
    let case = |direct| {
        let sending = Sending { direct, ..Sending::default() };
        let mut case = small::replica_case("controller", "unchanged");
        case.given.object =
            Some(json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "b"}}));
        let when = When::Admission { operation: "CREATE".to_owned(), sending };
        let then = Then { object: Some(Expect::Operator(Operator::Unchanged)), ..Then::default() };
        Case { when, then, ..case }
    };
    for (direct, called) in [(true, true), (false, false)] {
        let report = run_contract(only(case(direct)), Manner::Careless, true, options()).await;
        let was_called = report.contracts[0].laws.iter().any(|law| law.held > 0);
        assert_eq!((outcome(&report).0, was_called), (Status::Passed, called), "{direct}");
    }
}
