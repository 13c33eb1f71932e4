//! Objects that Gardener emits, namespace by namespace: breaches, summaries and the report.

use std::sync::Arc;

use conformance::objects::{About, Checker, Read};
use conformance::report::{CaseResult, Report, Status, Verdict};
use contract::model::{Contract, Form};
use serde_json::{Value, json};

fn contracts(ids: &[&str]) -> Vec<Contract> {
    let mut contracts = contracts::all().expect("the contracts are well-formed");
    contracts.retain(|contract| contract.form == Form::Objects);
    for contract in &mut contracts {
        contract.clauses.retain(|clause| ids.contains(&clause.id.as_str()));
    }
    contracts
}

fn service(kind: &str) -> Read {
    let object = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "kube-apiserver"}, "spec": {"type": kind}});
    Read { object: Arc::new(object), origin: "a.yaml:1".to_owned() }
}

fn cases<'r>(report: &'r Report, id: &str) -> &'r [CaseResult] {
    let clauses = report.contracts.iter().flat_map(|contract| &contract.clauses);
    clauses
        .into_iter()
        .find(|clause| clause.id == id)
        .map(|clause| clause.cases.as_slice())
        .unwrap_or_default()
}

fn names_and_statuses(cases: &[CaseResult]) -> Vec<(&str, Status)> {
    cases.iter().map(|case| (case.name.as_str(), case.status)).collect()
}

#[test]
fn breaches_are_kept_up_to_a_number_and_counted_beyond() {
    let contracts = contracts(&["CP-032", "CP-035"]);
    let mut checker = Checker::new(&contracts, Some("v1.82.0".to_owned()), false);
    for at in 0..150 {
        checker.take(&format!("shoot--{at}"), &[service("NodePort")]);
    }
    for at in 0..30 {
        checker.take(&format!("other--{at}"), &[service("ClusterIP")]);
    }
    assert_eq!(checker.namespaces(), 180);
    let report = checker.report(About::default());
    let found = cases(&report, "CP-032");
    assert_eq!((found.len(), report.verdict, report.exit_code), (102, Verdict::NonConformant, 1));
    let counted = [("50 objects more", Status::Failed), ("30 objects as they should be", Status::Passed)];
    assert_eq!(names_and_statuses(&found[100..]), counted);
    assert_eq!(found[0].story, ["given  service/kube-apiserver · namespace shoot--0 · a.yaml:1"]);
    assert_eq!(
        (found[0].checks[0].path.as_str(), found[0].checks[0].got.as_str()),
        ("spec.type", "NodePort")
    );
    let presupposed = [
        ("30 objects as they should be", Status::Passed),
        ("150 objects where CP-032 is broken", Status::NotRun),
    ];
    assert_eq!(names_and_statuses(cases(&report, "CP-035")), presupposed);
}

#[test]
fn a_change_that_a_webhook_may_have_made_is_not_a_failure() {
    let mut contracts = contracts(&["CP-033", "CP-035", "CP-037"]);
    for clause in contracts.iter_mut().flat_map(|contract| &mut contract.clauses) {
        clause.level = clause.strict.unwrap_or(clause.level);
    }
    let mut annotated = service("ClusterIP");
    let mut object: Value = annotated.object.as_ref().clone();
    object["metadata"]["annotations"] = json!({"metallb.universe.tf/address-pool": "a"});
    annotated.object = Arc::new(object);
    for (changed, status, verdict, code) in [
        (false, Status::Failed, Verdict::NonConformant, 1),
        (true, Status::NotSupported, Verdict::Partial, 0),
    ] {
        let mut checker = Checker::new(&contracts, None, changed);
        checker.take("", std::slice::from_ref(&annotated));
        let report = checker.report(About::default());
        let statuses: Vec<Status> = cases(&report, "CP-033").iter().map(|case| case.status).collect();
        assert!(statuses.contains(&status), "{statuses:?}");
        assert_eq!((report.verdict, report.exit_code), (verdict, code), "{changed}");
        // The release is unknown.
        assert_eq!(names_and_statuses(cases(&report, "CP-037")), [("nothing", Status::Skipped)]);
    }
}

#[test]
fn every_clause_is_proven_by_what_breaks_it() {
    let mut contracts = contracts(&["CP-032"]);
    let mut checker = Checker::new(&contracts, None, false);
    checker.take("a", &[service("ClusterIP")]);
    let proven = |report: &Report| report.contracts.iter().any(|contract| contract.counts.proven > 0);
    assert!(proven(&checker.report(About::default())));
    // Nothing breaks a clause that accepts everything.
    for clause in contracts.iter_mut().flat_map(|contract| &mut contract.clauses) {
        for case in &mut clause.cases {
            case.then.object = Some(contract::expect::Expect::Operator(contract::expect::Operator::Any));
        }
    }
    let mut checker = Checker::new(&contracts, None, false);
    checker.take("a", &[service("ClusterIP")]);
    let report = checker.report(About::default());
    assert!(!proven(&report));
    assert_eq!(report.exit_code, 6);
}
