//! Lint: what loads and is wrong nevertheless, one function per rule.

mod emitted;

use std::collections::BTreeSet;

use formats::yaml::Mark;
use serde_json::Value;

use crate::case::{About, Case, Then, When};
use crate::document::{Error, SourceFile, ledger};
use crate::expect::{Rules, holds};
use crate::load::{self, Loaded};
use crate::model::{Catalog, Clause, Contract, Form, Location};
use crate::sentence;

/// What contracts are held against, beside the language itself.
#[derive(Clone, Debug, Default)]
pub struct Against<'a> {
    /// Numbered clauses of the reference, for `covers`; `None`: not checked.
    pub reference: Option<&'a BTreeSet<String>>,
    /// The source documents, for the hashes of sentences; empty: not checked.
    pub documents: &'a [SourceFile],
}

/// Longest sentence that a hash is looked for, in words.
const SENTENCE: usize = 80;

/// Everything that is wrong with the files, in the order of files and lines.
#[must_use]
pub fn check(sources: &[SourceFile], against: &Against<'_>) -> Vec<Error> {
    let loaded = load::read(sources);
    let mut lint = Lint { sources, catalog: &loaded.catalog, found: Vec::new() };
    lint.sources_named();
    lint.presupposed();
    lint.spoken_for();
    lint.only_unchanged();
    lint.emitted();
    lint.sentences(against.documents);
    lint.covered(against.reference);
    let mut found = lint.found;
    found.extend(stale(&loaded, sources));
    found.extend(unstated(&loaded, sources));
    // A ledger can be held only against contracts that are all there.
    if let (Some((entries, file)), true) = (&loaded.ledger, loaded.errors.is_empty()) {
        found.extend(
            ledger::lint(entries, file, &loaded.catalog).into_iter().map(|error| error.coded("ledger")),
        );
    }
    found.extend(loaded.errors);
    found.extend(loaded.findings);
    found.sort_by(|a, b| a.location.cmp(&b.location));
    found
}

struct Lint<'a> {
    sources: &'a [SourceFile],
    catalog: &'a Catalog,
    found: Vec<Error>,
}

impl Lint<'_> {
    fn add(&mut self, code: &'static str, clause: &Clause, message: String, remedy: &str) {
        self.found.extend(
            error_at(self.sources, &clause.location, clause.id.len(), message, remedy)
                .map(|error| error.coded(code)),
        );
    }

    /// A clause comes from somewhere.
    fn sources_named(&mut self) {
        for (_, clause) in self.catalog.clauses() {
            let named = clause
                .source
                .as_ref()
                .is_some_and(|source| source.document.is_some() || source.code.is_some());
            let versioned = clause.source.as_ref().is_some_and(|source| source.version.is_some());
            if !named || !versioned {
                let message = format!("{} names no source with its version", clause.id);
                let remedy = "write `source: {document: …, version: …, section: …}` or `source: {code: …, version: …}`";
                self.add("missing-source", clause, message, remedy);
            }
        }
    }

    /// A presupposed clause exists and is another one.
    fn presupposed(&mut self) {
        for (_, clause) in self.catalog.clauses() {
            for id in &clause.presupposes {
                if *id == clause.id || self.catalog.clause(id).is_none() {
                    let message = format!("{} presupposes {id}, which is no other clause", clause.id);
                    self.add("presupposes", clause, message, "name a clause that has cases of its own");
                }
            }
        }
    }

    /// What a row of flags lets a webhook do is said by a clause.
    fn spoken_for(&mut self) {
        for contract in &self.catalog.contracts {
            let rows = contract.flags.iter().flat_map(|named| &named.rows);
            for row in rows.filter(|row| self.catalog.clause(&row.clause).is_none()) {
                let message = format!("{} of {} is no clause", row.clause, row.flag);
                let remedy = "name the clause, of this contract or another, that lets webhooks do it";
                if let Some(clause) = contract.clauses.first() {
                    self.add("flags", clause, message, remedy);
                }
            }
        }
    }

    /// A clause that a target which does nothing would keep needs a case nearby in which something is done.
    fn only_unchanged(&mut self) {
        // What is emitted is asked of no target.
        for contract in self.catalog.contracts.iter().filter(|contract| contract.form != Form::Objects) {
            let done: BTreeSet<String> = contract
                .clauses
                .iter()
                .flat_map(|clause| &clause.cases)
                .filter(|case| !passes_idle(contract, case))
                .map(subject)
                .collect();
            for clause in &contract.clauses {
                let idle =
                    !clause.cases.is_empty() && clause.cases.iter().all(|case| passes_idle(contract, case));
                let neighbour = clause.cases.iter().any(|case| done.contains(&subject(case)));
                if idle && !neighbour {
                    let message =
                        format!("a target that does nothing keeps {}, and no case nearby differs", clause.id);
                    self.add(
                        "only-unchanged",
                        clause,
                        message,
                        "add a row, or a clause, in which something is done to such an object",
                    );
                }
            }
        }
    }

    /// A clause about what Gardener emits is broken by its changes, and they by no other.
    fn emitted(&mut self) {
        for (clause, message, remedy) in emitted::check(self.catalog) {
            self.add("breaks", clause, message, remedy);
        }
    }

    /// The sentence that a clause comes from is still in a document.
    fn sentences(&mut self, documents: &[SourceFile]) {
        if documents.is_empty() {
            return;
        }
        let known: BTreeSet<String> =
            documents.iter().flat_map(|document| sentence::hashes(&document.text, SENTENCE)).collect();
        for (_, clause) in self.catalog.clauses() {
            let Some(hash) = clause.source.as_ref().and_then(|source| source.sentence.as_ref()) else {
                continue;
            };
            if !known.contains(hash) {
                let message = format!("no document has the sentence {hash} of {} any more", clause.id);
                let remedy =
                    "read what became of it; `lint --hash 'the words'` prints the hash of the new one";
                self.add("sentence", clause, message, remedy);
            }
        }
    }

    /// What a clause covers is numbered in the reference.
    fn covered(&mut self, reference: Option<&BTreeSet<String>>) {
        let Some(reference) = reference else { return };
        for (_, clause) in self.catalog.clauses() {
            for number in clause.covers.iter().filter(|number| !reference.contains(*number)) {
                let message = format!("{} covers {number}, which the reference does not have", clause.id);
                self.add("covers", clause, message, "name a clause of the reference");
            }
        }
    }
}

/// Attested clauses that changed since.
fn stale(loaded: &Loaded, sources: &[SourceFile]) -> Vec<Error> {
    let mut found = Vec::new();
    for attestation in &loaded.attestations {
        let version = format!("{}-{}", attestation.target.name, attestation.target.version);
        let file = sources.iter().find(|file| file.path.ends_with(&format!("attested/{version}.yaml")));
        for id in attestation.stale(&loaded.catalog) {
            let Some(file) = file else { continue };
            let offset = file.text.find(&format!("{id}:")).unwrap_or_default();
            let line = file.text[..offset].matches('\n').count() + 1;
            let start = file.text[..offset].rfind('\n').map_or(0, |at| at + 1);
            let mark = Mark { line, column: offset - start + 1, offset };
            let message = format!("{id} is not the clause any more that {version} was seen to keep");
            let remedy = "attest it again".to_owned();
            found.push(file.error(mark, id.len(), message, Some(remedy)).coded("stale"));
        }
    }
    found
}

/// Explanations that name a clause which states no such difference.
fn unstated(loaded: &Loaded, sources: &[SourceFile]) -> Vec<Error> {
    let mut found = Vec::new();
    for explanations in &loaded.explanations {
        let name = &explanations.name;
        let versioned = explanations.version.as_ref().map(|version| format!("{name} {version}"));
        for entry in &explanations.entries {
            let Some(id) = &entry.clause else { continue };
            let clause = loaded.catalog.clause(id).map(|(_, clause)| clause);
            let states = |clause: &Clause| {
                clause.differs.contains_key(name)
                    || versioned.as_ref().is_some_and(|version| clause.differs.contains_key(version))
            };
            if !clause.is_some_and(states) {
                let message = format!("{id} states no difference of {name}");
                let remedy = "name the clause whose `differs` says it, or none";
                found.extend(
                    error_at(sources, &entry.location, 1, message, remedy)
                        .map(|error| error.coded("explained")),
                );
            }
        }
    }
    found
}

/// Whether the case passes against a target that allows everything and changes nothing.
fn passes_idle(contract: &Contract, case: &Case) -> bool {
    if let When::Steps(scenario) = &case.when {
        return scenario.passes_idle(contract);
    }
    let Then { about, object, allowed, code, reason, message, causes, called, warnings, review } = &case.then;
    // Whether a webhook is called, and how it is registered, is not the doing of who answers.
    if called.is_some() || *about == About::Registration {
        return false;
    }
    let silent = code.is_none() && causes.is_none() && review.is_none() && *allowed != Some(false);
    let input = case.input();
    let input = input.as_ref();
    let rules = input.map_or_else(Rules::unknown, |object| contract.rules(object));
    let nothing = |expect: &Option<_>| {
        expect.as_ref().is_none_or(|expect| holds(expect, None, None, &Rules::unknown()))
    };
    let object = object.as_ref().is_none_or(|expect| holds(expect, input, input, &rules));
    silent && object && nothing(reason) && nothing(message) && nothing(warnings)
}

/// What a case is about: the kind of its object, or the resource.
fn subject(case: &Case) -> String {
    let object = case.given.object.as_ref().or(case.given.old.as_ref());
    match (&case.when, object.and_then(|object| object.get("kind")).and_then(Value::as_str)) {
        (When::DeleteCollection { resource }, _) => resource.clone(),
        (When::Decision(decision), _) => decision.asks.name().to_owned(),
        (_, kind) => kind.unwrap_or_default().to_owned(),
    }
}

fn error_at(
    sources: &[SourceFile],
    at: &Location,
    length: usize,
    message: String,
    remedy: &str,
) -> Option<Error> {
    let file = sources.iter().find(|file| file.path == at.file)?;
    let before: usize = file.text.split_inclusive('\n').take(at.line.saturating_sub(1)).map(str::len).sum();
    let line = &file.text[before..];
    let offset =
        before + line.char_indices().nth(at.column.saturating_sub(1)).map_or(0, |(offset, _)| offset);
    let mark = Mark { line: at.line, column: at.column, offset };
    Some(file.error(mark, length, message, Some(remedy.to_owned())))
}
