//! Runs on the embedded API server: every request twice, without the target and with it.

use conformance::report::{Status, Verdict};
use conformance::run::{Ground, Options};
use contract::case::{Case, Sending, Then, When};
use contract::expect::{Expect, Operator};
use serde_json::json;

use crate::direct::{options, run_with};
use crate::fake::Manner;
use crate::small;

pub(crate) fn embedded() -> Options {
    Options { ground: Ground::Embedded, ..options() }
}

#[tokio::test]
async fn the_verdict_is_the_one_of_direct() {
    let report = run_with(small::contract(), Manner::Good, embedded()).await;
    let failed: Vec<_> = report.contracts[0]
        .clauses
        .iter()
        .flat_map(|clause| &clause.cases)
        .filter(|case| case.status != Status::Passed)
        .collect();
    assert!(failed.is_empty(), "{failed:#?}");
    assert_eq!(
        (report.verdict, report.exit_code()),
        (Verdict::Conformant, 0),
        "{:#?}",
        report.contracts[0].laws
    );
    assert_eq!(report.counts.proven, 2);
}

#[tokio::test]
async fn a_broken_value_fails_its_case() {
    let report = run_with(small::contract(), Manner::WrongValue, embedded()).await;
    let failed: Vec<&str> =
        report.contracts[0].clauses[0].cases_with(Status::Failed).map(|case| case.name.as_str()).collect();
    assert_eq!((failed, report.exit_code()), (vec!["server"], 1));
}

#[tokio::test]
async fn what_is_not_the_contracts_business_breaks_laws_there_too() {
    for manner in [
        Manner::Careless,
        Manner::Forgetful,
        Manner::OtherUid,
        Manner::Garbage,
        Manner::Broken,
        Manner::Untyped,
    ] {
        let report = run_with(small::contract(), manner, embedded()).await;
        assert_eq!((report.verdict, report.exit_code()), (Verdict::NonConformant, 1), "{manner:?}");
    }
    let report = run_with(small::contract(), Manner::Unreachable, embedded()).await;
    assert_eq!((report.counts.failed, report.exit_code()), (0, 3));
}

#[tokio::test]
async fn what_a_server_cannot_bring_about_is_asked_directly_and_says_so() {
    let mut contract = small::contract();
    let request = json!({"name": "x", "object": null}).as_object().cloned().unwrap_or_default();
    let case = Case {
        name: "no object".to_owned(),
        when: When::Admission {
            operation: "CREATE".to_owned(),
            sending: Sending { request, ..Sending::default() },
        },
        then: Then { allowed: Some(true), code: Some(200), ..Then::default() },
        ..small::replica_case("controller", "2")
    };
    contract.clauses[0].cases.push(case);
    let report = run_with(contract, Manner::Good, embedded()).await;
    let case = &report.contracts[0].clauses[0].cases[3];
    let asked = Some("asked directly: no server sends such a request");
    assert_eq!((case.status, case.asked.as_deref()), (Status::Passed, asked), "{:?}", case.checks);
}

#[tokio::test]
async fn updates_and_deletions_meet_an_old_object() {
    let mut contract = small::contract();
    let update = Case {
        name: "update".to_owned(),
        when: When::Admission { operation: "UPDATE".to_owned(), sending: Sending::default() },
        ..small::replica_case("server", "3")
    };
    let delete = Case {
        name: "delete".to_owned(),
        when: When::Admission { operation: "DELETE".to_owned(), sending: Sending::default() },
        then: Then { called: Some(false), ..Then::default() },
        ..small::replica_case("server", "3")
    };
    let untouched = Case {
        name: "untouched".to_owned(),
        then: Then { object: Some(Expect::Operator(Operator::Unchanged)), ..Then::default() },
        ..small::replica_case("other", "unchanged")
    };
    contract.clauses[0].cases.extend([update, delete, untouched]);
    for options in [embedded(), options()] {
        let report = run_with(contract.clone(), Manner::Good, options).await;
        let statuses: Vec<(&str, Status)> = report.contracts[0].clauses[0].cases[3..]
            .iter()
            .map(|case| (case.name.as_str(), case.status))
            .collect();
        let want = ["update", "delete", "untouched"].map(|name| (name, Status::Passed));
        assert_eq!(statuses, want, "{}: {:#?}", report.substrate.name, report.contracts[0].clauses[0].cases);
    }
}
