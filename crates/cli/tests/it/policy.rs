//! `gate`: judges a report by policy, baseline and waivers.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::program::{CallResult, call};

const HEAD: &str =
    "apiVersion: conformance.gardener.cloud/v1alpha1\nkind: GatePolicy\nmetadata: {name: release}\n";
const WAIVER: &str =
    "clause: GRM-SEC-001, owner: team-x, reason: fixed in 1.4, link: 'https://example.com/1'";

/// The report of a run in which every clause holds; tests change copies of it.
static GOOD: LazyLock<String> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    run_good(folder.path());
    fs::read_to_string(folder.path().join("good/report.json")).unwrap()
});

/// Runs a contract that is kept, with its report in `good`.
fn run_good(folder: &Path) {
    let run = ["run", "--substrate", "direct", "--contract", "seccomp-profile", "--report", "good"];
    call(folder, &run).assert_exit(0, &[]);
}

/// A folder with that report in `good`.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("good")).unwrap();
    fs::write(folder.path().join("good/report.json"), &*GOOD).unwrap();
    folder
}

/// Writes a changed copy of the report in `good` as `name`.
fn report(folder: &Path, name: &str, change: impl FnOnce(&mut Value)) {
    let text = fs::read_to_string(folder.join("good/report.json")).unwrap();
    let mut report: Value = serde_json::from_str(&text).unwrap();
    change(&mut report);
    fs::write(folder.join(name), report.to_string()).unwrap();
}

/// Sets the level of GRM-SEC-001, and the status of its first case and of the clause.
fn with_result(level: &str, status: &str) -> impl FnOnce(&mut Value) {
    let (level, status) = (level.to_owned(), status.to_owned());
    move |report| {
        let clause = clause(report);
        (clause["level"], clause["status"]) = (json!(level), json!(status));
        clause["cases"][0]["status"] = json!(status);
        if status == "failed" {
            clause["cases"][0]["checks"] =
                json!([{"part": "object", "path": "spec.a", "want": "1", "got": "2"}]);
        } else {
            clause["cases"][0]["reason"] = json!({"code": "environment", "text": "no route to host"});
        }
    }
}

fn clause(report: &mut Value) -> &mut Value {
    let clauses = report["contracts"][0]["clauses"].as_array_mut().unwrap();
    clauses.iter_mut().find(|clause| clause["id"] == "GRM-SEC-001").unwrap()
}

fn gate(folder: &Path, arguments: &[&str]) -> CallResult {
    call(folder, &[&["gate"], arguments].concat())
}

fn policy(folder: &Path, spec: &str) {
    fs::write(folder.join("gate.yaml"), format!("{HEAD}{spec}")).unwrap();
}

#[test]
fn a_broken_must_fails_and_a_broken_should_warns_unless_the_policy_says_otherwise() {
    let folder = folder();
    let here = folder.path();
    gate(here, &["good"])
        .assert_exit(0, &["gate     holds", "0 findings fail · 0 warnings", "policy default"]);
    report(here, "must.json", with_result("MUST", "failed"));
    gate(here, &["must.json"]).assert_exit(
        1,
        &[
            "✗ GRM-SEC-001 MUST",
            "spec.a: wanted 1, got 2",
            "why     policy: MUST fails (exit 1)",
            "remedy  fix it (gardener-conformance run",
            "clause  contracts/resource-manager/webhooks/seccomp-profile.yaml:",
            "gate     does not hold",
            "exit 1: GRM-SEC-001 (MUST) is broken",
        ],
    );
    report(here, "should.json", with_result("SHOULD", "failed"));
    let result = gate(here, &["should.json"]);
    result.assert_exit(0, &["! GRM-SEC-001 SHOULD", "policy: SHOULD warns", "gate     holds", "1 warning"]);
    policy(here, "spec:\n  levels: {MUST: warn, SHOULD: fail}\n");
    gate(here, &["must.json", "--policy", "gate.yaml"])
        .assert_exit(0, &["policy: MUST warns", "policy release"]);
    gate(here, &["should.json", "--policy", "gate.yaml"]).assert_exit(1, &["policy: SHOULD fails"]);
    let json = gate(here, &["should.json", "--policy", "gate.yaml", "-o", "json"]);
    let json: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!((&json["exitCode"], &json["findings"][0]["subject"]), (&1.into(), &"GRM-SEC-001".into()));
    let result = gate(here, &["should.json", "--policy", "gate.yaml", "-o", "markdown"]);
    result.assert_exit(1, &["## gardener-conformance: the gate does not hold", "| GRM-SEC-001 SHOULD |"]);
    let quiet = gate(here, &["must.json", "-q"]);
    assert!(!quiet.out.contains("remedy"), "{}", quiet.out);
}

#[test]
fn findings_other_than_clauses_have_their_own_exit_codes() {
    let folder = folder();
    let here = folder.path();
    let gap = |report: &mut Value| {
        report["contracts"][0]["gaps"] = json!([{"path": "spec.b", "case": "GRM-SEC-001/x"}]);
    };
    report(here, "gap.json", gap);
    gate(here, &["gap.json"]).assert_exit(6, &["spec.b in seccomp-profile", "no fault of the target"]);
    policy(here, "spec:\n  findings: {gaps: warn}\n");
    gate(here, &["gap.json", "--policy", "gate.yaml"]).assert_exit(0, &["policy: a gap warns"]);
    report(here, "unproven.json", |report| clause(report)["proof"]["proven"] = json!(false));
    gate(here, &["unproven.json"]).assert_exit(6, &["passes and is not proven able to fail"]);
    let unexplained = |report: &mut Value| {
        report["contracts"][0]["unexplained"] = json!([{"path": "spec.c", "became": "1", "cases": ["a"]}]);
    };
    report(here, "unexplained.json", unexplained);
    gate(here, &["unexplained.json"]).assert_exit(1, &["no clause explains", "target's extras"]);
    let law = |report: &mut Value| {
        let law = &mut report["contracts"][0]["laws"][0];
        law["broken"] = json!([{"case": "GRM-SEC-001/x", "text": "2 came"}]);
    };
    report(here, "law.json", law);
    gate(here, &["law.json"]).assert_exit(1, &["law of seccomp-profile: ", "policy: a broken law fails"]);
    report(here, "errored.json", with_result("MUST", "errored"));
    gate(here, &["errored.json"]).assert_exit(3, &["no route to host", "it says nothing about the target"]);
    report(here, "notrun.json", with_result("MUST", "notRun"));
    gate(here, &["notrun.json"]).assert_exit(4, &["1 case not run"]);
    report(here, "interrupted.json", |report| report["interrupted"] = json!(2));
    gate(here, &["interrupted.json"]).assert_exit(130, &["interrupted by signal 2"]);
    report(here, "empty.json", |report| report["contracts"] = json!([]));
    gate(here, &["empty.json"]).assert_exit(4, &["a gate cannot pass without results"]);
    let withheld = |report: &mut Value| {
        let case = &mut clause(report)["cases"][0];
        case["status"] = json!("notSupported");
        case["reason"] = json!({"code": "registration", "text": "the target has no known registration"});
    };
    report(here, "partial.json", withheld);
    gate(here, &["partial.json"]).assert_exit(0, &["! report", "1 × the target has no known registration"]);
    policy(here, "spec:\n  findings: {partial: fail}\n");
    gate(here, &["partial.json", "--policy", "gate.yaml"]).assert_exit(4, &["a partial verdict fails"]);
}

#[test]
fn a_regression_is_what_the_baseline_passed() {
    let folder = folder();
    let here = folder.path();
    report(here, "must.json", with_result("MUST", "failed"));
    report(here, "should.json", with_result("SHOULD", "failed"));
    for broken in ["must.json", "should.json"] {
        gate(here, &[broken, "--baseline", "good"])
            .assert_exit(5, &["it passed in the baseline", "is worse than in the baseline", "baseline good"]);
    }
    gate(here, &["must.json", "--baseline", "must.json"]).assert_exit(1, &["policy: MUST fails"]);
    gate(here, &["good", "--baseline", "must.json"]).assert_exit(0, &[]);
    policy(here, "spec:\n  baseline: {report: must.json, known: warn, regressions: {SHOULD: warn}}\n");
    gate(here, &["must.json", "--policy", "gate.yaml"]).assert_exit(0, &["the baseline has it, too"]);
    gate(here, &["should.json", "--policy", "gate.yaml", "--baseline", "good"])
        .assert_exit(0, &["a regression warns"]);
    report(here, "less.json", |report| clause(report)["cases"] = json!([]));
    gate(here, &["less.json", "--baseline", "good"])
        .assert_exit(5, &["not run any more", "renew the baseline"]);
    let changed = |report: &mut Value| {
        clause(report)["cases"] = json!([]);
        clause(report)["hash"] = json!("another");
    };
    report(here, "changed.json", changed);
    gate(here, &["changed.json", "--baseline", "good"]).assert_exit(0, &[]);
    report(here, "none.json", |report| report["contracts"] = json!([]));
    gate(here, &["good", "--baseline", "none.json"]).assert_exit(4, &["no clause in common"]);
    report(here, "other.json", |report| report["target"]["name"] = json!("other"));
    gate(here, &["good", "--baseline", "other.json"])
        .assert_exit(0, &["! baseline  the baseline is a report of other"]);
    report(here, "strict.json", |report| report["run"]["strict"] = json!(true));
    gate(here, &["good", "--baseline", "strict.json"])
        .assert_exit(0, &["! baseline  the baseline is for", "strict, this report for", "--strict"]);
}

#[test]
fn waivers_accept_until_they_expire_and_fail_when_unused() {
    let folder = folder();
    let here = folder.path();
    report(here, "must.json", with_result("MUST", "failed"));
    let waived = |target: &str| {
        policy(
            here,
            &format!("spec:\n  waivers:\n  - {{{WAIVER}, target: {target}, expires: 2027-03-31}}\n"),
        );
    };
    waived("gardener-resource-manager");
    let at = |report: &str, day: &str| gate(here, &[report, "--policy", "gate.yaml", "--at", day]);
    at("must.json", "2026-11-01")
        .assert_exit(0, &["waived by team-x until 2027-03-31: fixed in 1.4", "https://example.com/1"]);
    at("must.json", "2027-03-20").assert_exit(0, &["expires on 2027-03-31, in 11 days (team-x)"]);
    at("must.json", "2027-04-01").assert_exit(
        7,
        &["its waiver expired on 2027-03-31", "exit 7: the waiver of GRM-SEC-001 ended 2027-03-31"],
    );
    at("good", "2026-11-01").assert_exit(7, &["passes though team-x waived it", "remove the waiver"]);
    waived("another");
    at("must.json", "2026-11-01").assert_exit(1, &["policy: MUST fails"]);
    // The gate judges the run's waivers again for its own day, and a renewed waiver wins.
    let used = json!([{"clause": "GRM-SEC-001", "state": "used", "owner": "team-y", "reason": "late", "link": "",
        "expires": "2026-12-31"}]);
    report(here, "waived.json", |report| {
        with_result("MUST", "waived")(report);
        report["waivers"] = used;
    });
    at("waived.json", "2026-11-01").assert_exit(0, &["waived by team-y until 2026-12-31"]);
    at("waived.json", "2027-01-01").assert_exit(7, &["its waiver expired on 2026-12-31 (team-y)"]);
    waived("gardener-resource-manager");
    at("waived.json", "2027-01-01").assert_exit(0, &["waived by team-x until 2027-03-31"]);
}

#[test]
fn profiles_are_judged_by_levels_of_their_own() {
    let folder = folder();
    let here = folder.path();
    report(here, "must.json", with_result("MUST", "failed"));
    policy(
        here,
        "spec:\n  profiles:\n  - {name: young, clauses: [GRM-SEC-001], levels: {MUST: warn}}\n  \
         - {name: other, contracts: [seccomp-profile, pod-scheduler-name]}\n  - {name: away, components: [controlplane]}\n",
    );
    let judged = |profile: &str| gate(here, &["must.json", "--policy", "gate.yaml", "--profile", profile]);
    judged("young").assert_exit(0, &["profile \"young\": MUST warns", "1 clause judged"]);
    judged("other").assert_exit(1, &["profile \"other\": MUST fails"]);
    judged("away").assert_exit(4, &["profile \"away\"", "no case of it was answered"]);
    judged("none").assert_exit(2, &["gate.yaml has no profile \"none\"; its profiles: young, other, away"]);
    gate(here, &["must.json", "--policy", "gate.yaml"]).assert_exit(1, &["profile \"other\": MUST fails"]);
}

#[test]
fn mistakes_are_reported_with_file_line_and_remedy() {
    let folder = folder();
    let here = folder.path();
    let rejects = |spec: &str, texts: &[&str]| {
        policy(here, spec);
        gate(here, &["good", "--policy", "gate.yaml"]).assert_exit(2, texts);
    };
    rejects("spec:\n  levels: {MUST: stop}\n", &["gate.yaml:5", "stop"]);
    rejects(
        "spec:\n  profiles:\n  - {name: a, clauses: [GRM-SEC-00]}\n",
        &["gate.yaml:6", "unknown clauses", "similar ids are GRM-SEC-001"],
    );
    let waiver = WAIVER.replace("GRM-SEC-001", "GRM-SEC-00");
    rejects(
        &format!("spec:\n  waivers:\n  - {{{waiver}, expires: 2027-03-31}}\n"),
        &[
            "gate.yaml:6",
            "the waiver names a clause that does not exist",
            "similar ids are",
            "list` prints all ids",
        ],
    );
    call(here, &["lint", "gate.yaml"])
        .assert_exit(2, &["gate.yaml:6", "the waiver names a clause that does not exist"]);
    policy(here, "spec:\n  baseline: {report: gone}\n");
    gate(here, &["good", "--policy", "gate.yaml"]).assert_exit(2, &["failed to read gone", "--baseline"]);
    gate(here, &["good", "--policy", "no.yaml"])
        .assert_exit(2, &["failed to read policy no.yaml", "schema gate"]);
    gate(here, &["no"]).assert_exit(2, &["failed to read no", "run or verify first"]);
    fs::write(here.join("half.json"), "{").unwrap();
    gate(here, &["half.json"]).assert_exit(2, &["failed to parse half.json", "line 1"]);
    gate(here, &["good", "--at", "soon"]).assert_exit(2, &["--at soon: not a day"]);
    call(here, &["schema", "gate"]).assert_exit(0, &["GatePolicy", "regressions"]);
}

#[test]
fn a_report_is_rendered_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    run_good(here);
    for name in ["report.sarif", "badge.svg"] {
        assert!(here.join("good").join(name).exists(), "{name} lies beside the report");
    }
    let forms = [
        ("text", "verdict  conformant"),
        ("json", "ConformanceReport"),
        ("markdown", "## gardener-conformance: conformant"),
        ("html", "<!doctype html>"),
        ("junit", "<testsuites"),
        ("sarif", "sarif-2.1.0.json"),
        ("badge", "<svg"),
        ("shields", "\"schemaVersion\": 1"),
    ];
    for (form, words) in forms {
        call(here, &["render", "good", "-o", form]).assert_exit(0, &[words]);
    }
    report(here, "must.json", with_result("MUST", "failed"));
    call(here, &["render", "must.json", "--into", "all"]).assert_exit(0, &["wrote all"]);
    let written = fs::read_dir(here.join("all")).unwrap();
    let mut written: Vec<_> =
        written.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    written.sort();
    let want = ["badge.svg", "junit.xml", "report.html", "report.json", "report.md", "report.sarif"];
    assert_eq!(written, want);
    let sarif = fs::read_to_string(here.join("all/report.sarif")).unwrap();
    assert!(sarif.contains("spec.a: wanted 1, got 2"), "{sarif}");
    call(here, &["render", "no"]).assert_exit(2, &["failed to read no", "run or verify first"]);
}
