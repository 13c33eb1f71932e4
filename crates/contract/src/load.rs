//! Loads contracts: files in, contracts out, everything that is wrong named at once.

mod cells;
mod columns;
mod decision;
pub(crate) mod documents;
mod doing;
pub(crate) mod draft;
mod emitted;
mod expand;
mod explained;
mod fields;
mod fixtures;
mod flags;
mod given;
mod hash;
pub(crate) mod joined;
mod lists;
mod namespaces;
pub(crate) mod number;
mod object_ref;
mod operators;
mod outcome;
mod plain;
mod process;
mod profile;
mod question;
mod refuse;
pub(crate) mod report;
mod scenario;
mod setting;
pub(crate) mod shared;
mod spelled;
mod steps;
mod table;
pub(crate) mod tree;
mod variants;
mod variations;
mod wanted;
pub(crate) mod words;

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;

pub use report::Errors;
pub use spelled::{spelled, spelled_text};

use self::documents::Part;
use self::draft::Draft;
use self::report::Report;
use self::shared::Shared;
use self::tree::Span;
use crate::document::{Error, SourceFile};
use crate::index::{Ledgers, Records};
use crate::model::{Catalog, Contract};

/// What the files say, and what is wrong with them.
#[derive(Debug)]
pub struct Loaded {
    /// What could be loaded; clauses and cases with errors are left out.
    pub catalog: Catalog,
    /// The attestations and explanations.
    pub records: Records,
    /// The ledgers.
    pub ledgers: Ledgers,
    /// What keeps the files from being loaded as they stand.
    pub errors: Vec<Error>,
    /// What loads, and lint names nevertheless.
    pub findings: Vec<Error>,
}

impl Catalog {
    /// The contracts of these files.
    ///
    /// # Errors
    /// Everything that is wrong with any of the files.
    pub fn load(sources: &[SourceFile]) -> Result<Self, Errors> {
        let loaded = read(sources);
        if loaded.errors.is_empty() { Ok(loaded.catalog) } else { Err(Errors(loaded.errors)) }
    }
}

/// Reads all files with every case, as far as they can be read. [`crate::index::Index`] expands cases contract by contract.
#[must_use]
pub fn read(sources: &[SourceFile]) -> Loaded {
    let Each { taken, shared, records, ledgers, errors, findings } = each(sources, |contract| contract);
    let catalog = Catalog { contracts: taken, fixtures: shared.fixtures() };
    Loaded { catalog, records, ledgers, errors, findings }
}

/// What came of contracts that were handed on one by one, and everything else that the files say.
pub(crate) struct Each<T> {
    /// In the order of component and name.
    pub(crate) taken: Vec<T>,
    pub(crate) shared: Shared,
    pub(crate) records: Records,
    pub(crate) ledgers: Ledgers,
    /// What keeps the files from being loaded as they stand.
    pub(crate) errors: Vec<Error>,
    /// What loads, and lint names nevertheless.
    pub(crate) findings: Vec<Error>,
}

/// Expands every contract, side by side, and hands it on as far as it can be loaded: what is not kept of it goes at once.
pub(crate) fn each<T: Send>(sources: &[SourceFile], take: impl Fn(Contract) -> T + Sync) -> Each<T> {
    let (report, lint) = (Report::new(sources), Report::new(sources));
    let shared = Shared::of(&Arc::from(sources));
    // Before threads would wait for each other to do it.
    shared.build();
    let mut documents = documents::read(&[Part::Contracts, Part::Records, Part::Ledgers], &report);
    let named = documents.by_name();
    let drafts: Vec<&Vec<Draft>> = named.values().collect();
    let loaded: Vec<_> = drafts
        .par_iter()
        .map(|drafts| {
            let (contract, wrong, found) = joined::alone(drafts, &shared, sources);
            (contract.map(&take), wrong, found)
        })
        .collect();
    let mut ids = BTreeMap::new();
    let mut taken = Vec::new();
    for (drafts, (contract, wrong, found)) in drafts.into_iter().zip(loaded) {
        report.join(wrong);
        lint.join(found);
        let clauses = drafts.iter().flat_map(|draft| &draft.clauses);
        clauses
            .filter(|clause| joined::is_asked(drafts, clause))
            .for_each(|clause| note_id(&mut ids, &clause.id, clause.span, &report));
        taken.extend(contract);
    }
    for error in shared.errors() {
        report.push(error);
    }
    let (records, ledgers) = documents.beside();
    Each { taken, shared, records, ledgers, errors: report.into_errors(), findings: lint.into_errors() }
}

/// Notes an id that another clause has.
pub(crate) fn note_id(ids: &mut BTreeMap<String, String>, id: &str, span: Span, report: &Report<'_>) {
    let place = format!("{}:{}", report.files[span.file].path, span.mark.line);
    if let Some(first) = ids.insert(id.to_owned(), place) {
        let message = format!("{id} is taken, at {first}");
        report.add("duplicate-id", span, message, "ids are never reused: number the clause anew");
    }
}
