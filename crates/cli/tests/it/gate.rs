//! Verdicts, selections, and runs that end early.

use crate::program::{call, program, result_of};

#[test]
fn a_kept_contract_ends_with_zero_and_leaves_all_reports() {
    let folder = tempfile::tempdir().unwrap();
    let result = call(folder.path(), &["run", "--substrate", "direct", "--contract", "seccomp-profile"]);
    result.assert_exit(0, &["verdict  conformant", "proof", "report   reports/latest/report.html"]);
    for name in ["report.json", "report.html", "junit.xml", "report.md"] {
        assert!(folder.path().join("reports/latest").join(name).exists(), "{name}");
    }
}

#[test]
fn the_exit_code_is_the_reports() {
    let folder = tempfile::tempdir().unwrap();
    let result = call(
        folder.path(),
        &["run", "--substrate", "direct", "--contract", "pod-scheduler-name", "-o", "json"],
    );
    let report: serde_json::Value = serde_json::from_str(&result.out).unwrap();
    assert_eq!(report["exitCode"], result.code);
    assert_eq!(report["kind"], "ConformanceReport");
}

#[test]
fn standard_output_has_only_the_report_whatever_the_verbosity() {
    let folder = tempfile::tempdir().unwrap();
    let run = ["--substrate", "direct", "--clause", "GRM-SEC-001", "-o", "json"];
    for (command, more) in [("run", "-v"), ("run", "--fail-fast"), ("prove", "-v")] {
        let result = call(folder.path(), &[&[command, more], &run[..]].concat());
        let report: serde_json::Value = serde_json::from_str(&result.out).unwrap_or_default();
        assert_eq!(report["kind"], "ConformanceReport", "{command} {more}: {}", result.out);
        assert_eq!(result.err.contains("GRM-SEC-001/"), more == "-v");
        let proof = &report["contracts"][0]["clauses"][0]["proof"];
        assert_eq!(proof["noticed"].is_array(), command == "prove", "{proof}");
    }
    let result = call(folder.path(), &[&["prove"], &run[..4]].concat());
    result.assert_exit(0, &[" fails after nothing: allowed, nothing changed", " fails after leaf: "]);
}

#[test]
fn suites_of_a_folder_are_added() {
    let folder = tempfile::tempdir().unwrap();
    let suites = folder.path().join("mine/suites");
    std::fs::create_dir_all(&suites).unwrap();
    let suite = |name: &str, clause: &str| {
        let text = format!(
            "apiVersion: conformance.gardener.cloud/v1alpha1\nkind: Suite\nmetadata: {{name: {name}}}\n\
             spec: {{include: [{{clause: {clause}}}]}}\n"
        );
        std::fs::write(suites.join(format!("{name}.yaml")), text).unwrap();
    };
    suite("one", "GRM-SEC-001");
    suite("smoke", "GRM-SEC-002");
    let list = |name: &str| call(folder.path(), &["--contracts", "mine", "list", "--suite", name]);
    list("one").assert_exit(0, &["GRM-SEC-001"]);
    let result = list("smoke");
    result.assert_exit(0, &["GRM-SEC-002"]);
    assert!(
        !result.out.contains("GRM-SEC-001"),
        "the folder's suite replaces the built-in one: {}",
        result.out
    );
    list("two").assert_exit(2, &["there is no suite \"two\"; there are", "one"]);
    call(folder.path(), &["--contracts", "mine", "lint"]).assert_exit(0, &[]);
}

#[test]
fn empty_selections_end_with_four_and_unknown_names_with_two() {
    let folder = tempfile::tempdir().unwrap();
    let table: [(&[&str], i32, &str); 5] = [
        (&["run", "--contract", "seccomp-profile", "--level", "MAY"], 4, "nothing is selected by contract="),
        (&["run", "--contract", "seccomp-profile", "--contract", "no-such"], 2, "no contract \"no-such\""),
        (&["run", "--suite", "no-such-suite"], 2, "there is no suite \"no-such-suite\"; there are"),
        (&["run", "--level", "PERHAPS"], 2, "is not a level"),
        (&["explain", "GRM-HAC-00"], 2, "did you mean"),
    ];
    for (arguments, code, words) in table {
        call(folder.path(), arguments).assert_exit(code, &[words]);
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_in_the_middle_ends_with_130_and_the_report_is_written() {
    use std::io::BufRead as _;
    use std::process::Stdio;
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["run", "--substrate", "direct", "-v", "--repeat", "50", "--parallel", "1"];
    let mut child =
        program(folder.path()).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    std::io::BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let killed = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(result_of(&output).code, 130);
    let report = std::fs::read_to_string(folder.path().join("reports/latest/report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!((&report["exitCode"], &report["interrupted"]), (&130.into(), &2.into()));
}

#[test]
fn a_waiver_of_an_unknown_clause_is_a_usage_error() {
    let folder = tempfile::tempdir().unwrap();
    let waiver = |clause: &str| {
        format!(
            "- {{clause: {clause}, target: x, owner: me, reason: late, link: https://example.com, expires: 2027-03-31}}\n"
        )
    };
    let head = "apiVersion: conformance.gardener.cloud/v1alpha1\nkind: Waivers\nwaivers:\n";
    let text = format!("{head}{}{}", waiver("GRM-SEC-001"), waiver("GRM-SEC-unknown"));
    std::fs::write(folder.path().join("waivers.yaml"), text).unwrap();
    let run = ["run", "--substrate", "direct", "--clause", "GRM-SEC-001", "--waivers", "waivers.yaml"];
    call(folder.path(), &run)
        .assert_exit(2, &["the waivers name clauses that no contract has: GRM-SEC-unknown"]);
    assert!(!folder.path().join("reports").exists(), "nothing was run");
}

#[test]
fn a_negative_duration_is_a_usage_error() {
    let folder = tempfile::tempdir().unwrap();
    for flag in ["--settle", "--time-budget"] {
        let run = ["run", "--substrate", "direct", "--clause", "GRM-SEC-001", &format!("{flag}=-1s")];
        call(folder.path(), &run).assert_exit(2, &[&format!("{flag} -1s: a duration must not be negative")]);
    }
}

#[test]
fn coverage_reads_the_last_report_and_holds_thresholds() {
    let folder = tempfile::tempdir().unwrap();
    call(folder.path(), &["coverage", "--min-proven", "1"])
        .assert_exit(6, &["there is no report in reports/latest"]);
    call(folder.path(), &["run", "--substrate", "direct", "--contract", "seccomp-profile"])
        .assert_exit(0, &[]);
    let result = call(folder.path(), &["coverage", "-o", "json"]);
    let counts: serde_json::Value = serde_json::from_str(&result.out).unwrap();
    let total = counts["total"].as_object().unwrap();
    let names: Vec<&str> = total.keys().map(String::as_str).collect();
    let wanted = [
        "attested",
        "clauses",
        "mutantsNoticed",
        "mutantsReasoned",
        "mutantsTried",
        "notYet",
        "passing",
        "proven",
        "sentences",
        "withCases",
    ];
    assert_eq!(names, wanted);
    assert!(total["proven"].as_u64().unwrap() > 0);
}
