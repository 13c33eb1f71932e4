//! Ledgers: every normative sentence and reference row of a component, with the clauses that cover it.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Error, SourceFile};
use crate::index::Summary;
use crate::model::Source;

/// The ledger of a component, `kind: Ledger`; `contracts/<component>/ledger.yaml`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Ledger {
    /// `conformance.gardener.cloud/v1alpha1`.
    pub api_version: String,
    /// `Ledger`.
    pub kind: String,
    /// The component that keeps, or will keep, these sentences: `resource-manager`.
    pub component: String,
    /// The sentences, in the order of their sources.
    pub entries: Vec<LedgerEntry>,
}

/// One sentence, and exactly one of: the clauses that cover it, why there are none yet, why there will be none.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(rename = "Entry")]
pub struct LedgerEntry {
    /// Never reused.
    pub id: String,
    /// The sentence in our words.
    pub text: String,
    /// Its source.
    #[serde(default)]
    #[schemars(with = "Option<serde_json::Value>")]
    pub source: Option<Source>,
    /// Rows of the reference that say the same: `U31-2`.
    #[serde(default)]
    pub covers: Vec<String>,
    /// The clauses that cover it.
    #[serde(default)]
    pub clauses: Vec<String>,
    /// Why there are no clauses yet.
    #[serde(default)]
    pub not_yet: Option<String>,
    /// Why there will be none.
    #[serde(default)]
    pub out_of_scope: Option<String>,
}

impl LedgerEntry {
    /// Whether no clause covers it yet although one will.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.clauses.is_empty() && self.out_of_scope.is_none()
    }

    /// The hash of the sentence.
    #[must_use]
    pub fn sentence(&self) -> Option<&str> {
        self.source.as_ref()?.sentence.as_deref()
    }
}

/// Checks the ledgers against the contracts' clauses.
#[must_use]
pub fn lint(ledgers: &[(Ledger, SourceFile)], clauses: &[Summary]) -> Vec<Error> {
    let known: BTreeSet<&str> = clauses.iter().map(|clause| clause.id.as_str()).collect();
    let mut seen = BTreeSet::new();
    let mut errors = Vec::new();
    for (ledger, file) in ledgers {
        errors.extend(check_folder(ledger, file));
        for entry in &ledger.entries {
            if !seen.insert(entry.id.as_str()) {
                let message = format!("duplicate id {}", entry.id);
                errors.push(at(file, &entry.id, message, "give the entry a new id"));
            }
            errors.extend(check_entry(entry, file, &known));
        }
    }
    let components: BTreeMap<&str, &SourceFile> =
        ledgers.iter().map(|(ledger, file)| (ledger.component.as_str(), file)).collect();
    let entries = ledgers.iter().flat_map(|(ledger, _)| &ledger.entries);
    let named: BTreeSet<&str> = entries.flat_map(|entry| &entry.clauses).map(String::as_str).collect();
    for clause in clauses.iter().filter(|clause| !named.contains(clause.id.as_str())) {
        let Some(file) = components.get(clause.component.as_str()) else { continue };
        let remedy = Some("add an entry with the sentence that the clause covers".to_owned());
        errors.push(file.error(
            super::first(),
            0,
            format!("no entry of the ledger names {}", clause.id),
            remedy,
        ));
    }
    errors
}

/// The error for a ledger in another component's folder.
fn check_folder(ledger: &Ledger, file: &SourceFile) -> Option<Error> {
    let folder = file.path.strip_suffix("/ledger.yaml")?.strip_prefix("contracts/")?;
    let message = format!("the ledger of component {} is in contracts/{folder}", ledger.component);
    let remedy = format!("write `component: {folder}`, or move it to contracts/{}", ledger.component);
    (folder != ledger.component).then(|| file.error(super::first(), 0, message, Some(remedy)))
}

/// The errors of one entry.
fn check_entry(entry: &LedgerEntry, file: &SourceFile, known: &BTreeSet<&str>) -> Vec<Error> {
    let mut errors = Vec::new();
    let given = [!entry.clauses.is_empty(), entry.not_yet.is_some(), entry.out_of_scope.is_some()];
    if given.iter().filter(|given| **given).count() != 1 {
        let message = format!("{} needs exactly one of clauses, notYet and outOfScope", entry.id);
        errors.push(at(
            file,
            &entry.id,
            message,
            "name the clauses that cover it, or write why there are none",
        ));
    }
    for clause in entry.clauses.iter().filter(|clause| !known.contains(clause.as_str())) {
        let message = format!("{} names {clause}, which does not exist in any contract", entry.id);
        errors.push(at(file, &entry.id, message, "write the clause, or use `notYet`"));
    }
    errors
}

/// An error at the line that declares this id.
pub(crate) fn at(file: &SourceFile, id: &str, message: String, remedy: &str) -> Error {
    let mut mark = super::first();
    for (number, line) in file.text.lines().enumerate() {
        let declares = line.find(id).filter(|column| {
            line[..*column].trim_end().ends_with("id:")
                && !line[column + id.len()..].starts_with(|c: char| c.is_alphanumeric())
        });
        if let Some(column) = declares {
            mark = formats::yaml::Mark { line: number + 1, column: column + 1, offset: mark.offset + column };
            return file.error(mark, id.len(), message, Some(remedy.to_owned()));
        }
        mark.offset += line.len() + 1;
    }
    file.error(super::first(), 0, message, Some(remedy.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str =
        "apiVersion: conformance.gardener.cloud/v1alpha1\nkind: Ledger\ncomponent: c\nentries:\n";

    fn found(path: &str, entries: &str) -> Vec<(usize, String)> {
        let file = SourceFile::new(path, format!("{HEAD}{entries}"));
        let ledger = formats::yaml::from_str(&file.text).unwrap();
        let found = lint(&[(ledger, file)], &[]);
        found.into_iter().map(|error| (error.location.line, error.message)).collect()
    }

    #[test]
    fn entries_without_a_reason_or_of_unknown_clauses_are_found_at_their_line() {
        let entries = "- {id: L-1, text: t, notYet: later}\n\
                       - {id: L-2, text: t}\n\
                       - {id: L-3, text: t, clauses: [X-1]}\n\
                       - {id: L-1, text: t, outOfScope: never}\n";
        let wanted = [
            (6, "L-2 needs exactly one of clauses, notYet and outOfScope"),
            (7, "L-3 names X-1, which does not exist in any contract"),
            (5, "duplicate id L-1"),
        ];
        assert_eq!(
            found("contracts/c/ledger.yaml", entries),
            wanted.map(|(line, text)| (line, text.to_owned()))
        );
    }

    #[test]
    fn a_ledger_lies_in_the_folder_of_its_component() {
        let entries = "- {id: L-1, text: t, notYet: later}\n";
        let wanted = [(1, "the ledger of component c is in contracts/d".to_owned())];
        assert_eq!(found("contracts/d/ledger.yaml", entries), wanted);
        assert_eq!(found("contracts/c/ledger.yaml", entries), []);
        assert_eq!(found("mine/ledger.yaml", entries), []);
    }
}
