//! Slips of authors: each is one error, at its line, with the intended name.

use std::fs;
use std::path::Path;

use crate::program::{CallResult, call, program, result_of};

const CONTRACT: &str = "apiVersion: conformance.gardener.cloud/v1alpha1
kind: Contract
metadata:
  name: my-webhook
  labels: {component: mine}
spec:
  form: mutation
  source: {document: docs/concepts/mine.md, version: v1.82, section: Name of the Section}
  target: {webhook: my-webhook, handles: [v1 pods]}
  onlyTouches: [spec.schedulerName]
  clauses:
  - id: MINE-001
    text: one sentence that says what holds
    presupposes: [GRM-SEC-001]
    table: |
      | scheduler         | becomes   |
      | default-scheduler | mine      |
      | other             | unchanged |
    given: {object: {like: pod, metadata: {annotations: {a: \"true\"}}, spec: {schedulerName: <scheduler>}}}
    when: {admission: CREATE}
    then: {object: {spec: {schedulerName: <becomes>}}}
";

/// What is wrong, and what is replaced by what in [`CONTRACT`].
const SLIPS: [(&str, &str, &str); 10] = [
    ("a bracket is missing", "onlyTouches: [spec.schedulerName]", "onlyTouches: [spec.schedulerName"),
    ("a tab indents", "    when:", "\twhen:"),
    ("a boolean annotation", "{a: \"true\"}", "{a: true}"),
    ("a clause that is none", "GRM-SEC-001", "GRM-SEC-01"),
    ("an outcome", "unchanged |", "unchangd  |"),
    ("a key of the clause", "    table:", "    tabel:"),
    ("given", "    given:", "    givn:"),
    ("a fixture", "like: pod", "like: pd"),
    ("a field of the object", "{spec: {schedulerName: <becomes>}}", "{spec: {schedulerNam: <becomes>}}"),
    ("a form", "form: mutation", "form: mutatoin"),
];

fn lint(folder: &Path, name: &str) -> CallResult {
    let output = program(folder).env("COLUMNS", "80").args(["lint", name]).output().unwrap();
    result_of(&output)
}

#[test]
fn ten_slips_in_contracts_are_one_error_each() {
    let folder = tempfile::tempdir().unwrap();
    let mut all = String::new();
    for (what, from, to) in SLIPS {
        assert!(CONTRACT.contains(from), "{from}");
        fs::write(folder.path().join("mine.yaml"), CONTRACT.replace(from, to)).unwrap();
        let result = lint(folder.path(), "mine.yaml");
        assert_eq!(result.code, 2, "{what}: {}{}", result.out, result.err);
        assert!(result.out.contains("exit 2: 1 error"), "{what}: {}", result.out);
        // Lines of the file itself are shown as they are.
        let is_own = |line: &&str| !line.contains(" │ ") && !line.trim_start().starts_with('·');
        let too_wide = result.out.lines().filter(is_own).find(|line| line.chars().count() > 80);
        assert_eq!(too_wide, None, "{what}");
        // Without the warning about the component, and without numbers that change with every contract.
        let error = result.out.split("component\n\n").next().unwrap_or_default();
        let error = error.split("checked  ").next().unwrap_or_default();
        all.extend(["# ", what, ": ", to, "\n\n", error, "\n"]);
    }
    insta::assert_snapshot!(all);
}

#[test]
fn a_foreign_component_is_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let text = CONTRACT.replace("component: mine", "component: resource-manger");
    fs::write(folder.path().join("mine.yaml"), text).unwrap();
    lint(folder.path(), "mine.yaml").assert_exit(
        0,
        &["resource-manger is no component of this project", "did you mean `resource-manager`?", "1 warning"],
    );
}

#[test]
fn a_misspelt_admission_plugin_is_an_error_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let text = CONTRACT
        .replace("component: mine", "component: garden")
        .replace("  clauses:", "  config: {admission: {plugins: [ShootDNSRewritng]}}\n  clauses:");
    fs::write(folder.path().join("mine.yaml"), text).unwrap();
    let said =
        ["mine.yaml:11:34", "no admission plugin \"ShootDNSRewritng\"", "did you mean `ShootDNSRewriting`?"];
    let result = lint(folder.path(), "mine.yaml");
    result.assert_exit(2, &[&said[..], &["exit 2: 1 error"]].concat());
    let run = ["--contracts", ".", "run", "--substrate", "garden", "--clause", "MINE-001"];
    call(folder.path(), &run).assert_exit(2, &said);
}

#[test]
fn files_beside_contracts_are_checked_for_names_that_nothing_has() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let head = |kind: &str| format!("apiVersion: conformance.gardener.cloud/v1alpha1\nkind: {kind}\n");
    let target = |spec: &str| {
        format!("{}metadata: {{name: x}}\nspec: {{url: \"https://a\", {spec}}}\n", head("Target"))
    };
    let waiver = "{clause: CP-17, owner: o, reason: r, expires: 2027-03-31}";
    let suite =
        |entry: &str| format!("{}metadata: {{name: x}}\nspec: {{include: [{entry}]}}\n", head("Suite"));
    let table = [
        (target("features: [scsi]"), "4:37", "no clause needs the feature \"scsi\"", "did you mean `csi`?"),
        (target("serves: [controlplan]"), "4:35", "\"controlplan\"", "did you mean `controlplane`?"),
        (
            target("suite: controlplan"),
            "4:33",
            "there is no suite \"controlplan\"",
            "did you mean `controlplane`?",
        ),
        (target("providr: aws"), "4:", "unknown field \"providr\"", "did you mean `provider`?"),
        (
            target("registration: registraton.yaml"),
            "4:40",
            "no file registraton.yaml",
            "did you mean `registration.yaml`?",
        ),
        (
            format!("{}waivers:\n- {waiver}\n", head("Waivers")),
            "4:12",
            "no contract has a clause \"CP-17\"",
            "did you mean `CP-017`?",
        ),
        (suite("{component: acme}"), "4:30", "there is no component \"acme\"", "controlplane"),
        (suite("{clause: CP-17}"), "4:27", "there is no clause \"CP-17\"", "did you mean `CP-017`?"),
    ];
    fs::write(here.join("registration.yaml"), "").unwrap();
    for (text, at, message, remedy) in table {
        fs::write(here.join("file.yaml"), &text).unwrap();
        let result = call(here, &["lint", "file.yaml"]);
        result.assert_exit(2, &[&format!("file.yaml:{at}"), message, remedy, "exit 2: 1 error"]);
    }
    fs::write(here.join("file.yaml"), target("features: [csi], serves: [controlplane]")).unwrap();
    let result = call(here, &["lint", "file.yaml"]);
    result.assert_exit(0, &["checked  file.yaml (target)", "exit 0: no errors in file.yaml (target)"]);
    assert!(!result.out.contains("contracts,"), "only the named file is checked: {}", result.out);
    fs::write(here.join("file.yaml"), target("features: [scsi]")).unwrap();
    call(here, &["verify", "--target", "file.yaml", "--insecure"]).assert_exit(2, &["did you mean `csi`?"]);
}

#[test]
fn findings_are_printed_for_programs() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mine.yaml"), CONTRACT.replace("    table:", "    tabel:")).unwrap();
    let result = call(folder.path(), &["lint", "mine.yaml", "-o", "json"]);
    assert_eq!(result.code, 2);
    let json: serde_json::Value = serde_json::from_str(&result.out).unwrap();
    let finding = &json["findings"][0];
    assert_eq!((&finding["line"], &finding["severity"]), (&15.into(), &"error".into()), "{json}");
    assert_eq!(finding["remedy"], "did you mean `table`?");
    assert!(result.err.contains("exit 2: 1 error"), "{}", result.err);
}
