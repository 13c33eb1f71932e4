//! `--substrate envtest` if it cannot start, and `compare`: exit codes and messages.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::program::{CallResult, call, program, result_of};

/// Runs the program with this folder as KUBEBUILDER_ASSETS.
fn with_assets(folder: &Path, assets: &Path, arguments: &[&str]) -> CallResult {
    let mut command = program(folder);
    result_of(&command.args(arguments).env("KUBEBUILDER_ASSETS", assets).output().unwrap())
}

#[test]
fn missing_programs_are_an_environment_error_that_says_how_to_get_them() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let run = ["run", "--substrate", "envtest", "--clause", "GRM-SEC-001"];
    let remedy = ["make control-plane", "KUBEBUILDER_ASSETS"];
    with_assets(folder.path(), &empty, &run)
        .assert_exit(3, &[&remedy[..], &["has no kube-apiserver"]].concat());
    let mut command = program(folder.path());
    for variable in ["KUBEBUILDER_ASSETS", "XDG_CACHE_HOME", "XDG_DATA_HOME"] {
        command.env_remove(variable);
    }
    let bare = result_of(&command.args(run).env("HOME", &empty).output().unwrap());
    bare.assert_exit(3, &[&remedy[..], &["failed to find kube-apiserver, etcd"]].concat());
    let up = ["env", "up", "--foreground", "--substrate", "envtest"];
    with_assets(folder.path(), &empty, &up).assert_exit(3, &remedy);
    with_assets(folder.path(), &empty, &["env", "doctor"])
        .assert_exit(0, &["✗ envtest", "make control-plane"]);
}

#[test]
fn a_program_that_ends_is_named_with_its_last_words_and_nothing_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let (assets, data) = (folder.path().join("assets"), folder.path().join("data"));
    fs::create_dir(&assets).unwrap();
    fs::create_dir(&data).unwrap();
    for (name, script) in
        [("etcd", "echo the disk is on fire; exit 2"), ("kube-apiserver", "exec sleep 1000")]
    {
        let path = assets.join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    }
    let data_dir = data.display().to_string();
    let run = ["run", "--substrate", "envtest", "--clause", "GRM-SEC-001", "--data-dir", &data_dir];
    let result = with_assets(folder.path(), &assets, &run);
    result.assert_exit(3, &["etcd ended (exit status 2)", "the disk is on fire"]);
    assert_eq!(fs::read_dir(&data).unwrap().count(), 0);
    let report = fs::read_to_string(folder.path().join("reports/latest/report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!((&report["exitCode"], &report["verdict"]), (&3.into(), &"inconclusive".into()));
    assert_eq!(report["substrate"]["name"], "envtest");
    assert!(report["environmentErrors"][0].as_str().unwrap().contains("the disk is on fire"), "{report}");
}

#[test]
fn flags_for_envtest_are_refused_on_other_substrates() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [
        &["run", "--with", "controller-manager"][..],
        &["run", "--substrate", "direct", "--data-dir", "x"],
        &["env", "up", "--data-dir", "x"],
    ] {
        call(folder.path(), arguments).assert_exit(2, &["--substrate envtest"]);
    }
    call(folder.path(), &["run", "--with", "scheduler"]).assert_exit(2, &["controller-manager"]);
    call(folder.path(), &["env", "up", "--substrate", "direct"])
        .assert_exit(2, &["--substrate direct needs nothing started"]);
    call(folder.path(), &["env", "up", "--zones", "3"]).assert_exit(2, &["--substrate kind"]);
    call(folder.path(), &["run", "--keep"]).assert_exit(2, &["--keep", "--substrate kind"]);
    let scenarios = ["run", "--substrate", "kind", "--contract", "health"];
    call(folder.path(), &scenarios).assert_exit(2, &["no selected case runs in a cluster"]);
}

#[test]
fn reports_that_differ_in_a_case_exit_with_5() {
    let folder = tempfile::tempdir().unwrap();
    for report in ["a", "b"] {
        let substrate = if report == "a" { "embedded" } else { "direct" };
        let run =
            ["run", "--contract", "seccomp-profile", "--report", report, "--substrate", substrate, "-q"];
        call(folder.path(), &run).assert_exit(0, &["conformant"]);
    }
    call(folder.path(), &["compare", "a", "b/report.json"]).assert_exit(0, &["cases compared, 0 differ"]);
    let file = folder.path().join("b/report.json");
    let text = fs::read_to_string(&file).unwrap();
    let changed = text.replacen("\"status\": \"passed\"", "\"status\": \"failed\"", 20);
    assert_ne!(text, changed);
    fs::write(&file, changed).unwrap();
    call(folder.path(), &["compare", "a", "b"]).assert_exit(5, &["≠ GRM-SEC-", "passed, then failed"]);
    let json = call(folder.path(), &["compare", "a", "b", "-o", "json"]);
    json.assert_exit(5, &["\"differences\"", "\"second\": \"failed\""]);
    // A file is read itself, not report.json in its folder.
    fs::rename(&file, folder.path().join("a/baseline.json")).unwrap();
    call(folder.path(), &["compare", "a/report.json", "a/baseline.json"]).assert_exit(5, &["≠ GRM-SEC-"]);
    call(folder.path(), &["compare", "a", "nowhere"]).assert_exit(2, &["nowhere"]);
}

#[test]
fn reports_are_compared_in_the_cases_that_both_have() {
    let folder = tempfile::tempdir().unwrap();
    let reports = [
        ("one", &["GRM-SEC-001"][..]),
        ("other", &["GRM-SEC-002"]),
        ("both", &["GRM-SEC-001", "GRM-SEC-002"]),
    ];
    for (report, clauses) in reports {
        let wanted = clauses.iter().flat_map(|clause| ["--clause", clause]);
        let run: Vec<&str> = ["run", "--report", report, "-q"].into_iter().chain(wanted).collect();
        call(folder.path(), &run).assert_exit(0, &["conformant"]);
    }
    let compared = call(folder.path(), &["compare", "both", "one"]);
    compared.assert_exit(
        0,
        &["cases compared, 0 differ", "; ", " only in the first report, 0 only in the second"],
    );
    call(folder.path(), &["compare", "one", "other"])
        .assert_exit(4, &["the reports have no case in common", "0 cases compared, 0 differ"]);
}
