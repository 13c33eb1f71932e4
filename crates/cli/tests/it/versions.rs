//! The contracts about versions, run on our own decisions.

use std::fs;

use serde_json::Value;

use crate::program::call;

#[test]
fn every_row_passes_on_every_path_and_every_clause_is_proven() {
    let folder = tempfile::tempdir().unwrap();
    call(folder.path(), &["run", "--suite", "versions"])
        .assert_exit(0, &["verdict  conformant", "rows     ", " 0 gaps"]);
    let report = fs::read_to_string(folder.path().join("reports/latest/report.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["target"]["name"], "gardener-garden-admission");
    let contracts = report["contracts"].as_array().unwrap().iter();
    let mut wrong = Vec::new();
    for clause in contracts.flat_map(|contract| contract["clauses"].as_array().unwrap()) {
        let cases = clause["cases"].as_array().unwrap();
        // Clauses about admission plugins are for the substrate garden.
        if clause["id"].as_str().unwrap().starts_with("GPL-") {
            assert!(cases.iter().all(|case| case["status"] == "notSupported"), "{}", clause["id"]);
            continue;
        }
        let failed = cases.iter().filter(|case| case["status"] != "passed");
        wrong.extend(failed.map(|case| format!("{} {}", clause["id"], case["name"])));
        if clause["proof"]["proven"] != true {
            wrong.push(format!("{} is not proven", clause["id"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn clauses_are_listed_and_explained() {
    let folder = tempfile::tempdir().unwrap();
    call(folder.path(), &["list", "--clause", "GDN-KUB-001", "-v"])
        .assert_exit(0, &["garden", "GDN-KUB-001", "/decision", "/reconcile"]);
    call(folder.path(), &["explain", "GDN-KUB-001"]).assert_exit(0, &["MUST", "runsOn=decision"]);
    call(folder.path(), &["explain", "GDN-KUB-006"])
        .assert_exit(0, &["Decided  alone: admission refuses an expired version"]);
}

#[test]
fn a_contract_about_versions_is_scaffolded() {
    let folder = tempfile::tempdir().unwrap();
    let new = ["new", "contract", "my-versions", "--form", "versions", "--file", "mine/my-versions.yaml"];
    call(folder.path(), &new).assert_exit(0, &["wrote mine/my-versions.yaml"]);
    call(folder.path(), &["lint", "mine/my-versions.yaml"]).assert_exit(0, &["no errors"]);
    call(folder.path(), &["fmt", "--check", "mine"]).assert_exit(0, &[]);
}

#[test]
fn contracts_about_versions_do_not_apply_to_a_webhook() {
    let folder = tempfile::tempdir().unwrap();
    let verify = ["verify", "--target", "url=https://127.0.0.1:9", "--insecure", "--clause", "GDN-KUB-001"];
    call(folder.path(), &verify)
        .assert_exit(4, &["no contract of clause=GDN-KUB-001 applies to 127.0.0.1:9"]);
}
