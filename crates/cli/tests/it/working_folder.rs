//! The folder of contracts that the user works in: commands find it above the current folder, or above a named file.

use std::fs;
use std::path::Path;

use crate::program::call;

/// Writes a contract with its ledger below `contracts/mine`; the ledger names no clause.
fn contracts(folder: &Path) {
    let file = "contracts/mine/webhooks/my-webhook.yaml";
    call(folder, &["new", "contract", "my-webhook", "--file", file]).assert_exit(0, &["MYW-001 of mine"]);
    let ledger = "apiVersion: conformance.gardener.cloud/v1alpha1\nkind: Ledger\ncomponent: mine\nentries:\n\
                  - {id: L-MIN-0041, text: something, notYet: later}\n";
    fs::write(folder.join("contracts/mine/ledger.yaml"), ledger).unwrap();
}

#[test]
fn a_named_file_is_checked_with_the_folder_that_it_is_in() {
    let folder = tempfile::tempdir().unwrap();
    contracts(folder.path());
    let words = [
        "contracts of contracts (2 files differ",
        "no entry of the ledger names MYW-001",
        "- {id: L-MIN-0042, source: {document: docs/concepts/mine.md, version: v1.82, section: Name of the Section},",
        "clauses: [MYW-001]}",
        "exit 2: 1 error",
    ];
    for (from, path) in
        [("", "contracts/mine/webhooks/my-webhook.yaml"), ("contracts/mine", "webhooks/my-webhook.yaml")]
    {
        let result = call(&folder.path().join(from), &["lint", path]);
        assert_eq!(result.code, 2, "{}{}", result.out, result.err);
        let all = format!("{}{}", result.out, result.err).replace('\n', " ");
        let flat: String = all.split(['│', '╰', '╭']).collect::<Vec<_>>().join(" ");
        let flat = flat.split_whitespace().collect::<Vec<_>>().join(" ");
        for word in &words[1..] {
            let word = word.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(flat.contains(&word), "{path}: {word}\n{flat}");
        }
    }
}

#[test]
fn run_list_and_explain_know_its_clauses_and_say_where_they_are_from() {
    let folder = tempfile::tempdir().unwrap();
    contracts(folder.path());
    let says = "contracts of contracts (2 files differ from those of the program)";
    call(folder.path(), &["list", "--clause", "MYW-001"]).assert_exit(0, &["MYW-001", says]);
    call(folder.path(), &["explain", "MYW-001"]).assert_exit(0, &["one sentence that says what holds", says]);
    let elsewhere = tempfile::tempdir().unwrap();
    call(elsewhere.path(), &["explain", "MYW-001"]).assert_exit(2, &["there is no clause MYW-001"]);
    let text = call(folder.path(), &["explain", "MYW-001", "-o", "json"]).out;
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&json["id"], &json["component"]), (&"MYW-001".into(), &"mine".into()));
}

#[test]
fn a_foreign_folder_of_that_name_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("contracts")).unwrap();
    fs::write(folder.path().join("contracts/token.yaml"), "kind: ERC20\n").unwrap();
    let result = call(folder.path(), &["list", "--clause", "GRM-SEC-001"]);
    result.assert_exit(0, &["GRM-SEC-001"]);
    assert_eq!(result.err, "exit 0: done\n");
}
