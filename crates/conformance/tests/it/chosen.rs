//! Selection, coverage, attestation and waivers.

use conformance::attest;
use conformance::coverage::{Count, Thresholds, coverage};
use conformance::report::{Status, WaiverState};
use conformance::run::Options;
use conformance::select::{SelectError, Selection, embedded_suites, select};
use contract::document::SourceFile;
use contract::document::attestation::Seen;
use contract::document::waivers;
use contract::model::Catalog;

use crate::direct::{options, run_with};
use crate::fake::Manner;
use crate::small;

fn catalog() -> Catalog {
    Catalog { contracts: vec![small::contract()], ..Catalog::default() }
}

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn wishes_of_one_kind_add_up_and_kinds_narrow() {
    let suites = embedded_suites().unwrap();
    let table = [
        (Selection::default(), 5),
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
        let selected = select(&catalog(), &suites, &selection).unwrap();
        let cases: usize =
            selected.iter().flat_map(|found| &found.clauses).map(|clause| clause.cases.len()).sum();
        assert_eq!(cases, want, "{}", selection.words());
    }
}

#[test]
fn unknown_wishes_and_empty_selections_are_told_apart() {
    let suites = embedded_suites().unwrap();
    let error = |selection: Selection| select(&catalog(), &suites, &selection).unwrap_err();
    let unknown = error(Selection { suites: names(&["nope"]), ..Selection::default() });
    let known: Vec<&str> = suites.iter().map(|suite| suite.metadata.name.as_str()).collect();
    let text = format!("there is no suite \"nope\"; there are {}", known.join(", "));
    assert_eq!((unknown.exit_code(), unknown.to_string()), (2, text));
    let level = error(Selection { levels: names(&["OUGHT"]), ..Selection::default() });
    assert_eq!(
        (level.exit_code(), level.to_string().as_str()),
        (2, "\"OUGHT\" is no level (MUST, SHOULD or MAY)")
    );
    let nothing = error(Selection { clauses: names(&["X-1"]), ..Selection::default() });
    assert_eq!(nothing, SelectError::Nothing("clause=X-1".to_owned()));
    assert_eq!(nothing.exit_code(), 4);
}

#[tokio::test]
async fn coverage_counts_what_the_report_proves() {
    let report = run_with(small::contract(), Manner::WrongValue, options()).await;
    let counted = coverage(&catalog(), Some(&report), None, &[]);
    // The clause that fails in one case is still shown able to fail by its others.
    let count = Count { clauses: 2, with_cases: 2, passing: 1, proven: 2, attested: 0 };
    assert_eq!((counted.components["fake"], counted.total), (count, count));
    let json: serde_json::Value = serde_json::from_str(&counted.to_json()).unwrap();
    let want = serde_json::json!({"clauses": 2, "withCases": 2, "passing": 1, "proven": 2, "attested": 0});
    assert_eq!(json, serde_json::json!({"fake": want, "total": want}));
    let wanted = Thresholds { attested: Some(50), proven: Some(100), ..Thresholds::default() };
    assert_eq!(counted.shortfalls(wanted), ["attested: 0 of 2 clauses, wanted are 50 %"]);
}

#[tokio::test]
async fn an_attestation_says_what_was_kept_and_what_differs() {
    let mut catalog = catalog();
    let report = run_with(small::contract(), Manner::WrongValue, options()).await;
    let draft = attest::draft(&catalog, &report);
    assert_eq!((draft.file.as_str(), draft.unstated.clone()), ("fake-v1.0.0.yaml", names(&["FAKE-001"])));
    assert_eq!(draft.attestation.clauses["FAKE-002"].result, Seen::Kept);
    catalog.contracts[0].clauses[0].differs.insert("fake v1.0.0".to_owned(), "servers get two".to_owned());
    let draft = attest::draft(&catalog, &report);
    assert_eq!(draft.unstated, Vec::<String>::new());
    assert_eq!(draft.attestation.clauses["FAKE-001"].reason.as_deref(), Some("servers get two"));
    let read =
        contract::document::attestation::read(&SourceFile::new("a.yaml", draft.to_yaml().unwrap())).unwrap();
    assert_eq!(read, draft.attestation);
}

#[tokio::test]
async fn waivers_rot_loudly() {
    let file = |expires: &str| {
        let head = "apiVersion: conformance.gardener.cloud/v1alpha1\nkind: Waivers\nwaivers:\n";
        let text =
            format!("{head}- {{clause: FAKE-001, target: fake, owner: o, reason: r, expires: {expires}}}\n");
        waivers::read(&SourceFile::new("w.yaml", text)).unwrap()
    };
    let table = [
        (Manner::WrongValue, "2026-03-02", WaiverState::Used, Status::Waived, 0),
        (Manner::WrongValue, "2026-03-01", WaiverState::Expired, Status::Failed, 1),
        (Manner::Good, "2026-03-02", WaiverState::UnexpectedPass, Status::UnexpectedPass, 7),
    ];
    for (manner, expires, state, status, code) in table {
        let options = Options { waivers: file(expires), ..options() };
        let report = run_with(small::contract(), manner, options).await;
        let got = (report.waivers[0].state, report.contracts[0].clauses[0].status, report.exit_code());
        assert_eq!(got, (state, status, code), "{manner:?} {expires}");
    }
}
