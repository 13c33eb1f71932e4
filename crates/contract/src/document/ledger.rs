//! The ledger: every normative sentence and reference row of a component, numbered before its contracts are written.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Error, SourceFile};
use crate::index::Summary;
use crate::model::Source;

/// The ledger, `kind: Ledger`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Ledger {
    /// `conformance.gardener.cloud/v1alpha1`.
    pub api_version: String,
    /// `Ledger`.
    pub kind: String,
    /// The sentences, in the order of their sources.
    pub entries: Vec<Entry>,
}

/// One sentence, and exactly one of: the clauses that hold it, why there are none yet, why there will be none.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Entry {
    /// Never reused.
    pub id: String,
    /// Whose sentence it is: `resource-manager`.
    pub component: String,
    /// The sentence in our words.
    pub text: String,
    /// Where it stands.
    #[serde(default)]
    #[schemars(with = "Option<serde_json::Value>")]
    pub source: Option<Source>,
    /// The clauses that hold it.
    #[serde(default)]
    pub clauses: Vec<String>,
    /// Why there are no clauses yet.
    #[serde(default)]
    pub not_yet: Option<String>,
    /// Why there will be none.
    #[serde(default)]
    pub out_of_scope: Option<String>,
}

/// Reads the ledger.
///
/// # Errors
/// When it is no YAML, of another kind, or has unknown fields.
pub fn read(file: &SourceFile) -> Result<Ledger, Error> {
    file.read("Ledger")
}

/// What is wrong between the ledger and the contracts; empty if all is well.
#[must_use]
pub fn lint(ledger: &Ledger, file: &SourceFile, clauses: &[Summary]) -> Vec<Error> {
    let known: BTreeSet<&str> = clauses.iter().map(|clause| clause.id.as_str()).collect();
    let mut seen = BTreeSet::new();
    let mut errors = Vec::new();
    for entry in &ledger.entries {
        if !seen.insert(entry.id.as_str()) {
            errors.push(at(file, &entry.id, format!("{} is taken", entry.id), "number the sentence anew"));
        }
        let said = [!entry.clauses.is_empty(), entry.not_yet.is_some(), entry.out_of_scope.is_some()];
        if said.iter().filter(|said| **said).count() != 1 {
            let message = format!("{} says not exactly one of clauses, notYet and outOfScope", entry.id);
            errors.push(at(file, &entry.id, message, "say which clauses hold it, or why there are none"));
        }
        for clause in entry.clauses.iter().filter(|clause| !known.contains(clause.as_str())) {
            errors.push(at(
                file,
                &entry.id,
                format!("{} names {clause}, which no contract has", entry.id),
                "write the clause, or say notYet",
            ));
        }
    }
    let components: BTreeSet<&str> = ledger.entries.iter().map(|entry| entry.component.as_str()).collect();
    let named: BTreeSet<&str> =
        ledger.entries.iter().flat_map(|entry| &entry.clauses).map(String::as_str).collect();
    let of_ledger = clauses.iter().filter(|clause| components.contains(clause.component.as_str()));
    for clause in of_ledger.filter(|clause| !named.contains(clause.id.as_str())) {
        let message = format!("no entry names {}", clause.id);
        let remedy = Some("add the sentence that it holds".to_owned());
        errors.push(file.error(super::first(), 0, message, remedy));
    }
    errors
}

/// An error at the line that declares this id.
fn at(file: &SourceFile, id: &str, message: String, remedy: &str) -> Error {
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

    #[test]
    fn entries_without_a_reason_or_of_unknown_clauses_are_found_at_their_line() {
        let text = "apiVersion: conformance.gardener.cloud/v1alpha1\nkind: Ledger\nentries:\n\
                    - {id: L-1, component: c, text: t, notYet: later}\n\
                    - {id: L-2, component: c, text: t}\n\
                    - {id: L-3, component: c, text: t, clauses: [X-1]}\n\
                    - {id: L-1, component: c, text: t, outOfScope: never}\n";
        let file = SourceFile::new("ledger.yaml", text);
        let found = lint(&read(&file).unwrap(), &file, &[]);
        let found: Vec<(usize, &str)> =
            found.iter().map(|error| (error.location.line, error.message.as_str())).collect();
        let wanted = [
            (5, "L-2 says not exactly one of clauses, notYet and outOfScope"),
            (6, "L-3 names X-1, which no contract has"),
            (4, "L-1 is taken"),
        ];
        assert_eq!(found, wanted);
    }
}
