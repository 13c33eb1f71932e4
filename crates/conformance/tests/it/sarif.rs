//! Reports as SARIF, checked against the requirements of SARIF 2.1.0, and as badges.

use std::collections::BTreeSet;

use conformance::render;
use conformance::report::{Gap, Report, Status, Unexplained, Verdict, WaiverState, WaiverUse};
use contract::model::Level;
use serde_json::{Value, json};

use crate::direct::{options, run_with};
use crate::fake::Manner;
use crate::small;

/// The log, after checking that it has everything that the schema requires.
fn log(report: &Report) -> Value {
    let log: Value = serde_json::from_str(&render::sarif(report)).expect("SARIF is JSON");
    assert_eq!(
        (&log["version"], &log["$schema"]),
        (&"2.1.0".into(), &json!("https://json.schemastore.org/sarif-2.1.0.json"))
    );
    let run = &log["runs"][0];
    let driver = &run["tool"]["driver"];
    assert!(driver["name"].is_string());
    let rules = items(&driver["rules"]);
    let ids: BTreeSet<&str> = rules.iter().map(|rule| rule["id"].as_str().unwrap_or_default()).collect();
    assert_eq!(ids.len(), rules.len(), "one rule per id");
    for rule in rules {
        assert!(rule["shortDescription"]["text"].is_string() && rule["help"]["text"].is_string(), "{rule}");
        is_level(&rule["defaultConfiguration"]["level"]);
    }
    for result in items(&run["results"]) {
        let index = usize::try_from(result["ruleIndex"].as_u64().expect("an index")).expect("a small one");
        assert_eq!(rules[index]["id"], result["ruleId"], "{result}");
        assert!(result["message"]["text"].as_str().is_some_and(|text| !text.is_empty()), "{result}");
        is_level(&result["level"]);
        for location in items(&result["locations"]) {
            let physical = &location["physicalLocation"];
            assert!(physical["artifactLocation"]["uri"].is_string(), "{result}");
            assert!(physical["region"]["startLine"].as_u64() >= Some(1), "{result}");
            assert!(physical["region"]["startColumn"].as_u64() >= Some(1), "{result}");
        }
        for suppression in items(&result["suppressions"]) {
            assert_eq!(
                (&suppression["kind"], &suppression["status"]),
                (&"external".into(), &"accepted".into())
            );
        }
    }
    for invocation in items(&run["invocations"]) {
        assert!(invocation["executionSuccessful"].is_boolean(), "{invocation}");
        for note in items(&invocation["toolExecutionNotifications"]) {
            assert!(note["message"]["text"].is_string(), "{note}");
        }
    }
    log
}

fn items(list: &Value) -> &[Value] {
    list.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn is_level(level: &Value) {
    assert!(["none", "note", "warning", "error"].map(Value::from).contains(level), "{level}");
}

#[tokio::test]
async fn a_broken_case_is_a_result_at_its_row() {
    let log = log(&run_with(small::contract(), Manner::WrongValue, options()).await);
    let run = &log["runs"][0];
    assert_eq!(run["tool"]["driver"]["rules"].as_array().unwrap().len(), 2, "a rule per clause");
    let [result] = run["results"].as_array().unwrap().as_slice() else { not_one_result(&log) };
    assert_eq!((&result["ruleId"], &result["level"]), (&"FAKE-001".into(), &"error".into()));
    let text = result["message"]["text"].as_str().unwrap();
    assert!(text.starts_with("the replica count follows the type\n"), "{text}");
    assert!(text.contains("spec.replicas: wanted 3, got 2\n"), "{text}");
    assert!(text.ends_with("again: gardener-conformance run --case 'FAKE-001/server'"), "{text}");
    let place = json!({
        "artifactLocation": {"uri": "contracts/fake/replicas.yaml"}, "region": {"startLine": 7, "startColumn": 5},
    });
    assert_eq!(result["locations"], json!([{"physicalLocation": place}]));
    assert_eq!(result["partialFingerprints"], json!({"case/v1": "FAKE-001/server"}));
    assert_eq!(
        (&run["invocations"][0]["exitCode"], &run["invocations"][0]["executionSuccessful"]),
        (&1.into(), &true.into())
    );
}

fn not_one_result(log: &Value) -> ! {
    unreachable!("one result: {log:#}")
}

#[tokio::test]
async fn a_conformant_run_has_no_results_and_environment_errors_are_notifications() {
    let good = log(&run_with(small::contract(), Manner::Good, options()).await);
    assert_eq!(good["runs"][0]["results"], json!([]));
    let unreachable = log(&run_with(small::contract(), Manner::Unreachable, options()).await);
    let run = &unreachable["runs"][0];
    assert_eq!(run["results"], json!([]), "it says nothing about the target");
    assert_eq!(run["invocations"][0]["executionSuccessful"], false);
    let notes = run["invocations"][0]["toolExecutionNotifications"].to_string();
    assert!(notes.contains("failed to connect to https://fake/replicas"), "{notes}");
}

#[tokio::test]
async fn levels_waivers_and_findings_about_contracts_have_results() {
    let mut report = run_with(small::contract(), Manner::WrongValue, options()).await;
    let contract = &mut report.contracts[0];
    contract.clauses[0].level = Level::Should;
    contract.clauses[0].status = Status::Waived;
    for case in contract.clauses[0].cases.iter_mut().filter(|case| case.status == Status::Failed) {
        case.status = Status::Waived;
    }
    contract.gaps.push(Gap { path: "spec.a".to_owned(), case: "FAKE-001/server".to_owned() });
    let cases = vec!["FAKE-001/server".to_owned()];
    contract.unexplained.push(Unexplained {
        path: "spec.b".to_owned(),
        became: "2".to_owned(),
        whole: None,
        cases,
        before: Some("1".to_owned()),
        objects: vec!["Deployment app".to_owned()],
    });
    report.waivers.push(WaiverUse {
        clause: "FAKE-001".to_owned(),
        state: WaiverState::Used,
        owner: "team-x".to_owned(),
        reason: "late".to_owned(),
        link: "https://example.com/1".to_owned(),
        expires: "2027-03-31".to_owned(),
    });
    let log = log(&report);
    let found: Vec<(&str, &str)> = log["runs"][0]["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| (result["ruleId"].as_str().unwrap(), result["level"].as_str().unwrap()))
        .collect();
    assert_eq!(found, [("FAKE-001", "warning"), ("unexplained", "error"), ("gap", "warning")]);
    let suppressed = &log["runs"][0]["results"][0]["suppressions"][0]["justification"];
    assert_eq!(suppressed, "late (https://example.com/1); team-x until 2027-03-31");
}

#[tokio::test]
async fn a_badge_tells_the_verdict() {
    let good = run_with(small::contract(), Manner::Good, options()).await;
    let picture = render::badge(&good);
    assert!(picture.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\""), "{picture}");
    assert!(picture.contains("<title>gardener conformance: conformant 2/2</title>"), "{picture}");
    let shields: Value = serde_json::from_str(&render::shields(&good)).unwrap();
    assert_eq!(
        shields,
        json!({"schemaVersion": 1, "label": "gardener conformance", "message": "conformant 2/2",
        "color": "success", "isError": false})
    );
    let broken = run_with(small::contract(), Manner::WrongValue, options()).await;
    assert_eq!(broken.verdict, Verdict::NonConformant);
    let shields: Value = serde_json::from_str(&render::shields(&broken)).unwrap();
    assert_eq!((&shields["message"], &shields["color"]), (&"not conformant 1/2".into(), &"critical".into()));
}
