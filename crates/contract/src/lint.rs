//! Lint: checks of contracts that load, one function per rule; some rules concern one contract, others all contracts.

mod causes;
mod documents;
mod emitted;
mod records;

use std::collections::BTreeSet;

use formats::yaml::Mark;
use serde_json::Value;

use self::causes::Causes;
use self::documents::Documents;
use self::records::{SettledClauses, stale_attestations, unstated_differences};
use crate::case::{About, Case, Then, When};
use crate::document::ledger::{self, LedgerEntry};
use crate::document::{Error, SourceFile};
use crate::expect::{Rules, holds};
use crate::index::{Ledgers, Outline, Summary};
use crate::load;
use crate::model::{Clause, Contract, Form, Location};

/// What contracts are checked against, beside the language itself.
#[derive(Clone, Debug, Default)]
pub struct Against<'a> {
    /// Ids of the reference's rows, for `covers`; `None`: not checked.
    pub reference: Option<&'a BTreeSet<String>>,
    /// The source documents, whose sentences contracts and ledgers quote; empty: not checked.
    pub documents: &'a [SourceFile],
    /// Whether there are further files that cannot be read: a name that no file has may be in one of them.
    pub is_incomplete: bool,
}

/// The result of lint.
#[derive(Debug)]
pub struct Linted {
    /// All errors and findings: first files that cannot be parsed, then the rest, each in the order of files and lines.
    pub found: Vec<Error>,
    /// The contracts, as far as they can be read.
    pub contracts: Vec<Outline>,
}

/// Checks the files. Contracts are expanded in parallel, and each is dropped after its check.
#[must_use]
pub fn check(sources: &[SourceFile], against: &Against<'_>) -> Linted {
    let loaded = load::expand_each(sources, |contract| CheckedContract::new(contract, sources));
    let mut found: Vec<Error> =
        loaded.results.iter().flat_map(|checked| checked.found.iter().cloned()).collect();
    let causes = Causes::of(&loaded.errors, against.is_incomplete, sources);
    let is_clean = causes.is_complete && loaded.errors.is_empty();
    let lint = Lint { sources, checked: &loaded.results, ids: &loaded.ids };
    if causes.is_complete {
        found.extend(lint.check_presuppositions());
        found.extend(lint.check_flag_clauses());
    }
    found.extend(lint.check_breaks());
    if let Some(documents) = Documents::of(against.documents, &lint.quoted_hashes(&loaded.ledgers)) {
        found.extend(lint.check_sentences(&documents));
        // Otherwise each sentence of an unreadable ledger would be reported as missing.
        if is_clean {
            found.extend(documents.check_numbered(&loaded.ledgers));
        }
    }
    found.extend(lint.check_covers(against.reference));
    let summaries: Vec<Summary> = lint.clauses().map(|clause| clause.summary.clone()).collect();
    let settled = SettledClauses::of(&lint, &loaded.errors, causes.is_complete);
    found.extend(stale_attestations(&loaded.records, &summaries, sources, &settled));
    if causes.is_complete {
        found.extend(unstated_differences(&loaded.records, &summaries, sources, &settled));
    }
    // Ledgers are checked only if all contracts could be loaded.
    if is_clean {
        let wrong = ledger::lint(&loaded.ledgers.ledgers, &summaries);
        found.extend(wrong.into_iter().map(|error| error.coded("ledger")));
    }
    found.extend(loaded.errors);
    found.extend(loaded.findings);
    found.retain(|error| !causes.explain(error));
    found.sort_by(|a, b| {
        causes::is_cause(b).cmp(&causes::is_cause(a)).then_with(|| a.location.cmp(&b.location))
    });
    Linted { found, contracts: loaded.results.into_iter().map(|checked| checked.outline).collect() }
}

/// The parts of a checked contract that later checks need.
struct CheckedContract {
    outline: Outline,
    /// Errors of this contract.
    found: Vec<Error>,
    clauses: Vec<CheckedClause>,
    /// Form flags only: clause and flag of each row.
    flags: Vec<(String, String)>,
    /// Form objects only: the contract, as its breaks are checked against all such contracts.
    emits: Option<Contract>,
}

/// The parts of a checked clause that later checks need.
struct CheckedClause {
    summary: Summary,
    location: Location,
    presupposes: Vec<String>,
    covers: Vec<String>,
    sentence: Option<String>,
}

impl CheckedContract {
    fn new(contract: Contract, sources: &[SourceFile]) -> Self {
        let found = [check_sources(&contract), check_effects(&contract)].concat();
        let summaries = Summary::of(&contract);
        let clauses = contract.clauses.iter().zip(summaries).map(|(clause, summary)| CheckedClause {
            summary,
            location: clause.location.clone(),
            presupposes: clause.presupposes.clone(),
            covers: clause.covers.clone(),
            sentence: clause.source.as_ref().and_then(|source| source.sentence.clone()),
        });
        let rows = contract.flags.iter().flat_map(|named| &named.rows);
        Self {
            outline: Outline::of(&contract),
            found: found.iter().filter_map(|finding| finding.error(sources)).collect(),
            clauses: clauses.collect(),
            flags: rows.map(|row| (row.clause.clone(), row.flag.clone())).collect(),
            emits: Some(contract).filter(|contract| contract.form == Form::Objects),
        }
    }
}

/// An error in a clause.
#[derive(Clone)]
struct Finding {
    code: &'static str,
    location: Location,
    /// Length of the clause's id.
    length: usize,
    message: String,
    remedy: String,
}

impl Finding {
    fn of(
        code: &'static str,
        (id, location): (&str, &Location),
        message: String,
        remedy: impl Into<String>,
    ) -> Self {
        Self { code, location: location.clone(), length: id.len(), message, remedy: remedy.into() }
    }

    fn error(&self, sources: &[SourceFile]) -> Option<Error> {
        let error = error_at(sources, &self.location, self.length, self.message.clone(), &self.remedy);
        error.map(|error| error.coded(self.code))
    }
}

/// Checks that each clause has a source.
fn check_sources(contract: &Contract) -> Vec<Finding> {
    let is_named = |clause: &&Clause| {
        let source = clause.source.as_ref();
        let named = source.is_some_and(|source| source.document.is_some() || source.code.is_some());
        named && source.is_some_and(|source| source.version.is_some())
    };
    let unnamed = contract.clauses.iter().filter(|clause| !is_named(clause)).map(|clause| {
        let message = format!("{} has no source with a version", clause.id);
        let remedy =
            "write `source: {document: …, version: …, section: …}` or `source: {code: …, version: …}`";
        Finding::of("missing-source", (&clause.id, &clause.location), message, remedy)
    });
    unnamed.collect()
}

/// Checks that a clause that an idle target would keep has a case nearby that an idle target would fail.
fn check_effects(contract: &Contract) -> Vec<Finding> {
    // Clauses of the form objects do not run against a target.
    if contract.form == Form::Objects {
        return Vec::new();
    }
    let cases = contract.clauses.iter().flat_map(|clause| &clause.cases);
    let done: BTreeSet<String> = cases.filter(|case| !passes_idle(contract, case)).map(subject).collect();
    let is_idle = |clause: &&Clause| {
        let idle = !clause.cases.is_empty() && clause.cases.iter().all(|case| passes_idle(contract, case));
        idle && !clause.cases.iter().any(|case| done.contains(&subject(case)))
    };
    let idle = contract.clauses.iter().filter(is_idle).map(|clause| {
        let message = format!(
            "a target that does nothing passes {}, and no case nearby about the same kind would fail",
            clause.id
        );
        let remedy = "add a row, or a clause, in which the target must change or refuse such an object";
        Finding::of("only-unchanged", (&clause.id, &clause.location), message, remedy)
    });
    idle.collect()
}

/// Checks over all contracts.
struct Lint<'a> {
    sources: &'a [SourceFile],
    checked: &'a [CheckedContract],
    /// The ids of all clauses, also of those with errors.
    ids: &'a BTreeSet<String>,
}

impl<'a> Lint<'a> {
    fn clauses(&self) -> impl Iterator<Item = &'a CheckedClause> {
        self.checked.iter().flat_map(|checked| &checked.clauses)
    }

    fn error(
        &self,
        code: &'static str,
        at: &CheckedClause,
        message: String,
        remedy: impl Into<String>,
    ) -> Option<Error> {
        Finding::of(code, (&at.summary.id, &at.location), message, remedy).error(self.sources)
    }

    /// The remedy for the id of a clause that does not exist.
    fn other_clause(&self, id: &str) -> String {
        let known = self.ids.iter().map(String::as_str).filter(|known| *known != id);
        load::closest(id, known).map_or_else(
            || "name an existing clause; `gardener-conformance list` prints them".to_owned(),
            |near| format!("did you mean `{near}`?"),
        )
    }

    /// Checks that presupposed clauses exist and are other clauses.
    fn check_presuppositions(&self) -> Vec<Error> {
        let each =
            self.clauses().flat_map(|clause| clause.presupposes.iter().map(move |other| (clause, other)));
        let wrong = each.filter(|(clause, other)| clause.summary.id == **other || !self.ids.contains(*other));
        let error = |(clause, other): (&CheckedClause, &String)| {
            let message = format!("{} presupposes {other}, which is not another clause", clause.summary.id);
            self.error("presupposes", clause, message, self.other_clause(other))
        };
        wrong.filter_map(error).collect()
    }

    /// Checks that rows of flags belong to clauses that exist.
    fn check_flag_clauses(&self) -> Vec<Error> {
        let mut found = Vec::new();
        for checked in self.checked {
            for (clause, flag) in checked.flags.iter().filter(|(clause, _)| !self.ids.contains(clause)) {
                let message = format!("the row of {flag} names {clause}, which is not a clause");
                let remedy = self.other_clause(clause);
                found.extend(checked.clauses.first().and_then(|at| self.error("flags", at, message, remedy)));
            }
        }
        found
    }

    /// Checks that the breaks of clauses about emitted objects break their own clause and no other.
    fn check_breaks(&self) -> Vec<Error> {
        let contracts: Vec<&Contract> =
            self.checked.iter().filter_map(|checked| checked.emits.as_ref()).collect();
        let wrong = emitted::check(&contracts).into_iter().filter_map(|(clause, message, remedy)| {
            Finding::of("breaks", (&clause.id, &clause.location), message, remedy).error(self.sources)
        });
        wrong.collect()
    }

    /// The hashes of all sentences that clauses and entries of ledgers quote.
    fn quoted_hashes<'q>(&'q self, ledgers: &'q Ledgers) -> BTreeSet<&'q str> {
        let clauses = self.clauses().filter_map(|clause| clause.sentence.as_deref());
        let entries = ledgers.ledgers.iter().flat_map(|(ledger, _)| &ledger.entries);
        clauses.chain(entries.filter_map(LedgerEntry::sentence)).collect()
    }

    /// Checks that the sentence that a clause quotes is still in a document.
    fn check_sentences(&self, documents: &Documents<'_>) -> Vec<Error> {
        let each = self.clauses().filter_map(|clause| Some((clause, clause.sentence.as_ref()?)));
        let error = |(clause, hash): (&CheckedClause, &String)| {
            let message =
                format!("no document contains the sentence {hash} of {} any more", clause.summary.id);
            let remedy =
                "find its new wording; `gardener-conformance lint --hash 'the words'` prints the new hash";
            self.error("sentence", clause, message, remedy)
        };
        each.filter(|(_, hash)| !documents.has(hash)).filter_map(error).collect()
    }

    /// Checks that ids in `covers` are in the reference.
    fn check_covers(&self, reference: Option<&BTreeSet<String>>) -> Vec<Error> {
        let Some(reference) = reference else { return Vec::new() };
        let each = self.clauses().flat_map(|clause| clause.covers.iter().map(move |number| (clause, number)));
        let error = |(clause, number): (&CheckedClause, &String)| {
            let message = format!("{} covers {number}, which is not in the reference", clause.summary.id);
            self.error("covers", clause, message, "write an id of the reference")
        };
        each.filter(|(_, number)| !reference.contains(*number)).filter_map(error).collect()
    }
}

/// Whether a target that allows everything and changes nothing passes the case.
fn passes_idle(contract: &Contract, case: &Case) -> bool {
    if let When::Steps(scenario) = &case.when {
        return scenario.passes_idle(contract);
    }
    let Then { about, object, allowed, code, reason, message, causes, called, warnings, review } = &case.then;
    // Calls and registrations do not depend on the target's answers.
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

/// The subject of a case: the kind of its object, or the resource.
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
