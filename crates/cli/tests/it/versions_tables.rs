//! `versions`: what operators read fits 80 columns, whatever the shoots, and groups what has one cause.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::program::{CallResult, program, result_of};

const PROFILE: &str = r#"apiVersion: core.gardener.cloud/v1beta1
kind: CloudProfile
metadata: {name: acme}
spec:
  kubernetes:
    versions:
    - {version: 1.28.2, classification: supported}
    - {version: 1.27.6, classification: supported}
    - {version: 1.27.5, classification: deprecated, expirationDate: "2027-01-31T00:00:00Z"}
    - {version: 1.26.9, classification: deprecated, expirationDate: "2027-02-28T00:00:00Z"}
    - {version: 1.24.17, classification: deprecated, expirationDate: "2027-01-15T00:00:00Z"}
  machineImages:
  - name: gardenlinux
    versions:
    - {version: 1312.3.0, classification: supported, cri: [{name: containerd}], architectures: [amd64, arm64]}
    - {version: 1312.2.0, classification: deprecated, expirationDate: "2027-02-15T00:00:00Z", cri: [{name: containerd}]}
  - name: suse-chost
    versions:
    - {version: 15.4.20240801, classification: deprecated, expirationDate: "2027-03-31T00:00:00Z", cri: [{name: containerd}]}
"#;

/// Thirty shoots: on old and new versions, with and without auto-update, on two images; one of another profile.
fn shoots() -> String {
    let mut text = String::new();
    for number in 0..30 {
        let version = ["1.28.2", "1.27.5", "1.26.9", "1.24.17", "1.27.6"][number % 5];
        let (image, image_version) =
            [("gardenlinux", "1312.3.0"), ("suse-chost", "15.4.20240801"), ("gardenlinux", "1312.2.0")]
                [number % 3];
        let profile = if number == 29 { "other" } else { "acme" };
        let automatic = number % 2 == 0;
        let begin = ["220000+0000", "030000+0000"][number % 2];
        writeln!(
            text,
            "apiVersion: core.gardener.cloud/v1beta1\nkind: Shoot\nmetadata: {{name: application-cluster-{number:02}, namespace: \
             garden-development}}\nspec:\n  cloudProfileName: {profile}\n  kubernetes: {{version: {version}}}\n  maintenance:\n    \
             timeWindow: {{begin: {begin}, end: {end}}}\n    autoUpdate: {{kubernetesVersion: {automatic}, machineImageVersion: \
             {automatic}}}\n  provider:\n    type: acme\n    workers:\n    - name: worker-pool-of-{number:02}\n      cri: {{name: containerd}}\n      machine: \
             {{type: m5.large, image: {{name: {image}, version: {image_version}}}}}\n---",
            end = begin.replace("0000+", "3000+"),
        )
        .unwrap();
    }
    text
}

fn garden(folder: &Path) {
    fs::write(folder.join("profile.yaml"), PROFILE).unwrap();
    fs::write(folder.join("shoots.yaml"), shoots()).unwrap();
}

fn versions(folder: &Path, columns: &str, arguments: &[&str]) -> CallResult {
    let garden = ["--cloud-profile", "profile.yaml", "--shoot", "shoots.yaml"];
    let mut command = program(folder);
    command.env("COLUMNS", columns).arg("versions").args(arguments).args(garden);
    result_of(&command.output().unwrap())
}

fn assert_fits(result: &CallResult, columns: usize) {
    let too_wide = result.out.lines().find(|line| line.chars().count() > columns);
    assert_eq!(too_wide, None, "wider than {columns}");
}

#[test]
fn thirty_shoots_are_simulated_in_80_columns() {
    let folder = tempfile::tempdir().unwrap();
    garden(folder.path());
    let arguments = ["simulate", "--at", "2027-01-01", "--until", "2027-06-30", "--html", "timeline.html"];
    let result = versions(folder.path(), "80", &arguments);
    assert_eq!(result.code, 1, "{}{}", result.out, result.err);
    assert_fits(&result, 80);
    insta::assert_snapshot!(result.out);
    let wide = versions(folder.path(), "200", &arguments);
    assert_fits(&wide, 160);
    let page = fs::read_to_string(folder.path().join("timeline.html")).unwrap();
    for text in [
        "Without a path, by cause",
        "suse-chost 15.4.20240801 ends 2027-03-31",
        "data-states=\"stuck",
        "id=\"filter\"",
    ] {
        assert!(page.contains(text), "{text}");
    }
}

#[test]
fn thirty_shoots_are_explained_in_80_columns() {
    let folder = tempfile::tempdir().unwrap();
    garden(folder.path());
    let result = versions(folder.path(), "80", &["explain", "--at", "2027-02-20"]);
    assert_eq!(result.code, 0, "{}{}", result.out, result.err);
    assert_fits(&result, 80);
    insta::assert_snapshot!(result.out);
}

#[test]
fn lint_says_how_many_shoots_are_concerned() {
    let folder = tempfile::tempdir().unwrap();
    garden(folder.path());
    let result = versions(folder.path(), "80", &["lint"]);
    assert_fits(&result, 80);
    let flat = result.out.replace("\n  ", " ");
    assert!(flat.contains("machine image suse-chost 15.4.20240801 is the highest version"), "{flat}");
    assert!(flat.contains("; 10 shoots have it") && flat.contains("exit 1: "), "{flat}");
}

#[test]
fn a_misspelt_field_of_a_profile_is_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    garden(folder.path());
    let text = PROFILE.replace("deprecated, expirationDate", "deprecated, expiratonDate");
    fs::write(folder.path().join("profile.yaml"), text).unwrap();
    let result = versions(folder.path(), "200", &["explain", "--at", "2027-02-20"]);
    let warning = "warning: profile.yaml:9:53: a CloudProfile has no field spec.kubernetes.versions[2].expiratonDate (3 times), \
                   which is ignored; did you mean `expirationDate`?";
    let flat = result.err.replace("\n  ", " ");
    assert!(flat.contains(warning), "{flat}");
}
