//! Every sentence of the documents is numbered in a ledger or listed as not normative.

use contract::document::SourceFile;
use contract::lint::{Against, check};
use contract::sentence;

const HEAD: &str = "apiVersion: conformance.gardener.cloud/v1alpha1\n";

/// The errors of lint for a document, a ledger with these entries and a list with these lines.
fn errors(document: &str, entries: &[String], listed: &[String]) -> Vec<String> {
    let found = linted(document, entries, listed);
    found.iter().map(|error| format!("{} {error}", error.code)).collect()
}

fn linted(document: &str, entries: &[String], listed: &[String]) -> Vec<contract::document::Error> {
    let ledger = format!("{HEAD}kind: Ledger\ncomponent: node\nentries:\n{}", entries.concat());
    let list = format!(
        "{HEAD}kind: NotNormative\ndocuments:\n- document: docs/a.md\n  version: v1\n  sentences:\n{}",
        listed.concat()
    );
    let mut files = Vec::new();
    if !entries.is_empty() {
        files.push(SourceFile::new("contracts/node/ledger.yaml", ledger));
    }
    if !listed.is_empty() {
        files.push(SourceFile::new("contracts/not-normative.yaml", list));
    }
    let documents = [SourceFile::new("a.txt", document)];
    check(&files, &Against { documents: &documents, ..Against::default() }).found
}

/// An entry that quotes these words.
fn entry(id: &str, words: &str) -> String {
    let hash = sentence::hash(words);
    let source = format!("{{document: docs/a.md, version: v1, section: Title, sentence: \"{hash}\"}}");
    format!("- {{id: {id}, source: {source}, text: t, notYet: later}}\n")
}

/// A line of the list.
fn line(words: &str, reason: &str) -> String {
    format!("    \"{}\": {reason}\n", sentence::hash(words))
}

const DOCUMENT: &str = "Title\n\nOne is set. It is two.\n\n  • Three: of it; more.\n";

#[test]
fn numbered_and_listed_sentences_cover_the_document() {
    let entries =
        [entry("L-1", "One is set."), entry("L-2", "It is two"), entry("L-3", "Three: of it; more")];
    assert_eq!(errors(DOCUMENT, &entries, &[line("Title", "heading")]), Vec::<String>::new());
    // Without a ledger nothing is checked.
    assert_eq!(errors(DOCUMENT, &[], &[]), Vec::<String>::new());
}

#[test]
fn a_part_of_a_sentence_numbers_it_and_several_at_once_number_each() {
    let entries = [entry("L-1", "One is set. It is two"), entry("L-2", "of it")];
    assert_eq!(errors(DOCUMENT, &entries, &[line("Title", "heading")]), Vec::<String>::new());
}

#[test]
fn a_sentence_that_is_part_of_another_numbers_itself_alone() {
    let document = "Title\n\nThe title: it is set.\n\nTitle: it is short.\n";
    let entries = [entry("L-1", "The title: it is set."), entry("L-2", "Title")];
    let errors = errors(document, &entries, &[]);
    let [error] = errors.as_slice() else { panic!("one error: {errors:?}") };
    assert!(error.starts_with("unnumbered a.txt:5:1: “Title: it is short. …”"), "{error}");
}

#[test]
fn a_sentence_in_neither_is_reported_with_an_entry_to_fill_in() {
    let entries = [entry("L-1", "One is set."), entry("L-3", "Three: of it; more")];
    let found = linted(DOCUMENT, &entries, &[line("Title", "heading")]);
    let hash = sentence::hash("It is two.");
    let [error] = found.as_slice() else { panic!("one error: {found:?}") };
    assert_eq!((error.code, error.location.line, error.location.column), ("unnumbered", 3, 13));
    let message =
        format!("“It is two. …” ({hash}) is neither numbered in a ledger nor listed as not normative");
    assert_eq!(error.message, message);
    let remedy = error.remedy.as_deref().unwrap();
    let entry = format!(
        "- {{id: L-…, source: {{document: docs/a.md, version: v1, section: Title, sentence: \"{hash}\"}},\n   text: …, notYet: …}}"
    );
    assert!(remedy.contains(&entry) && remedy.contains(&format!("    \"{hash}\": explanation")), "{remedy}");
}

#[test]
fn a_sentence_in_both_is_reported_where_it_is_listed() {
    let entries =
        [entry("L-1", "One is set."), entry("L-2", "two"), entry("L-3", "Three"), entry("L-4", "Title")];
    let listed = [line("Title", "heading"), line("Three: of it; more.", "example")];
    let errors = errors(DOCUMENT, &entries, &listed);
    let both = |line: usize, words: &str, id: &str| {
        let hash = sentence::hash(words);
        format!(
            "not-normative contracts/not-normative.yaml:{line}:6: {hash} is listed as not normative, but {id} numbers it"
        )
    };
    // `two` alone is not a possible quotation of the document.
    let gone = format!(
        "sentence contracts/node/ledger.yaml:6:8: no document contains the sentence {} of L-2 any more",
        sentence::hash("two")
    );
    assert_eq!(errors[1..4], [gone, both(7, "Title", "L-4"), both(8, "Three: of it; more.", "L-3")]);
    assert!(errors[0].starts_with("unnumbered a.txt:3:13: “It is two. …”"), "{}", errors[0]);
    assert_eq!(errors.len(), 4);
}

#[test]
fn sentences_that_are_in_no_document_are_reported_in_ledger_and_list() {
    let entries = [entry("L-1", "One is unset"), entry("L-2", "One is set. It is two. Three: of it; more")];
    let listed = [line("Title", "heading"), line("Other title", "heading")];
    let wanted = [
        format!(
            "sentence contracts/node/ledger.yaml:5:8: no document contains the sentence {} of L-1 any more",
            sentence::hash("One is unset")
        ),
        format!(
            "not-normative contracts/not-normative.yaml:8:6: no document contains the sentence {} any more",
            sentence::hash("Other title")
        ),
    ];
    assert_eq!(errors(DOCUMENT, &entries, &listed), wanted);
}

#[test]
fn many_sentences_in_neither_are_counted() {
    let document: String =
        (0..30).map(|number| format!("Sentence number {number}.\n\n")).collect::<Vec<_>>().concat();
    let found = linted(&document, &[entry("L-1", "Sentence number 3")], &[]);
    assert_eq!(found.len(), 21);
    let last = found.last().unwrap();
    assert_eq!(last.location.line, 43);
    assert_eq!(
        last.message,
        "9 more sentences, from here on, are neither numbered in a ledger nor listed as not normative"
    );
}

#[test]
fn an_unknown_reason_is_refused() {
    let errors =
        errors("Title\n\nOne is set.\n", &[entry("L-1", "One is set.")], &[line("Title", "whatever")]);
    let [error] = errors.as_slice() else { panic!("one error: {errors:?}") };
    // The sentence of the unreadable line is not reported as missing too.
    assert!(error.starts_with("ledger contracts/not-normative.yaml:7:17: "), "{error}");
    assert!(error.contains("whatever"), "{error}");
}
