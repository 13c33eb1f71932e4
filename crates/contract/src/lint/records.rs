//! Compares attestations and explanations with the current clauses.

use std::collections::BTreeSet;

use formats::yaml::Mark;

use super::{Lint, error_at};
use crate::document::{Error, SourceFile};
use crate::index::{Records, Summary};

/// The clauses about which records can be compared: others have errors, and are not yet what they will be.
pub(super) struct SettledClauses<'a> {
    /// Clauses of files without errors.
    sound: BTreeSet<&'a str>,
    /// All clauses, also of those with errors.
    ids: &'a BTreeSet<String>,
    /// Whether all files could be read, so that a clause that is not there was removed.
    is_complete: bool,
}

impl<'a> SettledClauses<'a> {
    pub(super) fn of(lint: &Lint<'a>, errors: &[Error], is_complete: bool) -> Self {
        let with_errors: BTreeSet<&str> = errors.iter().map(|error| error.location.file.as_str()).collect();
        let sound = lint.clauses().filter(|clause| !with_errors.contains(clause.location.file.as_str()));
        Self { sound: sound.map(|clause| clause.summary.id.as_str()).collect(), ids: lint.ids, is_complete }
    }

    fn has(&self, id: &str) -> bool {
        self.sound.contains(id) || (self.is_complete && !self.ids.contains(id))
    }
}

/// Reports attested clauses that changed since.
pub(super) fn stale_attestations(
    records: &Records,
    clauses: &[Summary],
    sources: &[SourceFile],
    settled: &SettledClauses<'_>,
) -> Vec<Error> {
    let mut found = Vec::new();
    for attestation in &records.attestations {
        let version = format!("{}-{}", attestation.target.name, attestation.target.version);
        let file = sources.iter().find(|file| file.path.ends_with(&format!("attested/{version}.yaml")));
        for id in attestation.stale(clauses).into_iter().filter(|id| settled.has(id)) {
            let Some(file) = file else { continue };
            let offset = file.text.find(&format!("{id}:")).unwrap_or_default();
            let line = file.text[..offset].matches('\n').count() + 1;
            let start = file.text[..offset].rfind('\n').map_or(0, |at| at + 1);
            let mark = Mark { line, column: offset - start + 1, offset };
            let message = format!("{id} changed since {version} was attested");
            let remedy = "run `gardener-conformance attest` again".to_owned();
            found.push(file.error(mark, id.len(), message, Some(remedy)).coded("stale"));
        }
    }
    found
}

/// Reports explanations that name a clause whose `differs` does not name their target.
pub(super) fn unstated_differences(
    records: &Records,
    clauses: &[Summary],
    sources: &[SourceFile],
    settled: &SettledClauses<'_>,
) -> Vec<Error> {
    let mut found = Vec::new();
    for explanations in &records.explanations {
        let name = &explanations.name;
        let versioned = explanations.version.as_ref().map(|version| format!("{name} {version}"));
        for entry in &explanations.entries {
            let Some(id) = entry.clause.as_ref().filter(|id| settled.has(id)) else { continue };
            let states = |clause: &Summary| {
                clause.differs.contains_key(name)
                    || versioned.as_ref().is_some_and(|version| clause.differs.contains_key(version))
            };
            if !clauses.iter().find(|clause| clause.id == *id).is_some_and(states) {
                let message = format!("`differs` of {id} does not name {name}");
                let remedy = "name the clause whose `differs` names it, or remove `clause`";
                found.extend(
                    error_at(sources, &entry.location, 1, message, remedy)
                        .map(|error| error.coded("explained")),
                );
            }
        }
    }
    found
}
