//! The exit code is computed from the report: each finding alone, and several at once.

use std::collections::BTreeSet;

use conformance::gate::{Against, Judgement, judge};
use conformance::render;
use conformance::report::{
    Counts, Gap, LawResult, Proof, Reason, ReasonCode, Report, Status, Verdict, WaiverState, WaiverUse,
};
use conformance::run::Options;
use contract::document::policy::Policy;
use contract::document::waivers::Waiver;
use contract::model::{Contract, Level};
use rstest::rstest;

use crate::direct::{options, run_with};
use crate::fake::Manner;
use crate::small;

type ReportChange = fn(&mut Report);

fn failed(report: &mut Report) {
    report.contracts[0].clauses[0].status = Status::Failed;
}

fn errored(report: &mut Report) {
    report.environment_errors.push("no route".to_owned());
}

fn waiver(report: &mut Report) {
    report.waivers.push(WaiverUse {
        clause: "FAKE-001".to_owned(),
        state: WaiverState::Expired,
        owner: String::new(),
        reason: String::new(),
        link: String::new(),
        expires: "2026-01-01".to_owned(),
    });
}

fn unproven(report: &mut Report) {
    let proof = report.contracts[0].clauses[0].proof.as_mut();
    proof.expect("it passed").proven = false;
}

fn gap(report: &mut Report) {
    report.contracts[0].gaps.push(Gap { path: "a".to_owned(), case: "b".to_owned() });
    report.counts.gaps = 1;
}

fn not_run(report: &mut Report) {
    let case = &mut report.contracts[0].clauses[0].cases[0];
    (case.status, case.reason) = (Status::NotRun, Some(Reason::new(ReasonCode::Ended, "the run ended")));
}

fn nothing_answered(report: &mut Report) {
    report.counts = Counts { not_supported: 5, ..Counts::default() };
}

fn interrupted(report: &mut Report) {
    report.interrupted = Some(2);
}

fn terminated(report: &mut Report) {
    report.interrupted = Some(15);
}

#[rstest]
#[case::nothing(vec![], 0)]
#[case::failed(vec![failed as ReportChange], 1)]
#[case::errored(vec![errored as ReportChange], 3)]
#[case::waiver(vec![waiver as ReportChange], 7)]
#[case::unproven(vec![unproven as ReportChange], 6)]
#[case::gap(vec![gap as ReportChange], 6)]
#[case::not_run(vec![not_run as ReportChange], 4)]
#[case::nothing_answered(vec![nothing_answered as ReportChange], 4)]
#[case::interrupted(vec![interrupted as ReportChange, not_run], 130)]
#[case::terminated(vec![terminated as ReportChange, failed], 143)]
#[case::a_failure_wins_over_the_environment(vec![errored as ReportChange, failed], 1)]
#[case::the_environment_wins_over_waivers(vec![waiver as ReportChange, errored], 3)]
#[case::an_ended_waiver_leads_to_its_own_code(vec![failed as ReportChange, waiver], 7)]
#[case::waivers_win_over_proof(vec![gap as ReportChange, waiver], 7)]
#[case::proof_wins_over_completeness(vec![not_run as ReportChange, gap], 6)]
#[tokio::test]
async fn the_exit_code_is_the_first_that_applies(#[case] changes: Vec<ReportChange>, #[case] code: u8) {
    let mut report = run_with(small::contract(), Manner::Good, options()).await;
    for change in changes {
        change(&mut report);
    }
    assert_eq!(report.exit_code(), code);
}

const STATUSES: [Status; 9] = [
    Status::Passed,
    Status::Failed,
    Status::Errored,
    Status::Skipped,
    Status::NotSupported,
    Status::Waived,
    Status::UnexpectedPass,
    Status::Vacuous,
    Status::NotRun,
];

/// Reduces a contract to one clause of this level with a single case of this status.
fn set_result(report: &mut Report, contract: usize, level: Level, status: Status, code: ReasonCode) {
    let contract = &mut report.contracts[contract];
    contract.clauses.truncate(1);
    let clause = &mut contract.clauses[0];
    clause.cases.truncate(1);
    (clause.level, clause.status, clause.cases[0].status) = (level, status, status);
    clause.cases[0].reason = Some(Reason::new(code, "a reason"));
    clause.proof = (status == Status::Passed).then(|| Proof { proven: true, ..Proof::default() });
    contract.counts = Counts::of(&contract.clauses);
    contract.verdict = Verdict::of(&contract.clauses, &[] as &[LawResult], 0);
}

#[tokio::test]
async fn verdict_and_exit_code_agree_for_any_results_of_two_contracts() {
    let mut report = run_with(small::contract(), Manner::Good, options()).await;
    report.contracts.push(report.contracts[0].clone());
    let codes = [
        ReasonCode::Facts,
        ReasonCode::Substrate,
        ReasonCode::Feature,
        ReasonCode::Version,
        ReasonCode::Presupposed,
        ReasonCode::Ended,
    ];
    let one: Vec<(Level, Status, ReasonCode)> = [Level::Must, Level::Should]
        .into_iter()
        .flat_map(|level| STATUSES.into_iter().map(move |status| (level, status)))
        .flat_map(|(level, status)| codes.into_iter().map(move |code| (level, status, code)))
        .collect();
    for first in &one {
        for second in &one {
            set_result(&mut report, 0, first.0, first.1, first.2);
            set_result(&mut report, 1, second.0, second.1, second.2);
            report.counts = report.contracts[0].counts.clone();
            let other = report.contracts[1].counts.clone();
            report.counts.add(&other);
            let each = report.contracts.iter().map(|found| (found.verdict, found.clauses.as_slice()));
            let want = match Verdict::over(each) {
                Verdict::Conformant | Verdict::Partial => vec![0],
                Verdict::Inconclusive => vec![3, 4],
                Verdict::NonConformant => vec![1],
            };
            let code = report.exit_code();
            assert!(
                want.contains(&code),
                "{first:?} and {second:?}: exit {code}, the verdict wants {want:?}"
            );
            let is_waived = [first.1, second.1].iter().any(|status| {
                // The gate applies waivers itself, and these reports have none.
                matches!(status, Status::Waived | Status::UnexpectedPass)
            });
            if !is_waived {
                assert_eq!(code, judged(&report).exit_code, "{first:?} and {second:?}: the gate differs");
            }
        }
    }
}

/// The judgement of the gate without a policy, on the day of the run.
fn judged(report: &Report) -> Judgement {
    let against = Against {
        name: "default",
        policy: &Policy::default(),
        waivers: &[],
        baseline: None,
        profiles: &[],
        clauses: &BTreeSet::new(),
        today: "2026-03-02".parse().expect("a day"),
    };
    judge(report, &against)
}

/// What a terminal shows of a report, without what differs from run to run, then the last lines of the run and of the gate.
fn shown(mut report: Report) -> String {
    report.run.duration_ms = 1900.0;
    for contract in &mut report.contracts {
        contract.duration_ms = 41.0;
    }
    let (reason, gate) = (report.exit_reason(), judged(&report));
    let text = render::text(&report, &crate::rendering::view(None));
    let gate_text = render::gate(&gate, &crate::rendering::view(None));
    let (code, cause) = (reason.code, reason.cause);
    format!("{text}exit {code}: {cause}\n\n{gate_text}exit {}: {}\n", gate.exit_code, gate.cause)
}

/// The small contract with a SHOULD that clauses presuppose.
fn with_should() -> Contract {
    let mut contract = small::contract();
    contract.clauses[0].level = Level::Should;
    let mut other =
        small::clause("FAKE-003", "controllers get two", vec![small::replica_case("controller", "2")]);
    other.presupposes = vec!["FAKE-001".to_owned()];
    contract.clauses.push(other);
    contract
}

#[tokio::test]
async fn a_broken_should_warns_and_ends_with_zero_although_a_clause_presupposes_it() {
    let report = run_with(with_should(), Manner::WrongValue, options()).await;
    assert_eq!((report.exit_code(), report.verdict), (0, Verdict::Partial));
    assert_eq!(report.contracts[0].clauses[2].status, Status::NotRun);
    insta::assert_snapshot!(shown(report));
}

#[tokio::test]
async fn an_ended_waiver_is_the_cause_of_seven() {
    let waiver = Waiver {
        clause: "FAKE-001".to_owned(),
        target: None,
        owner: "team-x".to_owned(),
        reason: "fixed in 1.4".to_owned(),
        link: None,
        expires: "2026-01-31".parse().unwrap(),
    };
    let report =
        run_with(small::contract(), Manner::WrongValue, Options { waivers: vec![waiver], ..options() }).await;
    assert_eq!((report.exit_code(), report.verdict), (7, Verdict::NonConformant));
    insta::assert_snapshot!(shown(report));
}

#[tokio::test]
async fn the_cause_of_each_code_names_what_leads_to_it() {
    let table: [(ReportChange, &str); 8] = [
        (failed, "FAKE-001 (MUST) is broken"),
        (errored, "the environment failed: no route"),
        (waiver, "the waiver of FAKE-001 ended 2026-01-01"),
        (unproven, "FAKE-001 is not proven able to fail"),
        (gap, "no case would miss the change of a in replicas"),
        (not_run, "1 case did not run"),
        (nothing_answered, "no case was answered"),
        (interrupted, "interrupted by SIGINT"),
    ];
    for (change, want) in table {
        let mut report = run_with(small::contract(), Manner::Good, options()).await;
        assert_eq!(report.exit_reason().cause, "every MUST clause that applies is kept");
        change(&mut report);
        assert_eq!(report.exit_reason().cause, want);
    }
    let law = run_with(small::contract(), Manner::Forgetful, options()).await.exit_reason();
    assert!(law.code == 1 && law.cause.starts_with("the law \""), "{law:?}");
    let changed = run_with(small::contract(), Manner::Careless, options()).await.exit_reason();
    assert_eq!(changed.cause, "no clause explains the change of metadata.labels.careless");
}
