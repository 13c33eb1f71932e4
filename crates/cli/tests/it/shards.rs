//! Shards: their merged report equals the report of one run.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::program::{CallResult, call};

const CONTRACTS: [&str; 5] = [
    "seccomp-profile",
    "pod-scheduler-name",
    "pod-topology-spread-constraints",
    "crd-deletion-protection",
    "projected-token-mount",
];

fn run(folder: &Path, more: &[&str]) -> CallResult {
    let contracts = CONTRACTS.iter().flat_map(|name| ["--contract", name]);
    let arguments: Vec<&str> = ["run", "--substrate", "direct", "--seed", "1"]
        .into_iter()
        .chain(contracts)
        .chain(more.iter().copied())
        .collect();
    call(folder, &arguments)
}

pub(crate) fn read(folder: &Path, name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(folder.join(name).join("report.json")).unwrap()).unwrap()
}

fn write(folder: &Path, name: &str, report: &Value) {
    fs::create_dir_all(folder.join(name)).unwrap();
    fs::write(folder.join(name).join("report.json"), report.to_string()).unwrap();
}

/// A report without times, and without the number of cases in which a law held: a case that is repeated until its facts are
/// visible may count more often.
pub(crate) fn timeless(mut report: Value) -> Value {
    fn forget(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.retain(|name, _| {
                    !["durationMs", "startedAt", "attempts", "held"].contains(&name.as_str())
                });
                fields.values_mut().for_each(forget);
            }
            Value::Array(items) => items.iter_mut().for_each(forget),
            _ => {}
        }
    }
    forget(&mut report);
    report
}

pub(crate) fn merge(folder: &Path, shards: &[&str]) -> CallResult {
    call(folder, &[&["report", "merge", "--report", "merged"], shards].concat())
}

#[test]
fn four_shards_are_one_run() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    run(here, &["--report", "whole"]).assert_exit(0, &["5 contracts"]);
    for shard in ["1", "2", "3", "4"] {
        run(here, &["--report", shard, "--shard", &format!("{shard}/4")])
            .assert_exit(0, &[&format!("shard {shard} of 4")]);
    }
    merge(here, &["3", "1", "4", "2"])
        .assert_exit(0, &["5 contracts", "verdict  conformant", "merged/report.html"]);
    assert_eq!(timeless(read(here, "merged")), timeless(read(here, "whole")));
    assert!(here.join("merged/junit.xml").exists());

    merge(here, &["1", "2", "4"]).assert_exit(4, &["incomplete: shard 3/4 is missing"]);
    merge(here, &["4"]).assert_exit(4, &["incomplete: shards 1/4, 2/4, 3/4 are missing"]);
    merge(here, &["1", "2", "3", "4", "2/report.json"])
        .assert_exit(2, &["shard 2/4 is given twice: 2 and 2/report.json"]);
    merge(here, &["1", "whole"]).assert_exit(2, &["whole is not a shard", "--shard"]);
    merge(here, &["1", "no"]).assert_exit(2, &["failed to read no"]);
    call(here, &["gate", "1"]).assert_exit(4, &["only shard 1 of 4", "report merge"]);

    let other = |change: &dyn Fn(&mut Value)| {
        let mut report = read(here, "2");
        change(&mut report);
        write(here, "other", &report);
        merge(here, &["1", "other", "3", "4"])
    };
    other(&|report| report["run"]["version"] = json!("9.9.9"))
        .assert_exit(2, &["not shards of the same run", "version", "9.9.9"]);
    other(&|report| report["target"]["name"] = json!("another")).assert_exit(2, &["target", "another"]);
    other(&|report| report["substrate"]["name"] = json!("kind")).assert_exit(2, &["substrate", "kind"]);
    other(&|report| report["selection"]["shard"]["digest"] = json!("0"))
        .assert_exit(2, &["digest of the contracts"]);
    other(&|report| report["contracts"][0]["clauses"][0]["hash"] = json!("0"))
        .assert_exit(2, &["do not have all cases that they state"]);

    // The merged report has the findings of each shard.
    other(&|report| {
        let clause = &mut report["contracts"][0]["clauses"][0];
        clause["status"] = json!("failed");
        clause["cases"][0]["status"] = json!("failed");
        report["contracts"][0]["verdict"] = json!("nonConformant");
    })
    .assert_exit(1, &["verdict  not conformant"]);
    other(&|report| report["environmentErrors"] = json!(["no route"]))
        .assert_exit(3, &["no route", "inconclusive"]);
    other(&|report| report["interrupted"] = json!(15)).assert_exit(143, &["interrupted by SIGTERM"]);
}

#[test]
fn shards_of_verify_are_one_run() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let verify = |report: &str, more: &[&str]| {
        let contracts = ["--contract", "seccomp-profile", "--contract", "pod-scheduler-name"];
        let with = ["verify", "--target", "built-in", "--seed", "1", "--report", report];
        call(here, &[&with[..], &contracts[..], more].concat())
    };
    verify("whole", &[]).assert_exit(0, &["2 contracts"]);
    verify("1", &["--shard", "1/2"]).assert_exit(0, &["shard 1 of 2", "1 contract"]);
    verify("2", &["--shard", "2/2"]).assert_exit(0, &["shard 2 of 2", "1 contract"]);
    merge(here, &["2", "1"]).assert_exit(0, &["2 contracts", "verdict  conformant"]);
    assert_eq!(timeless(read(here, "merged")), timeless(read(here, "whole")));
}

#[test]
fn empty_and_invalid_shards_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), &["--shard", "6/6"]).assert_exit(2, &["--shard 6/6", "5 shards at most"]);
    for shard in ["0/4", "5/4", "4", "a/b"] {
        run(folder.path(), &["--shard", shard]).assert_exit(2, &["write I/N, such as 2/4"]);
    }
    assert!(!folder.path().join("reports").exists(), "nothing was run");
}
