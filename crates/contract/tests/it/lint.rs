//! Findings of lint.

use std::collections::BTreeSet;

use contract::document::SourceFile;
use contract::lint::{Against, check};
use contract::sentence;

use crate::{contract, sources};

const DONE: &str = "- {id: L-001, text: x, given: {object: {like: pod}}, when: {admission: CREATE}, then: {object: {spec: {schedulerName: mine}}}}\n";

fn findings(text: String, against: &Against<'_>) -> Vec<String> {
    let found = check(&sources(&[("contracts/sample/sample.yaml", text)]), against).found;
    found
        .iter()
        .map(|error| format!("{} {}:{}", error.code, error.location.line, error.location.column))
        .collect()
}

#[test]
fn a_clause_with_a_source_and_an_effect_is_clean() {
    assert_eq!(findings(contract("", DONE), &Against::default()), Vec::<String>::new());
}

#[test]
fn a_clause_that_an_idle_target_passes_needs_a_case_nearby() {
    let idle = "- {id: L-002, text: x, given: {object: {like: NAME}}, when: {admission: CREATE}, then: {object: $unchanged}}\n";
    let alone = contract("", &idle.replace("NAME", "pod"));
    assert_eq!(findings(alone, &Against::default()), ["only-unchanged 11:10"]);
    let beside = contract("", &format!("{DONE}{}", idle.replace("NAME", "pod")));
    assert_eq!(findings(beside, &Against::default()), Vec::<String>::new());
    let elsewhere = contract("", &format!("{DONE}{}", idle.replace("NAME", "deployment")));
    assert_eq!(findings(elsewhere, &Against::default()), ["only-unchanged 12:10"]);
}

#[test]
fn sources_presuppositions_and_covered_rows_are_checked() {
    let source = "  source: {document: docs/sample.md, version: v1.0, section: Sample}\n";
    assert_eq!(
        findings(contract("", DONE).replace(source, ""), &Against::default()),
        ["missing-source 10:10"]
    );
    let presupposing = DONE.replace("text: x", "text: x, presupposes: [L-009], covers: [U1-1, U1-2]");
    let reference = BTreeSet::from(["U1-1".to_owned()]);
    let against = Against { reference: Some(&reference), ..Against::default() };
    assert_eq!(findings(contract("", &presupposing), &against), ["presupposes 11:10", "covers 11:10"]);
}

#[test]
fn a_sentence_that_is_in_no_document_any_more_is_reported() {
    let hash = sentence::hash("The scheduler is set.");
    let text = contract("", &DONE.replace("text: x", &format!("text: x, source: {{sentence: \"{hash}\"}}")));
    let document = |text: &str| [SourceFile::new("sample.md", text)];
    let found =
        |words: &str| findings(text.clone(), &Against { documents: &document(words), ..Against::default() });
    assert_eq!(found("First. The `scheduler` is\nset. Last."), Vec::<String>::new());
    assert_eq!(found("First. The scheduler is unset."), ["sentence 11:10"]);
}

#[test]
fn attested_clauses_that_changed_are_stale() {
    let attestation = "apiVersion: conformance.gardener.cloud/v1alpha1\nkind: Attestation\n\
        target: {name: original, version: v1, substrate: direct, \"on\": \"2026-01-01\"}\n\
        clauses:\n  L-001: {hash: old, result: kept}\n";
    let files = [
        ("contracts/attested/original-v1.yaml", attestation.to_owned()),
        ("contracts/sample/sample.yaml", contract("", DONE)),
    ];
    let found = check(&sources(&files), &Against::default()).found;
    let found: Vec<String> = found.iter().map(|error| format!("{} {}", error.code, error)).collect();
    assert_eq!(
        found,
        ["stale contracts/attested/original-v1.yaml:5:3: L-001 changed since original-v1 was attested"]
    );
}

/// The kind behind case 65: findings that only follow from an unparsable file are left out, and the file comes first.
#[test]
fn case_65_names_that_may_be_in_an_unreadable_file_are_not_reported() {
    let clause =
        DONE.replace("text: x", "text: x, presupposes: [L-009]").replace("like: pod", "like: my-pod");
    let files = |broken: bool| {
        let mut files = vec![("contracts/sample/sample.yaml", contract("", &clause))];
        if broken {
            files.push(("contracts/z/broken.yaml", "kind: Contract\na: [\n".to_owned()));
        }
        sources(&files)
    };
    let codes = |files: &[SourceFile], against: &Against<'_>| -> Vec<&'static str> {
        check(files, against).found.iter().map(|error| error.code).collect()
    };
    assert_eq!(codes(&files(false), &Against::default()), ["presupposes", "fixture"]);
    assert_eq!(codes(&files(true), &Against::default()), ["yaml"]);
    let incomplete = Against { is_incomplete: true, ..Against::default() };
    assert_eq!(codes(&files(false), &incomplete), Vec::<&str>::new());
}

/// A clause with an error is still a clause: others may presuppose it.
#[test]
fn a_clause_with_an_error_is_presupposed_without_a_further_error() {
    let broken = DONE.replace("L-001", "L-002").replace("like: pod", "like: no-such-fixture");
    let clauses = format!("{}{broken}", DONE.replace("text: x", "text: x, presupposes: [L-002]"));
    assert_eq!(findings(contract("", &clauses), &Against::default()), ["fixture 12:49"]);
}

/// The kind behind case 68: what only follows from a file that is there twice is left out.
#[test]
fn case_68_a_copied_file_is_one_error() {
    let clauses = format!("{DONE}{}", DONE.replace("L-001", "L-002"));
    let text = contract("", &clauses);
    let files = sources(&[("contracts/sample/a.yaml", text.clone()), ("contracts/sample/b.yaml", text)]);
    let found = check(&files, &Against::default()).found;
    let found: Vec<String> =
        found.iter().filter(|error| error.code == "duplicate-id").map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "contracts/sample/b.yaml:11:10: duplicate id L-001: contracts/sample/a.yaml:11 uses it already, and 1 further id of this file"
        ]
    );
}

#[test]
fn a_clause_that_cannot_be_read_has_no_further_errors_about_its_columns() {
    let clause = "- id: L-001\n  text: x\n  table: |\n    | name | becomes |\n    | a    | b       |\n    | c    | d       |\n  \
        given: {object: {like: pod, spec: {schedulerName: <name>}}}\n  when: {admission: CREATE}\n";
    assert_eq!(findings(contract("", clause), &Against::default()), ["missing-key 11:9"]);
}
