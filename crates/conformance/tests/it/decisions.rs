//! Decisions about versions: run, proven, and reported where the target does not decide.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use component::Cause;
use conformance::gardener::{Decided, Versions};
use conformance::render;
use conformance::report::{Reason, ReasonCode, Report, Status, Verdict};
use contract::case::Given;
use contract::gardener::decision::{Decision, Question};
use serde_json::{Value, json};

use crate::versions::{self, Garden, failures, statuses};

const CONTRACT: &str = r"apiVersion: conformance.gardener.cloud/v1alpha1
kind: Contract
metadata: {name: sample, labels: {component: garden}}
spec:
  form: versions
  source: {document: docs/sample.md, version: v1.0}
  onlyTouches: [spec.kubernetes.version]
  now: 2024-06-01T00:00:00Z
  runsOn: [decision, reconcile]
  clauses:
  - id: S-001
    text: a version is moved
    table: |
      | current | becomes   | told      |
      | 1.27.3  | 1.27.4    | [upwards] |
      | 1.27.4  | unchanged | absent    |
    shoot: {spec: {kubernetes: {version: <current>}}}
    then: {shoot: {spec: {kubernetes: {version: <becomes>}}}, told: <told>}
  - id: S-002
    text: a version is refused
    runsOn: [decision, admission]
    shoot: {spec: {kubernetes: {version: 1.20.0}}}
    when: {admission: CREATE}
    then: {causes: [{field: spec.kubernetes.version, reason: FieldValueForbidden}]}
";

/// How it decides.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    Good,
    /// Moves nothing.
    Idle,
    /// Moves the region too.
    Careless,
    /// Fails at something else every time.
    Forgetful,
    /// Decides nothing.
    Silent,
    /// Cannot read the decision's input.
    Helpless,
}

struct Deciding(Manner, AtomicUsize);

impl Garden for Deciding {}

impl Versions for Deciding {
    fn decide(&self, decision: &Decision, given: &Given) -> Option<Decided> {
        match self.0 {
            Manner::Silent => return None,
            Manner::Helpless => return Some(Decided::Undecided("what is this".to_owned())),
            _ => {}
        }
        if matches!(decision.asks, Question::Admission { .. }) {
            let text = |text: &str| text.to_owned();
            let (field, reason) = (text("spec.kubernetes.version"), text("FieldValueForbidden"));
            return Some(Decided::Refused(vec![Cause { field, reason, message: text("Forbidden: no") }]));
        }
        let mut shoot = given.object.clone()?;
        let version = &mut shoot["spec"]["kubernetes"]["version"];
        let mut document = json!({});
        if *version == "1.27.3" && self.0 != Manner::Idle {
            *version = json!("1.27.4");
            document["told"] = json!(["upwards"]);
        }
        match self.0 {
            Manner::Careless => shoot["spec"]["region"] = json!("elsewhere"),
            Manner::Forgetful => {
                document["failures"] = json!([self.1.fetch_add(1, Ordering::SeqCst).to_string()]);
            }
            _ => {}
        }
        document["shoot"] = shoot;
        Some(Decided::Document(document))
    }
}

async fn run_contract(text: &str, manner: Manner) -> Report {
    versions::run_contract(text, Deciding(manner, AtomicUsize::new(0))).await
}

/// The first failed check: part, path, want, got.
fn first_failure(report: &Report) -> [String; 4] {
    let check = *failures(report).first().expect("a case failed");
    [check.part.clone(), check.path.clone(), check.want.clone(), check.got.clone()]
}

#[tokio::test]
async fn decisions_run_and_are_proven_and_other_levels_are_counted_separately() {
    let report = run_contract(CONTRACT, Manner::Good).await;
    assert_eq!(
        statuses(&report),
        [
            ("1.27.3/decision", Status::Passed),
            ("1.27.3/reconcile", Status::NotSupported),
            ("1.27.4/decision", Status::Passed),
            ("1.27.4/reconcile", Status::NotSupported),
            ("CREATE/decision", Status::Passed),
            ("CREATE/admission", Status::NotSupported),
        ]
    );
    assert_eq!((report.verdict, report.exit_code(), report.counts.proven), (Verdict::Conformant, 0, 2));
    assert_eq!((report.counts.gaps, report.counts.unexplained), (0, 0));
    let case = &report.contracts[0].clauses[0].cases[1];
    let text = "the target has no running garden component for rows on reconcile";
    assert_eq!(case.reason, Some(Reason::new(ReasonCode::Level, text)));
    assert_eq!(case.runs_on.as_deref(), Some("reconcile"));
    let text = render::text(&report, &crate::rendering::view(None));
    let rows = "rows     admission 0 of 1 run · decision 3 of 3 run · reconcile 0 of 2 run";
    assert!(text.contains(rows) && text.contains("MUST 2/2 (2 partly run)"), "{text}");
}

#[tokio::test]
async fn a_wrong_decision_fails_at_the_place_that_is_asserted() {
    let report = run_contract(CONTRACT, Manner::Idle).await;
    assert_eq!(first_failure(&report), ["decision", "shoot.spec.kubernetes.version", "1.27.4", "1.27.3"]);
    assert_eq!((report.verdict, report.exit_code()), (Verdict::NonConformant, 1));
    let text = render::text(&report, &crate::rendering::view(None));
    assert!(text.contains("when   maintenance is decided at 2024-06-01T00:00:00Z"), "{text}");
}

#[tokio::test]
async fn an_additional_change_is_an_unexplained_mutation() {
    let report = run_contract(CONTRACT, Manner::Careless).await;
    let found: Vec<&str> =
        report.contracts[0].unexplained.iter().map(|change| change.path.as_str()).collect();
    assert_eq!((found, report.verdict), (vec!["shoot.spec.region"], Verdict::NonConformant));
}

#[tokio::test]
async fn the_same_question_has_the_same_answer() {
    let report = run_contract(CONTRACT, Manner::Forgetful).await;
    let [part, path, ..] = first_failure(&report);
    assert_eq!([part.as_str(), path.as_str()], ["law", "deterministic"]);
}

#[tokio::test]
async fn a_target_without_decisions_neither_fails_nor_is_proven() {
    let report = run_contract(CONTRACT, Manner::Silent).await;
    assert_eq!(
        (report.counts.not_supported, report.counts.proven, report.verdict),
        (6, 0, Verdict::Inconclusive)
    );
    assert_eq!(report.exit_code(), 4);
}

#[tokio::test]
async fn the_message_of_an_undecided_case_is_reported() {
    let report = run_contract(CONTRACT, Manner::Helpless).await;
    let [part, _, want, got] = first_failure(&report);
    assert_eq!([part, want, got], ["allowed", "true", "false: what is this"].map(str::to_owned));
}

#[tokio::test]
async fn a_clause_that_cannot_fail_is_not_proven() {
    let weak = CONTRACT.replace("[upwards]", "present").replace("| 1.27.4    |", "| present   |");
    let report = run_contract(&weak, Manner::Good).await;
    let proof = report.contracts[0].clauses[0].proof.clone().unwrap();
    assert!(!proof.proven, "{proof:?}");
    let kinds: BTreeSet<&str> = proof.survivors.iter().map(|survivor| survivor.damage.as_str()).collect();
    assert!(kinds.contains("drop"), "{proof:?}");
    assert_eq!(report.exit_code(), 6);
    assert_ne!(Value::Null, json!(report));
}
