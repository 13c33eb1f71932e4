//! Runs on the embedded API server: each request is sent twice, without and with the target.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use conformance::render;
use conformance::report::{Status, Verdict};
use conformance::run::{self, Interrupt, Options, Substrate};
use contract::case::{Case, Sending, Then, When};
use contract::expect::{Expect, Operator};
use serde_json::json;
use webhook::dial::{DialError, Dialer, HttpAnswer};

use crate::direct::{options, run_with};
use crate::fake::{FakeDialer, Manner, Scripted, registered};
use crate::rendering::view;
use crate::small;

pub(crate) fn embedded() -> Options {
    Options { substrate: Substrate::Embedded, ..options() }
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
async fn laws_are_judged_on_a_server_too() {
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
async fn a_request_that_no_server_sends_is_sent_directly_and_the_report_says_so() {
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
    let asked = Some("sent directly: no server sends such a request");
    assert_eq!((case.status, case.asked.as_deref()), (Status::Passed, asked), "{:?}", case.checks);
    assert_eq!(report.counts.asked_otherwise, 1);
    let words = "1 case did not run as the substrate says: 1 sent directly";
    assert!(render::text(&report, &view(None)).contains(words));
    assert!(render::markdown(&report).contains(words));
}

/// Good at `/replicas`; at any other path it behaves as `manner`.
struct Two(FakeDialer, FakeDialer);

impl Two {
    fn dialer(manner: Manner) -> Arc<dyn Dialer> {
        Arc::new(Self(FakeDialer::new(Manner::Good), FakeDialer::new(manner)))
    }
}

#[async_trait]
impl Dialer for Two {
    async fn post(&self, path: &str, body: Bytes, timeout: Duration) -> Result<HttpAnswer, DialError> {
        let is_first = path.split('?').next() == Some("/replicas");
        if is_first { self.0.post(path, body, timeout).await } else { self.1.post(path, body, timeout).await }
    }
}

#[tokio::test]
async fn a_webhook_that_cannot_be_registered_does_not_affect_others_and_leaves_nothing() {
    let mut broken = small::contract();
    broken.name = "broken".to_owned();
    broken.subject.webhook = Some("broken".to_owned());
    // The server accepts the first one, and refuses the name of the second.
    let registrations =
        vec![registered("a", "/broken"), registered("No_Name", "/broken"), registered("b", "/replicas")];
    let target = Scripted { dialer: Two::dialer(Manner::Careless), registrations, meddling: None };
    let (contracts, target) = ([broken, small::contract()].into(), Arc::new(target));
    let report = run::run(contracts, target, &embedded(), &|_| {}, &Interrupt::default()).await;
    let counts: Vec<(usize, usize)> =
        report.contracts.iter().map(|found| (found.counts.errored, found.counts.passed)).collect();
    assert_eq!(counts, [(5, 0), (0, 5)], "{:?}", report.environment_errors);
    assert_eq!((report.counts.unexplained, report.exit_code()), (0, 3));
}

#[tokio::test]
async fn laws_are_judged_on_every_webhook_that_was_called() {
    let registrations = vec![registered("a", "/replicas-first"), registered("b", "/replicas")];
    for options in [options(), embedded()] {
        let dialer = Two::dialer(Manner::Forgetful);
        let target = Scripted { dialer, registrations: registrations.clone(), meddling: None };
        let contracts = [small::contract()].into();
        let report = run::run(contracts, Arc::new(target), &options, &|_| {}, &Interrupt::default()).await;
        let broken = report.contracts[0].laws.iter().filter(|law| !law.broken.is_empty());
        let names: Vec<String> = broken.map(|law| conformance::laws::name(law.law)).collect();
        assert!(names.contains(&"deterministic".to_owned()), "{}: {names:?}", report.substrate.name);
    }
}

#[tokio::test]
async fn a_server_that_fails_before_the_webhook_is_an_environment_error() {
    let nowhere = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "nowhere"},
        "webhooks": [{
            "name": "nowhere.example.com",
            "clientConfig": {"url": "https://127.0.0.1:9/nowhere"},
            "rules": [{"operations": ["CREATE"], "apiGroups": ["apps"], "apiVersions": ["v1"], "resources": ["deployments"]}],
            "sideEffects": "None", "timeoutSeconds": 1, "admissionReviewVersions": ["v1"],
        }],
    });
    let registrations = vec![registered("a", "/replicas")];
    let dialer: Arc<dyn Dialer> = Arc::new(FakeDialer::new(Manner::Unreachable));
    let target = Scripted { dialer, registrations, meddling: Some(nowhere) };
    let contracts = [small::contract()].into();
    let report = run::run(contracts, Arc::new(target), &embedded(), &|_| {}, &Interrupt::default()).await;
    assert_eq!((report.counts.errored, report.counts.failed, report.exit_code()), (5, 0, 3));
    let case = &report.contracts[0].clauses[0].cases[0];
    let text = case.reason.as_ref().map(|reason| reason.text.as_str()).unwrap_or_default();
    assert!(text.starts_with("the server failed before the webhook: "), "{text}");
}

#[tokio::test]
async fn updates_and_deletions_have_an_old_object() {
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
