//! Writing contracts: scaffold, lint, format, schema, a weakened case.

use std::fs;
use std::path::Path;

use crate::program::call;

#[test]
fn a_scaffolded_contract_passes_lint_and_fmt() {
    let folder = tempfile::tempdir().unwrap();
    call(folder.path(), &["new", "contract", "my-webhook", "--file", "mine/my-webhook.yaml"])
        .assert_exit(0, &["wrote mine/my-webhook.yaml"]);
    call(folder.path(), &["lint", "mine/my-webhook.yaml"]).assert_exit(0, &["no errors"]);
    call(folder.path(), &["fmt", "--check", "mine"]).assert_exit(0, &[]);
    call(folder.path(), &["new", "contract", "my-webhook", "--file", "mine/my-webhook.yaml"])
        .assert_exit(2, &["exists already"]);
    call(folder.path(), &["new", "contract", "mine/by-path.yaml"])
        .assert_exit(0, &["wrote mine/by-path.yaml", "exit 0: done"]);
    call(folder.path(), &["lint", "mine/by-path.yaml"]).assert_exit(0, &["no errors"]);
    call(folder.path(), &["new", "contract", "My_Webhook"])
        .assert_exit(2, &["is not a valid name of a contract"]);
}

#[test]
fn a_malformed_contract_is_shown_at_its_field() {
    let folder = tempfile::tempdir().unwrap();
    let contract =
        call(folder.path(), &["new", "contract", "my-webhook"]).out.replace("    text: one", "    txet: one");
    fs::write(folder.path().join("bad.yaml"), contract).unwrap();
    let result = call(folder.path(), &["lint", "bad.yaml"]);
    result.assert_exit(2, &["bad.yaml:14:", "txet", "text"]);
}

#[test]
fn unaligned_tables_are_aligned_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("crooked.yaml");
    fs::write(&file, "table: |\n  | a | long |\n  | value | b |\n").unwrap();
    call(folder.path(), &["fmt", "--check", "crooked.yaml"]).assert_exit(1, &["crooked.yaml"]);
    call(folder.path(), &["fmt", "crooked.yaml"]).assert_exit(0, &["crooked.yaml"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "table: |\n  | a     | long |\n  | value | b    |\n");
    call(folder.path(), &["fmt", "--check", "crooked.yaml"]).assert_exit(0, &[]);
}

#[test]
fn a_clause_weakened_on_purpose_is_unproven_and_ends_with_six() {
    let folder = tempfile::tempdir().unwrap();
    weaken(folder.path(), "| ~              | RuntimeDefault |", "| ~              | present        |");
    let arguments = ["--contracts", "weak", "run", "--substrate", "direct", "--clause", "GRM-SEC-001"];
    call(folder.path(), &arguments).assert_exit(6, &["GRM-SEC-001 is not proven able to fail"]);
}

#[test]
fn unclassified_sentences_are_reported_with_an_entry_to_fill_in() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("documents")).unwrap();
    fs::write(folder.path().join("documents/new.md"), "# News\n\nA robot waters the garden.\n").unwrap();
    let hash = call(folder.path(), &["lint", "--hash", "a robot waters the garden"]).out;
    let sentence = format!("sentence: \"{}\"", hash.trim());
    let expected =
        ["new.md:3:1", "A robot waters the garden.", &sentence, "contracts/not-normative.yaml", " errors"];
    call(folder.path(), &["lint", "--sources", "documents"]).assert_exit(2, &expected);
}

#[test]
fn a_component_with_only_a_ledger_is_a_row_of_the_coverage() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = "apiVersion: conformance.gardener.cloud/v1alpha1\nkind: Ledger\ncomponent: dashboard\nentries:\n\
                  - {id: L-DSH-0001, text: it shows shoots, notYet: there is none}\n";
    fs::create_dir_all(folder.path().join("mine/dashboard")).unwrap();
    fs::write(folder.path().join("mine/dashboard/ledger.yaml"), ledger).unwrap();
    let result = call(folder.path(), &["--contracts", "mine", "coverage"]);
    let row = result.out.lines().find(|line| line.starts_with("dashboard")).unwrap_or_default();
    assert_eq!(
        row.split_whitespace().collect::<Vec<_>>(),
        ["dashboard", "1", "1", "1", "0", "0", "0", "0", "-"]
    );
    assert!(result.out.lines().any(|line| line.starts_with("total")), "{}", result.out);
    call(folder.path(), &["--contracts", "mine", "lint"]).assert_exit(0, &["no errors"]);
    call(folder.path(), &["--contracts", "mine", "list"]).assert_exit(0, &["seccomp-profile"]);
    let nothing = ["--contracts", "mine", "run", "--substrate", "direct", "--label", "component=dashboard"];
    call(folder.path(), &nothing).assert_exit(2, &["there is no contract labelled \"component=dashboard\""]);
}

#[test]
fn schemas_are_json() {
    let folder = tempfile::tempdir().unwrap();
    let kinds = [
        "contract",
        "variations",
        "releases",
        "target",
        "waivers",
        "gate",
        "ledger",
        "not-normative",
        "attestation",
        "report",
    ];
    for kind in kinds {
        let result = call(folder.path(), &["schema", kind]);
        let schema: serde_json::Value = serde_json::from_str(&result.out).unwrap_or_default();
        assert!(schema["properties"].is_object(), "{kind}: {}", result.out);
    }
    call(folder.path(), &["schema", "nonsense"]).assert_exit(2, &["there is no schema of \"nonsense\""]);
}

/// A copy of the seccomp contract with one line replaced, in a folder `weak`.
fn weaken(folder: &Path, line: &str, by: &str) {
    let path = "resource-manager/webhooks/seccomp-profile.yaml";
    let contract = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contracts").join(path);
    let text = fs::read_to_string(contract).unwrap();
    assert!(text.contains(line), "the contract changed: {line}");
    let weak = folder.join("weak").join(path);
    fs::create_dir_all(weak.parent().unwrap()).unwrap();
    fs::write(weak, text.replace(line, by)).unwrap();
}
