//! The provider of a target file and the objects that take the place of its profile's.

use std::fs;
use std::path::Path;

use crate::program::{CallResult, call};

/// Verifies a webhook that is started by a command that ends at once, described by these lines under `spec`.
fn verify(folder: &Path, lines: &str) -> CallResult {
    let head = "apiVersion: conformance.gardener.cloud/v1alpha1\nkind: Target\nmetadata: {name: x}\nspec:\n  \
                command: [/bin/false, \"<port>\"]\n  url: https://127.0.0.1:<port>\n";
    fs::write(folder.join("target.yaml"), format!("{head}{lines}")).unwrap();
    call(folder, &["verify", "--target", "target.yaml", "--clause", "CP-130"])
}

#[test]
fn a_provider_without_a_profile_needs_its_objects() {
    let folder = tempfile::tempdir().unwrap();
    let known = "known are alicloud, aws, azure, equinix-metal, gcp";
    verify(folder.path(), "  provider: acme\n")
        .assert_exit(2, &["provider acme has no profile", known, "clusterObjects", "target.yaml:7"]);
    // The program ends at once, which is an error of the environment.
    for lines in [
        "  provider: acme\n  clusterObjects: []\n",
        "  provider: equinixmetal\n",
        "  provider: equinix-metal\n",
    ] {
        verify(folder.path(), lines).assert_exit(3, &[]);
    }
}

#[test]
fn errors_in_objects_name_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::write(here.join("good.yaml"), "apiVersion: v1\nkind: Secret\nmetadata: {name: cloudprovider}\n")
        .unwrap();
    fs::write(
        here.join("bad.yaml"),
        "apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: garden}\n",
    )
    .unwrap();
    fs::write(here.join("broken.yaml"), "a: b\n c: [\n").unwrap();
    let table = [
        ("[good.yaml]", 3, vec![]),
        ("[none.yaml]", 2, vec!["failed to read", "none.yaml", "target.yaml:7", "relative to this file"]),
        ("[bad.yaml]", 2, vec!["Secret a is in the namespace garden, not in shoot--dev--app", "bad.yaml:1"]),
        ("[broken.yaml]", 2, vec!["broken.yaml:2"]),
        ("[good.yaml, good.yaml]", 2, vec!["good.yaml has Secret cloudprovider, as an earlier file does"]),
    ];
    for (files, code, words) in table {
        verify(here, &format!("  clusterObjects: {files}\n")).assert_exit(code, &words);
    }
}
