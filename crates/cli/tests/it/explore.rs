//! `explore`: perturbs scenarios of our component, and refuses what it cannot explore.

use std::path::Path;

use serde_json::Value;

use crate::program::{CallResult, call};

fn explore(folder: &Path, more: &[&str]) -> CallResult {
    call(folder, &[&["explore", "--clause", "GRM-SCT-001"], more].concat())
}

#[test]
fn the_scenarios_of_a_clause_are_explored() {
    let folder = tempfile::tempdir().unwrap();
    let result = call(folder.path(), &["explore", "--clause", "GRM-NOD-001", "--report", "found"]);
    let words = [
        "resource-manager",
        "✓ GRM-NOD-001/",
        "crash before a write",
        "event lost until a relist",
        "nothing was found",
        "exit 0: 3 scenarios withstood",
    ];
    result.assert_exit(0, &words);
    let text = std::fs::read_to_string(folder.path().join("found/explore.json")).unwrap();
    let found: Value = serde_json::from_str(&text).unwrap();
    let counts = &found["counts"];
    let number = |field: &str| counts[field].as_u64().unwrap();
    assert_eq!((number("failed"), number("missed"), number("left")), (0, 0, 0), "{counts}");
    assert_eq!(number("run") + number("cut"), number("space"), "{counts}");
    assert_eq!(found["scenarios"].as_array().map(Vec::len), Some(3));
    let page = std::fs::read_to_string(folder.path().join("found/explore.html")).unwrap();
    assert!(page.contains("nothing was found") && page.contains("leader lost at a write"), "{page}");
}

#[test]
fn one_perturbation_of_one_scenario_is_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let result = explore(folder.path(), &["--perturbation", "1", "-o", "json"]);
    result.assert_exit(0, &["exit 0: 3 scenarios withstood 3 perturbations"]);
    let found: Value = serde_json::from_str(&result.out).unwrap();
    assert_eq!((&found["counts"]["run"], &found["perturbation"]), (&3.into(), &1.into()));
    let beyond = explore(folder.path(), &["--perturbation", "9999"]);
    beyond.assert_exit(2, &["exit 2: --perturbation 9999: the plan has"]);
}

#[test]
fn a_pair_of_perturbations_is_run_with_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let result = explore(folder.path(), &["--perturbation", "1+9", "-o", "json"]);
    result.assert_exit(0, &["exit 0: 3 scenarios withstood 0 perturbations and 3 pairs"]);
    let found: Value = serde_json::from_str(&result.out).unwrap();
    assert_eq!(
        (&found["perturbation"], &found["with"], &found["pairs"]["run"]),
        (&1.into(), &9.into(), &3.into())
    );
    let spent = explore(folder.path(), &["--depth", "2", "--budget", "0s"]);
    spent.assert_exit(4, &["exit 4: the budget is spent"]);
}

#[test]
fn a_spent_budget_ends_with_what_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let result = explore(folder.path(), &["--budget", "0s"]);
    result.assert_exit(4, &["3 scenarios left", "exit 4: the budget is spent", "3 whole scenarios are left"]);
}

#[test]
fn what_cannot_be_explored_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let table: [(i32, &[&str], &[&str]); 9] = [
        (
            2,
            &["--target", "url=https://localhost:1"],
            &["explore starts its target with API servers of its own"],
        ),
        (2, &["--target", "nowhere.yaml"], &["failed to read target nowhere.yaml"]),
        (2, &["--budget", "soon"], &["--budget soon"]),
        (2, &["--perturbation", "0"], &["is not a whole number from 1 on"]),
        (2, &["--perturbation", "3+3"], &["14+31"]),
        (2, &["--depth", "3"], &["is not a whole number from 1 to 2"]),
        (2, &["--config", "x.yaml"], &["are not for --target built-in"]),
        (2, &["--component", "resourcemanager"], &["resourcemanager", "resource-manager"]),
        (4, &["--component", "scheduler"], &["no contract about a controller of scheduler is selected"]),
    ];
    for (code, arguments, words) in table {
        explore(folder.path(), arguments).assert_exit(code, words);
    }
}
