//! Runs on `direct`, straight to scripted targets.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use conformance::report::{Report, Status, Verdict};
use conformance::run::{self, FactsFrom, Interrupt, Options, Substrate};
use contract::expect::{Expect, Operator};
use contract::model::{Contract, Level};

use crate::fake::{Fake, Foreign, Manner, registered};
use crate::small;

pub(crate) fn options() -> Options {
    Options {
        substrate: Substrate::Direct(FactsFrom::Embedded),
        seed: 4711,
        parallel: 4,
        repeat: 1,
        fail_fast: false,
        settle: Duration::from_millis(50),
        time_budget: Duration::from_secs(30),
        strict: false,
        waivers: Vec::new(),
        started_at: "2026-03-02T08:20:11Z".to_owned(),
        version: "0.1.0".to_owned(),
        command: "gardener-conformance run".to_owned(),
        expression: Vec::new(),
    }
}

pub(crate) async fn run_with(contract: Contract, manner: Manner, options: Options) -> Report {
    let target = Arc::new(Fake { manner, registered: true });
    run::run([contract].into(), target, &options, &|_| {}, &Interrupt::default()).await
}

async fn run(manner: Manner) -> Report {
    run_with(small::contract(), manner, options()).await
}

/// Statuses by case, and the exit code.
fn outline(report: &Report) -> (BTreeMap<String, Status>, u8) {
    let cases = report.contracts.iter().flat_map(|contract| &contract.clauses).flat_map(|clause| {
        clause.cases.iter().map(|case| (format!("{}/{}", clause.id, case.name), case.status))
    });
    (cases.collect(), report.exit_code())
}

#[tokio::test]
async fn a_target_that_keeps_its_contract_is_conformant_and_every_clause_is_proven() {
    let report = run(Manner::Good).await;
    let (cases, code) = outline(&report);
    let want =
        ["FAKE-001/controller", "FAKE-001/server", "FAKE-001/other", "FAKE-002/skip", "FAKE-002/plain"];
    assert_eq!(cases, want.map(|case| (case.to_owned(), Status::Passed)).into_iter().collect());
    for clause in &report.contracts[0].clauses {
        let proof = clause.proof.as_ref().unwrap();
        assert!(proof.proven, "{}: {proof:?}", clause.id);
    }
    assert_eq!((report.counts.gaps, report.counts.unexplained, report.counts.laws_broken), (0, 0, 0));
    assert_eq!((report.verdict, code), (Verdict::Conformant, 0));
}

#[tokio::test]
async fn a_broken_value_fails_its_case_with_want_and_got() {
    let report = run(Manner::WrongValue).await;
    let case = &report.contracts[0].clauses[0].cases[1];
    assert_eq!((case.name.as_str(), case.status), ("server", Status::Failed));
    let check = &case.checks[0];
    assert_eq!((check.path.as_str(), check.want.as_str(), check.got.as_str()), ("spec.replicas", "3", "2"));
    assert_eq!(case.story, ["given  Deployment app · type=server", "when   CREATE apps/v1 deployments"]);
    assert!(case.evidence.is_some());
    assert_eq!((report.verdict, report.exit_code()), (Verdict::NonConformant, 1));
}

#[tokio::test]
async fn an_unexplained_change_is_reported() {
    let report = run(Manner::Careless).await;
    let found: Vec<(&str, usize)> = report.contracts[0]
        .unexplained
        .iter()
        .map(|found| (found.path.as_str(), found.cases.len()))
        .collect();
    assert_eq!(found, [("metadata.labels.careless", 4)]);
    assert_eq!((report.verdict, report.exit_code()), (Verdict::NonConformant, 1));
}

#[tokio::test]
async fn manners_that_are_the_targets_fault_break_a_law() {
    let table = [
        (Manner::Forgetful, "deterministic", "the result differs"),
        (Manner::OtherUid, "uidEchoed", "the response has uid \"another\""),
        (Manner::Garbage, "uidEchoed", "the body is not an AdmissionReview"),
        (Manner::Broken, "uidEchoed", "HTTP status 500 instead of 200: internal error"),
        (Manner::Hanging, "withinTimeout", "no answer within the declared timeout of 1s"),
        (Manner::Untyped, "patchTypeDeclared", "there is a patch without patchType"),
    ];
    for (manner, law, words) in table {
        let report = run(manner).await;
        let broken: Vec<_> = report.contracts[0].laws.iter().filter(|law| !law.broken.is_empty()).collect();
        let found = broken.iter().find(|found| conformance::laws::name(found.law) == law);
        let text = found.map(|found| found.broken[0].text.clone()).unwrap_or_default();
        assert!(text.contains(words), "{manner:?}: {text:?} in {broken:?}");
        assert_eq!((report.verdict, report.exit_code()), (Verdict::NonConformant, 1), "{manner:?}");
        assert_eq!(report.counts.errored, 0, "{manner:?}");
    }
}

#[tokio::test]
async fn a_connection_that_is_closed_on_one_input_is_the_targets_fault() {
    for options in [options(), crate::embedded::embedded()] {
        let report = run_with(small::contract(), Manner::HangingUp, options.clone()).await;
        let cases = &report.contracts[0].clauses[0].cases;
        let statuses: Vec<(&str, Status)> =
            cases.iter().map(|case| (case.name.as_str(), case.status)).collect();
        let passed = Status::Passed;
        let want = [("controller", passed), ("server", Status::Failed), ("other", passed)];
        assert_eq!(statuses, want, "{}", report.substrate.name);
        let got = &cases[1].checks[0].got;
        assert!(got.contains("unexpected end of file"), "{got}");
        assert_eq!((report.verdict, report.exit_code()), (Verdict::NonConformant, 1));
        // An idle connection that is closed is no fault of the target.
        let report = run_with(small::contract(), Manner::Nervous, Options { parallel: 1, ..options }).await;
        assert_eq!((report.verdict, report.exit_code()), (Verdict::Conformant, 0));
    }
}

#[tokio::test]
async fn an_environment_that_breaks_says_nothing_about_the_target() {
    for (manner, words) in
        [(Manner::Unreachable, "connection refused"), (Manner::Stillborn, "failed to configure fake: no")]
    {
        let report = run(manner).await;
        assert_eq!(
            (report.counts.failed, report.verdict, report.exit_code()),
            (0, Verdict::Inconclusive, 3),
            "{manner:?}"
        );
        let case =
            report.contracts[0].clauses[0].cases.iter().find(|case| case.status == Status::Errored).unwrap();
        let text = &case.reason.as_ref().unwrap().text;
        assert!(text.contains(words), "{text}");
    }
}

#[tokio::test]
async fn a_path_that_answers_404_is_not_served() {
    let report = run(Manner::NotServed).await;
    // A case that expects no request proves nothing about a webhook that does not exist.
    assert_eq!((report.counts.passed, report.counts.not_supported), (0, 5));
    assert_eq!((report.verdict, report.exit_code()), (Verdict::Inconclusive, 4));
}

async fn foreign(contract: Contract, manner: Manner, path: &str, extras: &[&str]) -> Report {
    let extras = extras.iter().map(|extra| (*extra).to_owned()).collect();
    let target = Arc::new(Foreign { manner, registrations: vec![registered("fake", path)], extras });
    run::run([contract].into(), target, &options(), &|_| {}, &Interrupt::default()).await
}

/// Not every provider has every webhook; but a webhook that is served must be registered.
#[tokio::test]
async fn a_webhook_that_a_foreign_target_neither_serves_nor_registers_is_not_supported() {
    let report = foreign(small::contract(), Manner::NotServed, "/other", &[]).await;
    assert_eq!((report.counts.passed, report.counts.failed, report.counts.not_supported), (0, 0, 5));
    let reason = report.contracts[0].clauses[0].cases[0].reason.as_ref().unwrap();
    assert_eq!(reason.text, "/replicas is not registered and answers 404: not served");
    let report = foreign(small::contract(), Manner::Good, "/other", &[]).await;
    assert_eq!((report.counts.not_supported, report.exit_code()), (0, 1));
    assert!(report.counts.failed > 0, "{:?}", report.counts);
}

/// "Nothing changes" is no answer of a webhook that does not exist, even if no other case needs one.
#[tokio::test]
async fn what_a_foreign_target_does_not_have_keeps_no_clause() {
    let mut contract = small::contract();
    contract.clauses.truncate(1);
    contract.clauses[0].cases.retain(|case| case.name == "other");
    let absent = foreign(contract.clone(), Manner::NotServed, "/other", &[]).await;
    assert_eq!((absent.counts.passed, absent.counts.not_supported), (0, 1));
    assert_eq!((absent.verdict, absent.exit_code()), (Verdict::Inconclusive, 4));
    assert_eq!(
        absent.exit_reason().cause,
        "no case was answered (1 about webhooks that the target does not serve)"
    );
    let served = foreign(contract, Manner::Good, "/other", &[]).await;
    assert_eq!((served.counts.passed, served.counts.not_supported), (1, 0));
    assert_eq!(served.contracts[0].clauses[0].cases[0].reason, None);
}

#[tokio::test]
async fn without_a_registration_clauses_about_it_are_not_supported() {
    let target = Arc::new(Fake { manner: Manner::Good, registered: false });
    let contracts = [small::contract()].into();
    let report = run::run(contracts, target, &options(), &|_| {}, &Interrupt::default()).await;
    assert_eq!((report.counts.passed, report.counts.not_supported), (3, 2));
    assert_eq!((report.verdict, report.exit_code()), (Verdict::Partial, 0));
}

#[tokio::test]
async fn a_weakened_value_makes_its_clause_unproven() {
    let mut contract = small::contract();
    let spec = Expect::Map(BTreeMap::from([("replicas".to_owned(), Expect::Operator(Operator::Present))]));
    contract.clauses[0].cases[1].then.object = Some(Expect::Map(BTreeMap::from([("spec".to_owned(), spec)])));
    let report = run_with(contract, Manner::Good, options()).await;
    let proof = report.contracts[0].clauses[0].proof.clone().unwrap();
    let survivors: Vec<(&str, &str)> =
        proof.survivors.iter().map(|survivor| (survivor.case.as_str(), survivor.damage.as_str())).collect();
    assert_eq!(
        survivors,
        [("server", "nothing"), ("server", "drop"), ("server", "swap"), ("server", "swap")]
    );
    assert_eq!((report.verdict, report.exit_code()), (Verdict::Conformant, 6));
}

/// A caller that stops the substrate before proofs are made must know whether it is still needed.
#[tokio::test]
async fn failures_are_known_before_proofs_are_made() {
    let mut unproven = small::contract();
    unproven.clauses[0].cases.iter_mut().for_each(|case| case.then.object = None);
    let table = [
        (small::contract(), Manner::Good, false),
        (unproven, Manner::Good, false),
        (small::contract(), Manner::WrongValue, true),
        // A law.
        (small::contract(), Manner::Forgetful, true),
        (small::contract(), Manner::Broken, true),
    ];
    for (contract, manner, want) in table {
        let target = Arc::new(Fake { manner, registered: true });
        let (options, interrupt) = (options(), Interrupt::default());
        let judged =
            run::judged(std::iter::once((0, Ok(vec![contract]))), target, &options, &|_| {}, &interrupt)
                .await;
        assert_eq!(judged.is_failed(), want, "{manner:?}");
        let code = judged.proven().exit_code();
        assert_eq!(matches!(code, 1 | 3), want, "{manner:?} {code}");
    }
}

#[tokio::test]
async fn a_removed_assertion_is_a_gap() {
    let mut contract = small::contract();
    for case in &mut contract.clauses[0].cases {
        case.then.object = None;
        case.then.allowed = Some(true);
    }
    let report = run_with(contract, Manner::Good, options()).await;
    let gaps: Vec<&str> = report.contracts[0].gaps.iter().map(|gap| gap.path.as_str()).collect();
    assert_eq!((gaps, report.exit_code()), (vec!["spec.replicas"], 6));
}

#[tokio::test]
async fn a_declared_change_is_no_gap() {
    let mut contract = small::contract();
    for case in &mut contract.clauses[0].cases {
        case.then.object = None;
        case.then.allowed = Some(true);
    }
    for (extras, gaps) in [(&["spec.paused"], 1), (&["spec.replicas"], 0)] {
        let report = foreign(contract.clone(), Manner::Good, "/replicas", extras).await;
        assert_eq!(report.counts.gaps, gaps, "{extras:?}");
    }
}

#[tokio::test]
async fn a_change_that_only_a_clause_without_its_feature_would_miss_is_no_gap() {
    let mut contract = small::contract();
    let mut scaling =
        small::clause("FAKE-003", "who scales follows the type", contract.clauses[0].cases.clone());
    scaling.needs = vec!["scaling".to_owned()];
    for case in &mut contract.clauses[0].cases {
        case.then.object = None;
        case.then.allowed = Some(true);
    }
    contract.clauses.push(scaling);
    let report = run_with(contract.clone(), Manner::Good, options()).await;
    let unasked: Vec<String> = report.contracts[0].unasked.iter().map(ToString::to_string).collect();
    assert_eq!(
        unasked,
        [
            "spec.replicas changes in FAKE-001/controller as FAKE-003 requires, which did not run: feature scaling off \
             (state the target's features, or drop the change)"
        ]
    );
    assert_eq!((report.counts.gaps, report.exit_code()), (0, 0));
    let text = conformance::render::text(&report, &crate::rendering::view(None));
    let words: Vec<&str> = text.split_whitespace().collect();
    assert!(words.join(" ").contains(&unasked[0]), "{text}");

    let gaps = |report: &Report| {
        let gaps: Vec<String> = report.contracts[0].gaps.iter().map(|gap| gap.path.clone()).collect();
        (gaps, report.contracts[0].unasked.len(), report.exit_code())
    };
    let gap = (vec!["spec.replicas".to_owned()], 0, 6);
    // The clause expects something else than the target does.
    let mut other = contract.clone();
    for case in &mut other.clauses[2].cases {
        case.then = small::replica_case("other", "7").then;
    }
    assert_eq!(gaps(&run_with(other, Manner::Good, options()).await), gap);
    // The clause sends another request.
    for case in &mut contract.clauses[2].cases {
        case.given.object = Some(small::deployment("database", false));
    }
    assert_eq!(gaps(&run_with(contract, Manner::Good, options()).await), gap);
}

#[tokio::test]
async fn should_warns_and_does_not_decide() {
    let mut contract = small::contract();
    contract.clauses[0].level = Level::Should;
    let report = run_with(contract, Manner::WrongValue, options()).await;
    assert_eq!((report.counts.failed, report.verdict, report.exit_code()), (1, Verdict::Conformant, 0));
}

#[tokio::test]
async fn with_fail_fast_the_first_failure_ends_the_run() {
    let mut contract = small::contract();
    // Another configuration makes another group, which is started after the first one.
    contract.clauses[1].cases[0].config = serde_json::json!({"later": true});
    let options = Options { fail_fast: true, parallel: 1, seed: 0, ..options() };
    let report = run_with(contract, Manner::Broken, options).await;
    assert!(report.counts.not_run > 0, "{:?}", report.counts);
    assert_eq!(report.exit_code(), 1);
}

#[tokio::test]
async fn an_interrupted_run_reports_what_was_not_run() {
    let interrupt = Interrupt::default();
    let target = Arc::new(Fake { manner: Manner::Good, registered: true });
    interrupt.raise(2);
    let report = run::run([small::contract()].into(), target, &options(), &|_| {}, &interrupt).await;
    assert_eq!((report.counts.not_run, report.exit_code()), (5, 130));
}
