//! Writing contracts: scaffold, lint, format, schema, a weakened case.

use std::fs;
use std::path::Path;

use crate::program::call;

#[test]
fn a_scaffolded_contract_is_linted_and_formatted_as_it_stands() {
    let folder = tempfile::tempdir().unwrap();
    call(folder.path(), &["new", "contract", "my-webhook", "--file", "mine/my-webhook.yaml"])
        .says(0, &["wrote mine/my-webhook.yaml"]);
    call(folder.path(), &["lint", "mine/my-webhook.yaml"]).says(0, &["nothing to mend"]);
    call(folder.path(), &["fmt", "--check", "mine"]).says(0, &[]);
    call(folder.path(), &["new", "contract", "my-webhook", "--file", "mine/my-webhook.yaml"])
        .says(2, &["exists already"]);
    call(folder.path(), &["new", "contract", "My_Webhook"]).says(2, &["is no name of a behaviour"]);
}

#[test]
fn a_malformed_contract_is_shown_at_its_field() {
    let folder = tempfile::tempdir().unwrap();
    let contract =
        call(folder.path(), &["new", "contract", "my-webhook"]).out.replace("    text: one", "    txet: one");
    fs::write(folder.path().join("bad.yaml"), contract).unwrap();
    let told = call(folder.path(), &["lint", "bad.yaml"]);
    told.says(2, &["bad.yaml:13:", "txet", "text"]);
}

#[test]
fn crooked_tables_are_straightened_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("crooked.yaml");
    fs::write(&file, "table: |\n  | a | long |\n  | value | b |\n").unwrap();
    call(folder.path(), &["fmt", "--check", "crooked.yaml"]).says(1, &["crooked.yaml"]);
    call(folder.path(), &["fmt", "crooked.yaml"]).says(0, &["crooked.yaml"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "table: |\n  | a     | long |\n  | value | b    |\n");
    call(folder.path(), &["fmt", "--check", "crooked.yaml"]).says(0, &[]);
}

#[test]
fn a_clause_weakened_on_purpose_is_unproven_and_ends_with_six() {
    let folder = tempfile::tempdir().unwrap();
    weaken(folder.path(), "| ~              | RuntimeDefault |", "| ~              | present        |");
    let arguments = ["--contracts", "weak", "run", "--substrate", "direct", "--clause", "GRM-SEC-001"];
    call(folder.path(), &arguments).says(6, &["GRM-SEC-001 is not proven able to fail"]);
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
        let told = call(folder.path(), &["schema", kind]);
        let schema: serde_json::Value = serde_json::from_str(&told.out).unwrap_or_default();
        assert!(schema["properties"].is_object(), "{kind}: {}", told.out);
    }
    call(folder.path(), &["schema", "nonsense"]).says(2, &["no schema of \"nonsense\""]);
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
