//! `versions`: what CloudProfiles offer, and how maintenance moves Shoots.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::program::call;

const PROFILE: &str = "apiVersion: core.gardener.cloud/v1beta1
kind: CloudProfile
metadata: {name: aws}
spec:
  kubernetes:
    versions:
    - {version: 1.27.4, classification: supported}
    - {version: 1.26.9, classification: supported, expirationDate: '2024-08-01T00:00:00Z'}
    - {version: 1.26.8, classification: deprecated, expirationDate: '2024-04-01T00:00:00Z'}
    - {version: 1.24.10, classification: deprecated, expirationDate: '2024-02-20T00:00:00Z'}
";

fn shoot(name: &str, profile: &str, version: &str) -> String {
    format!(
        "---\napiVersion: core.gardener.cloud/v1beta1\nkind: Shoot\nmetadata: {{name: {name}, namespace: garden-dev}}\nspec:\n  \
         cloudProfileName: {profile}\n  kubernetes: {{version: {version}}}\n  maintenance:\n    \
         autoUpdate: {{kubernetesVersion: false}}\n    timeWindow: {{begin: 220000+0100, end: 230000+0100}}\n"
    )
}

fn garden(folder: &Path, shoots: &[String]) {
    fs::write(folder.join("profile.yaml"), PROFILE).unwrap();
    fs::create_dir_all(folder.join("shoots/below")).unwrap();
    for (index, shoot) in shoots.iter().enumerate() {
        fs::write(folder.join(format!("shoots/below/{index}.yaml")), shoot).unwrap();
    }
}

#[test]
fn explain_prints_the_next_version_and_the_clause_of_each_version() {
    let folder = tempfile::tempdir().unwrap();
    let deleted = shoot("gone", "aws", "1.24.10")
        .replace("namespace:", "deletionTimestamp: '2024-03-01T00:00:00Z', namespace:");
    garden(folder.path(), &[shoot("one", "aws", "1.26.8"), deleted]);
    let explain = ["versions", "explain", "--cloud-profile", "profile.yaml", "--shoot", "shoots"];
    call(folder.path(), &[&explain[..], &["--at", "2024-04-01"]].concat()).assert_exit(
        0,
        &[
            "cloud profile aws at 2024-04-01T00:00:00Z",
            "1.26.8   expired    2024-04-01 (in 0 days)    → 1.26.9     → 1.26.9",
            "1.26.9   supported  2024-08-01 (in 122 days)  stays        stays",
            "1.24.10  expired    2024-02-20 (41 days ago)  no path      no path",
            "  1.26.8 → 1.26.9: forced: expired (GDN-KUB-003)",
            "shoot garden-dev/one\n  control plane  1.26.8 → 1.26.9  forced: expired (GDN-KUB-003)",
        ],
    );
    let all = call(folder.path(), &explain);
    assert!(!all.out.contains("gone"), "{}", all.out);
    let result = call(folder.path(), &[&explain[..], &["--at", "2024-03-01", "-o", "json"]].concat());
    let result: Value = serde_json::from_str(&result.out).unwrap();
    let fate = &result["cloudProfiles"][0]["kubernetes"][2];
    assert_eq!(
        fate["withAutoUpdate"],
        json!({"to": "1.26.9", "rule": "auto-update", "clause": "GDN-KUB-001"})
    );
    assert_eq!(fate["otherwise"], Value::Null);
    let stuck = &result["cloudProfiles"][0]["kubernetes"][3]["otherwise"];
    assert_eq!(stuck["clause"], "GDN-KUB-007", "{stuck}");
    assert_eq!(result["shoots"][0]["steps"], json!([]));
}

#[test]
fn a_simulation_is_printed_as_text_and_json_and_written_as_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let shoots =
        [shoot("one", "aws", "1.26.8"), shoot("two", "aws", "1.24.10"), shoot("three", "gcp", "1.26.8")];
    garden(folder.path(), &shoots);
    let simulate = [
        "versions",
        "simulate",
        "--cloud-profile",
        "profile.yaml",
        "--shoot",
        "shoots",
        "--at",
        "2024-01-01",
        "--until",
        "2025-01-01",
        "--html",
        "timeline.html",
    ];
    call(folder.path(), &simulate).assert_exit(
        1,
        &[
            "2024-04   1 forced, 0 by auto-update\n  control plane 1.26.8 → 1.26.9, forced: expired (GDN-KUB-003): 1 shoot\n    04-01 21:00 garden-dev/one",
            "2024-08   1 forced, 0 by auto-update\n  control plane 1.26.9 → 1.27.4, ",
            "without a path\n  kubernetes 1.24.10 ends 2024-02-20: 1 shoot\n    since 2024-02-20 garden-dev/two",
            "skipped: 1 shoot: garden-dev/three\n    its CloudProfile \"gcp\" is missing; there are: aws",
            "exit 1: 1 shoot ends without a version to move to, 1 shoot was skipped",
            "3 shoots: 1 moved by force, 1 without a path, 1 skipped",
        ],
    );
    let page = fs::read_to_string(folder.path().join("timeline.html")).unwrap();
    for word in ["2024-01", "2024-12", "control plane: 1.26.9 → 1.27.4", "✗ 1 without a path"] {
        assert!(page.contains(word), "{word}");
    }
    assert!(!page.contains("2025-01</th>") && !page.contains("http"), "{page}");
    let result = call(folder.path(), &[&simulate[..], &["-o", "json"]].concat());
    let result: Value = serde_json::from_str(&result.out).unwrap();
    let step = &result["shoots"][0]["steps"][1];
    assert_eq!(
        (&step["to"], &step["clause"], &step["forced"]),
        (&"1.27.4".into(), &"GDN-KUB-005".into(), &true.into())
    );
    garden(folder.path(), &[shoot("one", "aws", "1.27.4")]);
    fs::remove_dir_all(folder.path().join("shoots")).unwrap();
    fs::create_dir(folder.path().join("shoots")).unwrap();
    fs::write(folder.path().join("shoots/one.json"), r#"{"apiVersion": "core.gardener.cloud/v1beta1", "kind": "ShootList",
        "items": [{"apiVersion": "core.gardener.cloud/v1beta1", "kind": "Shoot", "spec": {"cloudProfileName": "aws",
        "kubernetes": {"version": "1.27.4"}}}]}"#).unwrap();
    call(folder.path(), &simulate)
        .assert_exit(0, &["1 shoot: 0 moved by force, 0 without a path, 0 skipped"]);
}

#[test]
fn lint_finds_problems_of_profiles() {
    let folder = tempfile::tempdir().unwrap();
    garden(folder.path(), &[shoot("one", "aws", "1.25.1")]);
    let lint = ["versions", "lint", "--cloud-profile", "profile.yaml", "--shoot", "shoots"];
    call(folder.path(), &lint).assert_exit(
        1,
        &[
            "aws: kubernetes 1.24.10 expires at 2024-02-20T00:00:00Z, and there is no version to which its shoots",
            "aws: kubernetes 1.25.1 is not in the profile, but 1 shoot has it",
            "exit 1: 2 findings in 1 CloudProfile",
        ],
    );
    let fine = PROFILE.lines().filter(|line| !line.contains("1.24")).collect::<Vec<_>>().join("\n");
    fs::write(folder.path().join("profile.yaml"), fine).unwrap();
    call(folder.path(), &lint[..4]).assert_exit(0, &["exit 0: no findings in 1 CloudProfile"]);
}

#[test]
fn invalid_files_and_times_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    garden(folder.path(), &[]);
    let explain = |more: &[&str]| {
        call(folder.path(), &[&["versions", "explain", "--cloud-profile", "profile.yaml"], more].concat())
    };
    explain(&["--at", "tomorrow"]).assert_exit(2, &["--at tomorrow is not a time; write a day (2024-05-01)"]);
    explain(&["--shoot", "shoots"])
        .assert_exit(2, &["shoots contains no Shoot of core.gardener.cloud/v1beta1"]);
    explain(&["--cloud-profile", "none.yaml"]).assert_exit(2, &["failed to read none.yaml"]);
    explain(&["--kubeconfig", "none"]).assert_exit(2, &["failed to read kubeconfig none"]);
    let broken = PROFILE.replace("versions:", "versions: 1 # ");
    fs::write(folder.path().join("broken.yaml"), broken).unwrap();
    explain(&["--cloud-profile", "broken.yaml"]).assert_exit(2, &["broken.yaml:7:"]);
    fs::write(folder.path().join("copy.yaml"), PROFILE).unwrap();
    explain(&["--cloud-profile", "copy.yaml"])
        .assert_exit(2, &["CloudProfile \"aws\" is in ", "copy.yaml; name only one of the files"]);
    explain(&["--cloud-profile", "profile.yaml"]).assert_exit(0, &["cloud profile aws"]);
    let until = [
        "versions",
        "simulate",
        "--cloud-profile",
        "profile.yaml",
        "--at",
        "2024-01-02",
        "--until",
        "2024-01-01",
    ];
    call(folder.path(), &until).assert_exit(2, &["is not after --at"]);
    let without_shoots = ["versions", "simulate", "--cloud-profile", "profile.yaml", "--until", "2099-01-01"];
    call(folder.path(), &without_shoots).assert_exit(2, &["there is no Shoot to simulate"]);
}

#[test]
fn every_rule_has_a_clause() {
    let folder = tempfile::tempdir().unwrap();
    let clauses = versions::rule::Rule::ALL.map(versions::rule::Rule::clause);
    for clause in clauses.iter().chain(&["GDN-KUB-007", "GDN-KUB-013", "GDN-KUB-014", "GDN-IMG-024"]) {
        call(folder.path(), &["explain", clause]).assert_exit(0, &[clause]);
    }
}
