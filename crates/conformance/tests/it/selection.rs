//! Selection, coverage, attestation and waivers.

use std::collections::BTreeMap;

use conformance::attest;
use conformance::coverage::{Count, Thresholds, coverage};
use conformance::render;
use conformance::report::{Reason, ReasonCode, Status, WaiverState, sums};
use conformance::run::Options;
use conformance::select::{SelectError, Selection, Suite, read_suite, select};
use contract::case::Then;
use contract::document::SourceFile;
use contract::document::attestation::Seen;
use contract::document::ledger::Ledger;
use contract::document::waivers;
use contract::index::{Outline, Records, Summary};
use contract::model::Contract;
use serde_json::json;

use crate::direct::{options, run_with};
use crate::fake::Manner;
use crate::small;

fn suites() -> Vec<Suite> {
    contracts::suites().iter().map(|file| read_suite(file).expect("it is a suite")).collect()
}

/// The selected part of the small contract.
fn selected(selection: &Selection) -> Result<Contract, SelectError> {
    let chosen = select(&[Outline::of(&small::contract())], &suites(), selection)?;
    chosen.trimmed(0, small::contract(), |_, _| true)
}

fn clauses() -> Vec<Summary> {
    Summary::of(&small::contract())
}

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn criteria_of_one_kind_add_up_and_kinds_narrow() {
    let table = [
        (Selection::default(), 5),
        (Selection { sample: Some(1), ..Selection::default() }, 2),
        (Selection { sample: Some(1), clauses: names(&["FAKE-001"]), ..Selection::default() }, 1),
        (Selection { clauses: names(&["FAKE-001"]), ..Selection::default() }, 3),
        (Selection { cases: names(&["FAKE-001/server", "FAKE-002/skip"]), ..Selection::default() }, 2),
        (
            Selection {
                levels: names(&["must"]),
                labels: names(&["component=fake"]),
                ..Selection::default()
            },
            5,
        ),
        (Selection { suites: names(&["core"]), contracts: names(&["replicas"]), ..Selection::default() }, 5),
    ];
    for (selection, want) in table {
        let selected = selected(&selection).unwrap();
        let cases: usize = selected.clauses.iter().map(|clause| clause.cases.len()).sum();
        assert_eq!((cases, selected.is_partial), (want, want < 5), "{}", selection.words());
    }
}

#[test]
fn a_sample_has_cases_that_fit_where_there_are_some() {
    for (fits, want) in [("other", "other"), ("skip", "controller")] {
        let selection = Selection { sample: Some(7), clauses: names(&["FAKE-001"]), ..Selection::default() };
        let chosen = select(&[Outline::of(&small::contract())], &suites(), &selection).unwrap();
        let fitting = chosen.trimmed(0, small::contract(), |_, case| case.name == fits).unwrap();
        let any = chosen.trimmed(0, small::contract(), |_, _| true).unwrap();
        let name = |contract: &Contract| contract.clauses[0].cases[0].name.clone();
        if fits == want {
            assert_eq!(name(&fitting), want);
        } else {
            // No case fits, so any is chosen.
            assert_eq!(name(&fitting), name(&any));
        }
    }
}

#[tokio::test]
async fn a_part_of_a_contract_has_no_gaps() {
    // A case of FAKE-001 changes the replicas, and asserts nothing of them.
    let mut contract = small::contract();
    contract.clauses[0].cases[0].then = Then { allowed: Some(true), ..Then::default() };
    contract.clauses[0].cases.truncate(1);
    let whole = run_with(contract.clone(), Manner::Good, options()).await;
    assert_eq!((whole.contracts[0].gaps.len(), whole.exit_code()), (1, 6));
    contract.is_partial = true;
    let part = run_with(contract, Manner::Good, options()).await;
    assert_eq!((part.contracts[0].gaps.len(), part.exit_code()), (0, 0));
}

#[test]
fn unknown_criteria_and_empty_selections_are_distinguished() {
    let error = |selection: Selection| selected(&selection).unwrap_err();
    let unknown = error(Selection { suites: names(&["nope"]), ..Selection::default() });
    let suites = suites();
    let known: Vec<&str> = suites.iter().map(|suite| suite.metadata.name.as_str()).collect();
    let text = format!("there is no suite \"nope\"; there are {}", known.join(", "));
    assert_eq!((unknown.exit_code(), unknown.to_string()), (2, text));
    let level = error(Selection { levels: names(&["OUGHT"]), ..Selection::default() });
    assert_eq!(
        (level.exit_code(), level.to_string().as_str()),
        (2, "\"OUGHT\" is not a level (MUST, SHOULD or MAY)")
    );
    // A mistyped name next to a correct one is an error.
    let table = [
        (
            Selection { contracts: names(&["replicas", "x"]), ..Selection::default() },
            "there is no contract \"x\"",
        ),
        (
            Selection { clauses: names(&["FAKE-001", "FAKE-003"]), ..Selection::default() },
            "there is no clause \"FAKE-003\"; did you mean FAKE-001, FAKE-002?",
        ),
        (
            Selection { cases: names(&["FAKE-001/server", "FAKE-001/x"]), ..Selection::default() },
            "there is no case \"FAKE-001/x\"",
        ),
        (
            Selection { features: names(&["x"]), ..Selection::default() },
            "there is no clause that needs \"x\"",
        ),
        (
            Selection { labels: names(&["a=b"]), ..Selection::default() },
            "there is no contract labelled \"a=b\"",
        ),
    ];
    for (selection, words) in table {
        let unknown = error(selection);
        assert_eq!((unknown.exit_code(), unknown.to_string().as_str()), (2, words));
    }
    let nothing = error(Selection {
        clauses: names(&["FAKE-001"]),
        cases: names(&["FAKE-002/skip"]),
        ..Selection::default()
    });
    assert_eq!(nothing, SelectError::Nothing("clause=FAKE-001 case=FAKE-002/skip".to_owned()));
    assert_eq!(nothing.exit_code(), 4);
}

#[tokio::test]
async fn coverage_counts_what_the_report_proves() {
    let report = run_with(small::contract(), Manner::WrongValue, options()).await;
    let counted = coverage(&clauses(), Some(&report), &[], &Records::default());
    // The clause that fails in one case is still proven by its other cases.
    let count = Count { clauses: 2, with_cases: 2, passing: 1, proven: 2, ..Count::default() };
    assert_eq!((counted.components["fake"], counted.total), (count, count));
    let json: serde_json::Value = serde_json::from_str(&counted.to_json()).unwrap();
    let want = serde_json::json!({
        "sentences": 0, "notYet": 0, "clauses": 2, "withCases": 2, "passing": 1, "proven": 2, "attested": 0,
        "mutantsTried": 0, "mutantsNoticed": 0, "mutantsReasoned": 0
    });
    assert_eq!(json, serde_json::json!({"fake": want, "total": want}));
    let wanted = Thresholds { attested: Some(50), proven: Some(100), ..Thresholds::default() };
    assert_eq!(counted.shortfalls(wanted), ["attested: 0 of 2 clauses, at least 50 % required"]);
}

#[test]
fn a_component_with_only_a_ledger_is_counted() {
    let ledger = |text: &str| -> Ledger {
        let head = "apiVersion: conformance.gardener.cloud/v1alpha1\nkind: Ledger\n";
        formats::yaml::from_str(&format!("{head}{text}")).unwrap()
    };
    let fake = ledger(
        "component: fake\nentries:\n- {id: L-1, text: t, clauses: [FAKE-001, FAKE-002]}\n\
         - {id: L-2, text: t, notYet: later}\n- {id: L-3, text: t, outOfScope: never}\n",
    );
    let scheduler = ledger(
        "component: scheduler\nentries:\n- {id: L-4, text: t, notYet: later}\n\
         - {id: L-5, text: t, notYet: later}\n",
    );
    let empty = ledger("component: node\nentries: []\n");
    let counted = coverage(&clauses(), None, &[&fake, &scheduler, &empty], &Records::default());
    let count = |sentences, not_yet, clauses| Count { sentences, not_yet, clauses, ..Count::default() };
    let fake = Count { with_cases: 2, ..count(2, 1, 3) };
    let components = [("fake", fake), ("node", count(0, 0, 0)), ("scheduler", count(2, 2, 2))]
        .map(|(name, count)| (name.to_owned(), count));
    assert_eq!(counted.components, BTreeMap::from(components));
    assert_eq!(counted.total, Count { with_cases: 2, ..count(4, 3, 5) });
    let text = counted.to_text();
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[3], ["scheduler", "2", "2", "2", "0", "0", "0", "0", "-"]);
    assert_eq!(rows[4], ["total", "4", "3", "5", "2", "0", "0", "0", "-"]);
}

#[tokio::test]
async fn an_attestation_says_what_was_kept_and_what_differs() {
    let mut clauses = clauses();
    let report = run_with(small::contract(), Manner::WrongValue, options()).await;
    let draft = attest::draft(&clauses, &report);
    assert_eq!((draft.file.as_str(), draft.unstated.clone()), ("fake-v1.0.0.yaml", names(&["FAKE-001"])));
    assert_eq!(draft.attestation.clauses["FAKE-002"].result, Seen::Kept);
    clauses[0].differs.insert("fake v1.0.0".to_owned(), "servers get two".to_owned());
    let draft = attest::draft(&clauses, &report);
    assert_eq!(draft.unstated, Vec::<String>::new());
    assert_eq!(draft.attestation.clauses["FAKE-001"].reason.as_deref(), Some("servers get two"));
    let read =
        contract::document::attestation::read(&SourceFile::new("a.yaml", draft.to_yaml().unwrap())).unwrap();
    assert_eq!(read, draft.attestation);
}

#[tokio::test]
async fn only_clauses_of_which_every_case_ran_are_kept() {
    let mut contract = small::contract();
    contract.clauses[0].cases[2].config = json!({"enabled": false});
    let clauses = Summary::of(&contract);
    let mut report = run_with(contract, Manner::Good, options()).await;
    let reason = Reason::new(ReasonCode::Configuration, "it cannot be set");
    let clause = &mut report.contracts[0].clauses[0];
    (clause.cases[2].status, clause.cases[2].reason) = (Status::NotSupported, Some(reason));
    report.contracts[0].conclude();
    (report.counts, report.levels) = sums(&report.contracts);
    let draft = attest::draft(&clauses, &report);
    let seen = &draft.attestation.clauses["FAKE-001"];
    let reason = "2 of 3 cases could run: it cannot be set";
    assert_eq!((seen.result, seen.reason.as_deref()), (Seen::NotAttestable, Some(reason)));
    assert_eq!(draft.attestation.clauses["FAKE-002"].result, Seen::Kept);
    assert_eq!(report.levels["MUST"].partly, 1);
    let text = render::text(&report, &crate::rendering::view(None));
    assert!(text.contains("MUST 2/2 (1 partly run)"), "{text}");
}

#[tokio::test]
async fn rows_of_levels_that_the_target_lacks_are_no_part_of_its_attestation() {
    let mut report = run_with(small::contract(), Manner::Good, options()).await;
    let elsewhere = |report: &mut conformance::report::Report, clause: usize, case: usize| {
        let case = &mut report.contracts[0].clauses[clause].cases[case];
        case.status = Status::NotSupported;
        case.reason = Some(Reason::new(ReasonCode::Level, "the target is a whole garden"));
    };
    elsewhere(&mut report, 0, 2);
    for case in 0..report.contracts[0].clauses[1].cases.len() {
        elsewhere(&mut report, 1, case);
    }
    report.contracts[0].conclude();
    (report.counts, report.levels) = sums(&report.contracts);
    let draft = attest::draft(&clauses(), &report);
    assert_eq!(draft.attestation.clauses["FAKE-001"].result, Seen::Kept);
    assert!(!draft.attestation.clauses.contains_key("FAKE-002"));
}

#[tokio::test]
async fn earlier_attestations_stay_and_incomplete_runs_record_nothing() {
    let clauses = clauses();
    let mut report = run_with(small::contract(), Manner::Good, options()).await;
    let mut before = attest::draft(&clauses, &report).attestation;
    let gone = before.clauses["FAKE-001"].clone();
    before.clauses.insert("FAKE-009".to_owned(), gone);
    before.target.substrate = "envtest".to_owned();
    report.contracts[0].clauses.remove(1);
    let mut draft = attest::draft(&clauses, &report);
    draft.attestation.keep(before, &clauses);
    let kept = &draft.attestation.clauses;
    let seen: Vec<_> = kept.iter().map(|(id, seen)| (id.as_str(), seen.substrate.as_deref())).collect();
    assert_eq!(seen, [("FAKE-001", None), ("FAKE-002", Some("envtest"))]);
    assert_eq!((draft.refusal(&report), draft.exit_reason(&report).code), (None, 0));
    for (manner, code) in [(Manner::Unreachable, 3), (Manner::NotServed, 4)] {
        let report = run_with(small::contract(), manner, options()).await;
        assert_eq!(attest::draft(&clauses, &report).refusal(&report), Some(code), "{manner:?}");
    }
    report.interrupted = Some(15);
    assert_eq!(attest::draft(&clauses, &report).refusal(&report), Some(143));
}

#[tokio::test]
async fn cases_that_did_not_run_as_the_substrate_says_are_attested_as_such() {
    let mut report = run_with(small::contract(), Manner::Good, options()).await;
    report.contracts[0].clauses[0].cases[1].asked = Some("sent directly: the case says so".to_owned());
    let draft = attest::draft(&clauses(), &report);
    let asked = |id: &str| draft.attestation.clauses[id].asked.clone();
    assert_eq!(asked("FAKE-001").as_deref(), Some("1 of 3 cases: sent directly: the case says so"));
    assert_eq!(asked("FAKE-002"), None);
}

#[tokio::test]
async fn a_stated_difference_excuses_nothing_else() {
    let mut clauses = clauses();
    let report = run_with(small::contract(), Manner::WrongValue, options()).await;
    assert_eq!(attest::draft(&clauses, &report).exit_reason(&report).code, 1);
    clauses[0].differs.insert("fake".to_owned(), "servers get two".to_owned());
    assert_eq!(attest::draft(&clauses, &report).exit_reason(&report).code, 0);
    // Careless keeps every clause, and makes an unexplained change.
    let report = run_with(small::contract(), Manner::Careless, options()).await;
    clauses[0].differs.clear();
    assert_eq!(attest::draft(&clauses, &report).exit_reason(&report).code, 1);
}

#[tokio::test]
async fn what_presupposes_a_failure_is_not_run_unless_the_failure_is_waived() {
    let mut contract = small::contract();
    let third = small::clause("FAKE-003", "others stay", vec![small::replica_case("other", "unchanged")]);
    contract.clauses.push(third);
    contract.clauses[1].presupposes = names(&["FAKE-001"]);
    contract.clauses[2].presupposes = names(&["FAKE-002"]);
    let text = "apiVersion: conformance.gardener.cloud/v1alpha1\nkind: Waivers\nwaivers:\n\
                - {clause: FAKE-001, owner: o, reason: r, expires: 2026-03-02}\n";
    let waivers = waivers::read(&SourceFile::new("w.yaml", text)).unwrap();
    let (passed, not_run) = (Status::Passed, Status::NotRun);
    let table =
        [(Vec::new(), [Status::Failed, not_run, not_run], 1), (waivers, [Status::Waived, passed, passed], 0)];
    for (waivers, want, code) in table {
        let options = Options { waivers, ..options() };
        let report = run_with(contract.clone(), Manner::WrongValue, options).await;
        let statuses: Vec<Status> = report.contracts[0].clauses.iter().map(|clause| clause.status).collect();
        assert_eq!((statuses, report.exit_code()), (want.to_vec(), code));
    }
}

#[tokio::test]
async fn expired_and_unnecessary_waivers_are_reported() {
    let file = |expires: &str| {
        let head = "apiVersion: conformance.gardener.cloud/v1alpha1\nkind: Waivers\nwaivers:\n";
        let text =
            format!("{head}- {{clause: FAKE-001, target: fake, owner: o, reason: r, expires: {expires}}}\n");
        waivers::read(&SourceFile::new("w.yaml", text)).unwrap()
    };
    let table = [
        (Manner::WrongValue, "2026-03-02", WaiverState::Used, Status::Waived, 0),
        (Manner::WrongValue, "2026-03-01", WaiverState::Expired, Status::Failed, 7),
        (Manner::Good, "2026-03-02", WaiverState::UnexpectedPass, Status::UnexpectedPass, 7),
    ];
    for (manner, expires, state, status, code) in table {
        let options = Options { waivers: file(expires), ..options() };
        let report = run_with(small::contract(), manner, options).await;
        let got = (report.waivers[0].state, report.contracts[0].clauses[0].status, report.exit_code());
        assert_eq!(got, (state, status, code), "{manner:?} {expires}");
    }
}
