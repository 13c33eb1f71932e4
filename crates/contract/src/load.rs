//! Loads contracts from files and reports all errors at once.

pub(crate) mod case_count;
mod cells;
pub(crate) mod clause_ids;
mod columns;
mod configuration;
pub(crate) mod documents;
pub(crate) mod draft;
mod emitted;
mod escape;
mod expand;
mod expectation;
mod explanations;
mod fields;
mod fixtures;
mod flags;
mod gardener;
mod given;
mod hash;
pub(crate) mod join;
pub(crate) mod keywords;
mod lists;
mod namespaces;
mod not_on;
mod object_ref;
mod operators;
mod plain;
mod process;
mod profiles;
mod refusals;
pub(crate) mod report;
mod scenario;
pub(crate) mod shared;
mod steps;
mod table;
mod then;
pub(crate) mod tree;
mod variants;
mod variations;
mod when;

use std::collections::BTreeSet;
use std::sync::Arc;

use rayon::prelude::*;

pub use escape::{spelled, spelled_text};
pub use report::{Errors, closest, nearest};

use self::clause_ids::ClauseIds;
use self::documents::FilePart;
use self::draft::Draft;
use self::report::Report;
use self::shared::SharedFixtures;
use crate::document::provider_profile::Profiles;
use crate::document::{Error, SourceFile};
use crate::index::{Ledgers, Records};
use crate::model::{Catalog, Contract};

/// The content of the files, and all errors.
#[derive(Debug)]
pub struct Loaded {
    /// The contracts, without clauses and cases that have errors.
    pub catalog: Catalog,
    /// The attestations and explanations.
    pub records: Records,
    /// The ledgers.
    pub ledgers: Ledgers,
    /// Errors: the files cannot be used.
    pub errors: Vec<Error>,
    /// Findings of lint: the files can be used.
    pub findings: Vec<Error>,
}

impl Catalog {
    /// The contracts of these files.
    ///
    /// # Errors
    /// All errors of all files.
    pub fn load(sources: &[SourceFile]) -> Result<Self, Errors> {
        let loaded = read(sources);
        if loaded.errors.is_empty() { Ok(loaded.catalog) } else { Err(Errors(loaded.errors)) }
    }
}

/// Reads all files and expands every case, as far as possible. [`crate::index::Index`] expands contracts one by one.
#[must_use]
pub fn read(sources: &[SourceFile]) -> Loaded {
    let ExpandedContracts { results, shared, records, ledgers, errors, findings, .. } =
        expand_each(sources, |contract| contract);
    let catalog = Catalog { contracts: results, fixtures: shared.fixtures() };
    Loaded { catalog, records, ledgers, errors, findings }
}

/// The provider profiles for the contracts of a component, without reading anything else; `None`: there are none.
///
/// # Errors
/// All errors of the profiles.
pub fn profiles(sources: &[SourceFile], component: &str) -> Result<Option<Arc<Profiles>>, Errors> {
    let report = Report::new(sources);
    let documents = documents::read_sequentially(&[FilePart::Profiles], &report);
    let found = profiles::join(documents.profiles, &report).remove(component);
    let errors = report.into_errors();
    if errors.is_empty() { Ok(found) } else { Err(Errors(errors)) }
}

/// The results for all contracts, and the rest of the files' content.
pub(crate) struct ExpandedContracts<T> {
    /// The results, ordered by component and name.
    pub(crate) results: Vec<T>,
    pub(crate) shared: SharedFixtures,
    /// The ids of all clauses, also of those with errors.
    pub(crate) ids: BTreeSet<String>,
    pub(crate) records: Records,
    pub(crate) ledgers: Ledgers,
    /// Errors: the files cannot be used.
    pub(crate) errors: Vec<Error>,
    /// Findings of lint: the files can be used.
    pub(crate) findings: Vec<Error>,
}

/// Expands all contracts in parallel and collects the results of `take`; each contract is dropped after its call.
pub(crate) fn expand_each<T: Send>(
    sources: &[SourceFile],
    take: impl Fn(Contract) -> T + Sync,
) -> ExpandedContracts<T> {
    let (report, lint) = (Report::new(sources), Report::new(sources));
    let shared = SharedFixtures::of(&Arc::from(sources));
    // Now, so that the threads do not wait for each other to build it.
    shared.build();
    let mut documents =
        documents::read(&[FilePart::Contracts, FilePart::Records, FilePart::Ledgers], &report);
    let named = documents.by_name();
    let drafts: Vec<&Vec<Draft>> = named.values().collect();
    let loaded: Vec<_> = drafts
        .par_iter()
        .map(|drafts| {
            let (contract, wrong, found) = join::load_alone(drafts, &shared, sources);
            (contract.map(&take), wrong, found)
        })
        .collect();
    let mut ids = ClauseIds::default();
    let mut results = Vec::new();
    for (drafts, (contract, wrong, found)) in drafts.into_iter().zip(loaded) {
        report.join(wrong);
        lint.join(found);
        let clauses = drafts.iter().flat_map(|draft| &draft.clauses);
        clauses
            .filter(|clause| join::has_cases(drafts, clause))
            .for_each(|clause| ids.add(&clause.id, clause.span));
        results.extend(contract);
    }
    let ids = ids.report_duplicates(&report);
    for error in shared.errors() {
        report.push(error);
    }
    let (records, ledgers) = documents.into_records_and_ledgers();
    ExpandedContracts {
        results,
        shared,
        ids,
        records,
        ledgers,
        errors: report.into_errors(),
        findings: lint.into_errors(),
    }
}
