//! What people see of broken targets, as golden files: on terminals of 80 and 200 columns, for the gate, code scanning and pull
//! requests. Review a changed file line by line, like a reader who does not know the target.

use std::collections::BTreeSet;

use conformance::gate::{self, Against, Judgement};
use conformance::render::{self, Plain, View};
use conformance::report::{Report, Status, WaiverState};
use contract::document::policy::{Action, Policy};
use contract::document::waivers::Waiver;
use serde_json::Value;

use crate::acme::{self, Fault};

const FLAGS: [&str; 3] = ["kube-apiserver-flags", "kube-controller-manager-flags", "deployments"];
const UNITS: [&str; 2] = ["operating-system-configs", "kubelet-flags"];

fn view(width: usize) -> View<'static> {
    View { width, quiet: false, verbose: false, style: &Plain, report: None }
}

/// The text at both widths; no line of the narrow one is wider than 80 columns, except commands and places, which stay whole.
fn texts(report: &Report) -> String {
    let narrow = render::text(report, &view(80));
    for line in narrow.lines().filter(|line| line.chars().count() > 80) {
        let is_whole = line.starts_with("  again ")
            || line.trim().rsplit(':').next().is_some_and(|end| end.parse::<u32>().is_ok());
        assert!(is_whole, "{line}");
    }
    format!("{narrow}\n{}\n{}", "=".repeat(80), render::text(report, &view(200)))
}

fn judged(report: &Report) -> String {
    let judgement = judgement(report, &[]);
    format!("{}\n{}", render::gate(&judgement, &view(80)), render::gate_markdown(&judgement))
}

fn judgement(report: &Report, waivers: &[Waiver]) -> Judgement {
    let (policy, clauses) = (Policy::default(), BTreeSet::new());
    let against = Against {
        name: "default",
        policy: &policy,
        waivers,
        baseline: None,
        profiles: &[],
        clauses: &clauses,
        today: "2026-03-02".parse().expect("a day"),
    };
    gate::judge(report, &against)
}

/// The results of code scanning, without rules.
fn results(report: &Report) -> String {
    let log: Value = serde_json::from_str(&render::sarif(report)).expect("SARIF is JSON");
    format!("{:#}", log["runs"][0]["results"])
}

#[tokio::test]
async fn three_faults() {
    let faults = [Fault::TakesFlag, Fault::SetsReplicas, Fault::AppendsAgain];
    let report = acme::report(&[&FLAGS[..], &UNITS[..]].concat(), &faults).await;
    insta::assert_snapshot!("three_faults", texts(&report));
    insta::assert_snapshot!("three_faults_gate", judged(&report));
    insta::assert_snapshot!("three_faults_markdown", render::markdown(&report));
}

#[tokio::test]
async fn a_broken_idempotence_is_one_finding() {
    let report = acme::report(&UNITS, &[Fault::AppendsAgain]).await;
    insta::assert_snapshot!("idempotence", texts(&report));
    insta::assert_snapshot!("idempotence_gate", judged(&report));
    insta::assert_snapshot!("idempotence_sarif", results(&report));
}

#[tokio::test]
async fn a_waived_law_waives_what_follows_from_it() {
    let waiver = Waiver {
        clause: "idempotent".to_owned(),
        target: None,
        owner: "team-x".to_owned(),
        reason: "fixed in 1.4".to_owned(),
        link: None,
        expires: "2027-03-31".parse().expect("a day"),
    };
    let report = acme::report(&UNITS, &[Fault::AppendsAgain]).await;
    assert!(report.counts.laws_broken > 0 && report.counts.not_run > 0, "{:?}", report.counts);
    let findings = judgement(&report, std::slice::from_ref(&waiver)).findings;
    let failing: Vec<_> = findings.iter().filter(|finding| finding.action == Action::Fail).collect();
    assert!(failing.is_empty(), "{failing:#?}");
    let accepted: Vec<&str> = findings.iter().map(|finding| finding.subject.as_str()).collect();
    assert!(accepted.contains(&"law idempotent"), "{accepted:?}");
    // With the waiver in the run, nothing is left out that presupposes a clause which the law breaks.
    let report = acme::waived_report(&UNITS, &[Fault::AppendsAgain], waiver).await;
    assert_eq!((report.counts.laws_broken, report.counts.not_run), (0, 0));
    let clauses = report.contracts.iter().flat_map(|contract| &contract.clauses);
    for case in clauses.flat_map(|clause| clause.cases_with(Status::Failed)) {
        assert!(case.checks.iter().any(|check| check.part != "law"), "{} fails only by the law", case.name);
    }
    assert_eq!(report.waivers[0].state, WaiverState::Used);
}

#[tokio::test]
async fn a_panic_shows_what_the_program_said() {
    let report = acme::report(&UNITS, &[Fault::Panics]).await;
    insta::assert_snapshot!("panic", texts(&report));
    insta::assert_snapshot!("panic_sarif", results(&report));
    let kept =
        report.contracts.iter().flat_map(|contract| &contract.clauses).flat_map(|clause| &clause.cases);
    let outputs = kept
        .filter_map(|case| case.evidence.as_ref())
        .filter(|evidence| evidence.output.contains("main.units("));
    assert!(outputs.count() > 0, "the report keeps the output");
}

#[tokio::test]
async fn an_answer_that_does_not_come_or_is_none_is_named_for_what_happened() {
    for (name, fault) in
        [("hang", Fault::Hangs), ("no_review", Fault::IsNoWebhook), ("patch", Fault::PatchesNothing)]
    {
        let report = acme::report(&UNITS, &[fault]).await;
        let text = render::text(&report, &view(80));
        assert!(!text.contains("law "), "{text}");
        insta::assert_snapshot!(name, text);
    }
}

#[tokio::test]
async fn a_provider_without_faults_is_conformant() {
    let report = acme::report(&[&FLAGS[..], &UNITS[..]].concat(), &[]).await;
    insta::assert_snapshot!("no_fault", render::text(&report, &view(80)));
}
