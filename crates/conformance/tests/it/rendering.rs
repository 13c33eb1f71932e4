//! Reports as text, JSON, JUnit, Markdown and HTML.

use conformance::render::{self, Plain, View};
use conformance::report::{self, Gap, Report, Unasked};
use conformance::target::TargetKind;
use contract::index::Outline;

use crate::direct::{options, run_with};
use crate::fake::Manner;
use crate::small;

pub(crate) fn view(report: Option<&str>) -> View<'_> {
    View { width: 100, quiet: false, verbose: false, style: &Plain, report }
}

/// Times are the only thing that differs from run to run.
fn timeless(mut report: Report) -> Report {
    report.run.duration_ms = 1900.0;
    for contract in &mut report.contracts {
        contract.duration_ms = 41.0;
    }
    report
}

async fn broken() -> Report {
    timeless(run_with(small::contract(), Manner::WrongValue, options()).await)
}

#[tokio::test]
async fn a_good_run_is_three_lines_and_one_per_contract() {
    let report = timeless(run_with(small::contract(), Manner::Good, options()).await);
    let want = "\
gardener-conformance 0.1.0 · AdmissionReviews straight to the target; facts in an embedded API
                           server

fake
  ✓ replicas     2 clauses       5 cases     41 ms
  1 contract, 2 clauses, 5 cases in 1.9 s · seed 4711

verdict  conformant    MUST 2/2
proof    2 of 2 clauses proven able to fail · 0 gaps
report   reports/latest/report.html   (json, junit, md beside it)
";
    assert_eq!(render::text(&report, &view(Some("reports/latest/report.html"))), want);
}

#[tokio::test]
async fn a_failure_shows_sentence_case_diff_and_command() {
    let text = render::text(&broken().await, &view(None));
    let want = "\
✗ FAKE-001  the replica count follows the type
  MUST · 1 of 3 cases failed

  case server                                                         contracts/fake/replicas.yaml:7
    given  Deployment app · type=server
    when   CREATE apps/v1 deployments
  - spec.replicas: 3  wanted
  + spec.replicas: 2  got

  again   gardener-conformance run --case 'FAKE-001/server'
  why     gardener-conformance explain FAKE-001

verdict  not conformant    MUST 1/2
";
    assert!(text.contains(want), "{text}");
}

#[tokio::test]
async fn failures_of_one_cause_are_one_with_a_count() {
    let report = timeless(run_with(small::contract(), Manner::Broken, options()).await);
    let text = render::text(&report, &view(None));
    assert_eq!(text.matches("HTTP status 500").count(), 1, "{text}");
    assert!(text.contains("and 3 more cases of the same cause of 2 clauses: "), "{text}");
}

#[tokio::test]
async fn an_environment_error_never_looks_like_a_failure() {
    let text = render::text(&run_with(small::contract(), Manner::Unreachable, options()).await, &view(None));
    assert!(
        text.contains("! could not reach the target: failed to connect to https://fake/replicas"),
        "{text}"
    );
    assert!(!text.contains('✗'), "{text}");
}

#[tokio::test]
async fn junit_has_real_children() {
    let xml = render::junit(&broken().await).unwrap();
    assert!(xml.contains(r#"<testsuite name="fake/replicas" tests="5""#), "{xml}");
    assert!(xml.contains(r#"<failure message="spec.replicas: wanted 3, got 2" type="clause">"#), "{xml}");
    let xml = render::junit(&run_with(small::contract(), Manner::Unreachable, options()).await).unwrap();
    assert!(xml.contains("<error message=\"could not reach the target"), "{xml}");
}

#[tokio::test]
async fn junit_lists_changes_of_clauses_that_did_not_run_without_failing() {
    let mut report = run_with(small::contract(), Manner::Good, options()).await;
    report.contracts[0].unasked.push(Unasked {
        path: "spec.a".to_owned(),
        case: "FAKE-001/server".to_owned(),
        clauses: vec!["FAKE-003".to_owned()],
        reason: "feature csi off".to_owned(),
    });
    let xml = render::junit(&report).unwrap();
    let want = r#"<skipped message="spec.a changes in FAKE-001/server as FAKE-003 requires, which did not run: feature csi off"#;
    assert!(xml.contains(want) && xml.contains(r#"<testcase name="unasked spec.a">"#), "{xml}");
    assert!(!xml.contains("<failure"), "{xml}");
}

#[tokio::test]
async fn markdown_folds_the_failure() {
    let text = render::markdown(&broken().await);
    assert!(text.starts_with("## gardener-conformance: not conformant\n"), "{text}");
    assert!(text.contains("- spec.replicas: 3   # wanted\n+ spec.replicas: 2   # got\n"), "{text}");
}

#[tokio::test]
async fn html_is_one_file_without_network() {
    let page = render::html(&broken().await).unwrap();
    for outside in ["http://", "https://", "src=", "@import", "fetch(", "<link"] {
        assert!(!page.contains(outside), "{outside}");
    }
    for expected in [
        "verdict: not conformant",
        "the replica count follows the type",
        "replicas: 3",
        "--case",
        "AdmissionReview",
    ] {
        assert!(page.contains(expected), "{expected}");
    }
    // The target's texts are escaped.
    let page = render::html(&run_with(small::contract(), Manner::Garbage, options()).await).unwrap();
    assert!(page.contains("&lt;html&gt;"));
}

#[tokio::test]
async fn a_report_is_read_back_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let report = broken().await;
    report::write(folder.path(), "report.json", &render::json(&report)).unwrap();
    assert_eq!(report::read(folder.path()).unwrap(), report);
    let left: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["report.json"]);
}

#[tokio::test]
async fn a_clause_is_explained_with_its_proof() {
    let report = run_with(small::contract(), Manner::Good, options()).await;
    let contract = small::contract();
    let expected = (&contract, &contract.clauses[0]);
    let text = render::explain::explain(expected, Some(&report), &[], &view(None));
    let want = "\
FAKE-001  MUST · binds Gardener · contracts/fake/replicas.yaml:3
  the replica count follows the type
  Cases    3: 3 passed · proven by drop, flip, leaf, nothing, swap
";
    assert_eq!(text, want);
    let broken = broken().await;
    let text = render::explain::explain(expected, Some(&broken), &[], &view(None));
    assert!(
        text.contains("Cases    3: 1 failed, 2 passed · ") && text.ends_with("    ✗ server  type=server\n"),
        "{text}"
    );
    assert_eq!(render::explain::near(&[Outline::of(&contract)], "FAKE-009"), ["FAKE-001", "FAKE-002"]);
}

#[tokio::test]
async fn gaps_of_a_target_that_is_not_ours_stand_apart_and_fail_nothing() {
    let mut report = run_with(small::contract(), Manner::Good, options()).await;
    report.contracts[0].gaps.push(Gap { path: "spec.a".to_owned(), case: "FAKE-001/server".to_owned() });
    report.counts.gaps = 1;
    for (kind, is_apart) in [(TargetKind::Url, true), (TargetKind::BuiltIn, false)] {
        report.target.kind = kind;
        let junit = render::junit(&report).unwrap();
        assert_eq!(junit.contains("<failure"), !is_apart, "{junit}");
        let sarif = render::sarif(&report);
        let level = if is_apart { "note" } else { "warning" };
        let log: serde_json::Value = serde_json::from_str(&sarif).unwrap();
        assert_eq!(log["runs"][0]["results"][0]["level"], level, "{sarif}");
        let html = render::html(&report).unwrap();
        assert_eq!(html.contains("Nothing needs attention"), is_apart);
        for page in [render::text(&report, &view(None)), render::markdown(&report), html, junit, sarif] {
            assert!(page.contains("no case would miss it"), "{page}");
            assert_eq!(page.contains("bout this contract, not about your webhook"), is_apart, "{page}");
        }
    }
}
